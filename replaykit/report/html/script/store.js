// The data blocks of this file, unpacked when they are first looked at. Screenshots are kept as addresses of
// blobs, the latest of them only: thousands of runs cost what is on the screen.

const REPORT = JSON.parse(document.getElementById("report").textContent);
const RUNS = REPORT.runs;

// Every run that can be opened: those of the report, then those that only the earlier report has.
const ROWS = [...RUNS, ...(REPORT.earlier || [])];
const BY_ID = new Map(ROWS.map((run, place) => [run.id, place]));

function row_of(id) {
  return ROWS[BY_ID.get(id)];
}

const SCREENSHOTS_KEPT = 120;
const RUNS_KEPT = 8;

const parsed = new Promise((done) => {
  if (document.readyState !== "loading") done();
  else document.addEventListener("DOMContentLoaded", () => done(), { once: true });
});

// The program stands before the blocks: what is not there yet may be still to come.
async function block(id) {
  const found = document.getElementById(id);
  if (found) return found.textContent;
  await parsed;
  const late = document.getElementById(id);
  return late ? late.textContent : null;
}

function bytes(base64) {
  const text = atob(base64);
  const found = new Uint8Array(text.length);
  for (let at = 0; at < text.length; at += 1) found[at] = text.charCodeAt(at);
  return found;
}

async function inflated(base64) {
  const stream = new Blob([bytes(base64)]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Response(stream).text();
}

// A map that forgets what was used longest ago.
function latest(limit, forget = () => {}) {
  const kept = new Map();
  return {
    get(key) {
      if (!kept.has(key)) return undefined;
      const value = kept.get(key);
      kept.delete(key);
      kept.set(key, value);
      return value;
    },
    set(key, value) {
      kept.set(key, value);
      if (kept.size > limit) {
        const [oldest, old] = kept.entries().next().value;
        kept.delete(oldest);
        forget(old);
      }
    },
  };
}

const runs_kept = latest(RUNS_KEPT);
const screenshots_kept = latest(SCREENSHOTS_KEPT, async (address) => URL.revokeObjectURL(await address));

async function run_data(id) {
  const known = runs_kept.get(id);
  if (known) return known;
  const packed = await block(`r${id}`);
  const run = packed === null ? {} : JSON.parse(await inflated(packed));
  runs_kept.set(id, run);
  return run;
}

// An address of a screenshot that is in this file; null where it is not.
async function screenshot_address(run, id) {
  const [name, type] = (run.screenshots || {})[id] || [];
  if (!name) return null;
  const known = screenshots_kept.get(name);
  if (known) return known;
  const address = block(name).then((base64) => URL.createObjectURL(new Blob([bytes(base64)], { type })));
  screenshots_kept.set(name, address);
  return address;
}

async function page_markup(name) {
  const packed = await block(`d${name}`);
  return packed === null ? null : inflated(packed);
}

// Screenshots are loaded when they come near the screen.
const waiting = new WeakMap();
const watcher = new IntersectionObserver(
  (seen) => {
    for (const one of seen) {
      if (!one.isIntersecting) continue;
      watcher.unobserve(one.target);
      waiting.get(one.target)();
    }
  },
  { rootMargin: "200px" },
);

// Every screenshot of a part at once, one after the other: paper does not scroll.
async function load_screenshots(node) {
  for (const image of node.querySelectorAll("img:not([src])")) {
    watcher.unobserve(image);
    await waiting.get(image)?.();
    await image.decode().catch(() => null);
  }
}

function lazy_screenshot(run, id, given = {}) {
  const image = el("img", { decoding: "async", alt: "", ...given });
  const size = (run.screenshots || {})[id] || [];
  if (size[2]) {
    image.width = size[2];
    image.height = size[3];
  }
  waiting.set(image, async () => {
    const address = await screenshot_address(run, id);
    if (address) image.src = address;
  });
  watcher.observe(image);
  return image;
}
