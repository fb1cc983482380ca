// The address says everything that is shown: which run, step, tab and view, or which runs.

let screen = null;
let screen_run;
let entering = null;

// First screens are made once: the way back leads to the row that was left.
const made_once = new Map();
const left_at = new Map();

function run_address(id) {
  return `#run=${encodeURIComponent(id)}`;
}

function address(changes) {
  const all = { ...filter, ...changes };
  const given = Object.entries(all).filter(([, value]) => value !== "");
  return `#${new URLSearchParams(given)}`;
}

// Steps of one run replace each other in the history; runs follow each other.
function go(wanted) {
  let target = address({});
  if (wanted.run !== undefined) {
    const { run, at, ...rest } = wanted;
    const step = at === undefined || at < 0 ? wanted.step : (screen.moments?.[at]?.key ?? wanted.step);
    const usual = { tab: "verdict", when: "before", graded: "after", step: undefined };
    const given = Object.entries({ ...rest, step }).filter(
      ([name, value]) => value !== undefined && value !== usual[name],
    );
    target = `#${new URLSearchParams([["run", run], ...given])}`;
  }
  if (wanted.run !== undefined && wanted.run === screen_run) history.replaceState(null, "", target);
  else history.pushState(null, "", target);
  arrive();
}

async function arrive() {
  const given = address_parameters();
  const alone =
    first_screen() === "runs" && RUNS.length === 1 && !Object.keys(given).length ? RUNS[0].id : undefined;
  let id = BY_ID.has(given.run) ? given.run : alone;
  if (id === undefined) {
    for (const name of Object.keys(filter)) filter[name] = given[name] || "";
    id = first_screen();
  }
  const entered = !entering || id !== screen_run;
  if (entered) entering = enter(id);
  await entering;
  // Runs take a moment to unpack: what the address says by now counts.
  if (screen_run !== id) return;
  screen.shown(address_parameters());
  if (entered && left_at.has(id)) screen.node.scrollTop = left_at.get(id);
}

// Not the id of any run: those are hex digits, or begin with `place-`.
function first_screen() {
  if (SIDES) return "sides";
  return BETWEEN && filter.view !== "runs" ? "changes" : "runs";
}

function address_parameters() {
  return Object.fromEntries(new URLSearchParams(location.hash.slice(1)));
}

async function enter(id) {
  const first = screen === null;
  const was = screen_run;
  screen_run = id;
  if (made_once.has(was) && screen) left_at.set(was, screen.node.scrollTop);
  const made = await screen_of(id);
  if (screen_run !== id) return;
  screen = made;
  replace(document.getElementById("stage"), screen.node);
  document.title = `${screen.title} · replaykit`;
  document.body.className = MAKERS[id] ? "at-runs" : "at-run";
  for (const link of document.querySelectorAll(".views a")) {
    if (link.dataset.view === id) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
  if (!first && was !== id) screen.node.focus({ preventScroll: true });
}

const MAKERS = { runs: overview_screen, changes: changes_screen, sides: sides_screen };

async function screen_of(id) {
  if (made_once.has(id)) return made_once.get(id);
  if (!MAKERS[id]) return run_screen(id);
  const made = await MAKERS[id]();
  // Of two runs, the address says the row.
  if (id !== "sides") made_once.set(id, made);
  return made;
}

function view_links() {
  const views = [
    ["changes", "Changes", "#"],
    ["runs", "Runs", "#view=runs"],
  ];
  return el(
    "nav",
    { class: "segments views", "aria-label": "Screens" },
    views.map(([view, words, href]) => el("a", { href, "data-view": view }, words)),
  );
}

function start() {
  wear_theme();
  const help = help_dialog();
  const name =
    REPORT.label || (SIDES ? "two runs" : RUNS.length === 1 ? RUNS[0].task : count(RUNS.length, "run"));
  replace(
    document.getElementById("app"),
    el(
      "a",
      {
        class: "skip",
        href: "#main",
        on: {
          click: (event) => {
            event.preventDefault();
            document.getElementById("main").focus();
          },
        },
      },
      "Skip to content",
    ),
    el(
      "header",
      { class: "top" },
      el(
        "a",
        {
          class: "brand",
          href: "#",
          on: {
            click: (event) => {
              event.preventDefault();
              for (const key of Object.keys(filter)) filter[key] = "";
              left_at.clear();
              screen.node.scrollTop = 0;
              go({});
            },
          },
        },
        el("i", { "aria-hidden": "true" }),
        "replaykit",
      ),
      BETWEEN ? view_links() : el("span", { class: "label" }, name),
      el("span", { class: "space" }),
      button("Theme", next_theme, { title: "Light or dark (t)" }),
      button("Keys", () => help.showModal(), { title: "Keys (?)" }),
    ),
    el("div", { id: "stage" }),
    help,
  );
  listen_to_keys(() => screen, help);
  addEventListener("hashchange", arrive);
  addEventListener("popstate", arrive);
  addEventListener("resize", () => screen?.resized?.());
  addEventListener("beforeprint", () => screen?.printing?.(true));
  addEventListener("afterprint", () => screen?.printing?.(false));
  arrive();
}

start();
