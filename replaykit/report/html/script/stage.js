// The look of the page: the screenshot or the drawn page, before or after the action, with the target marked.

// Drawn pages run nothing: their frame has no permission at all, and their policy allows nothing.
const page_policy = window.trustedTypes
  ? window.trustedTypes.createPolicy("replaykit-page", { createHTML: (markup) => markup })
  : { createHTML: (markup) => markup };

function stage_of(run, changed) {
  const view = { kind: "screenshot", when: "before" };
  const bar = el("div", { class: "stage-bar" });
  const canvas = el("div", { class: "canvas" });
  const caption = el("p", { class: "caption" });
  const node = el("section", { class: "stage", "aria-label": "Page" }, bar, canvas, caption);
  let drawing = 0;

  function choice(name, pairs, label) {
    return el(
      "div",
      { class: "segments", role: "group", "aria-label": label },
      pairs.map(([value, words]) =>
        button(words, () => changed({ [name]: value }), { "aria-pressed": String(view[name] === value) }),
      ),
    );
  }

  async function show(moment, wanted) {
    const mine = (drawing += 1);
    Object.assign(view, wanted);
    view.kind = kind_of(run, moment, view);
    const look = look_of(run, moment, view);
    replace(
      bar,
      choice(
        "kind",
        [
          ["screenshot", "Screenshot"],
          ["page", "Page"],
        ],
        "What to show",
      ),
      moment.step
        ? choice(
            "when",
            [
              ["before", "Before"],
              ["after", "After"],
            ],
            "When",
          )
        : null,
      el("span", { class: "url", title: url_of(run, moment, look) }, url_of(run, moment, look)),
    );
    const made = look
      ? await (view.kind === "page" ? page_view : screenshot_view)(run, moment, look, view)
      : null;
    if (mine !== drawing) return;
    replace(canvas, made || nothing(run, moment, look, view));
    replace(caption, caption_of(run, moment, look, view));
    const sheet = canvas.querySelector(".sheet.page");
    if (sheet) centre(canvas, sheet);
  }

  // Where the other side of the action was seen, the way there is offered.
  function nothing(run, moment, look, view) {
    const other = view.when === "after" ? "before" : "after";
    const seen = moment.step && look_of(run, moment, { ...view, when: other });
    return el(
      "div",
      { class: "empty" },
      why_nothing(run, look, view),
      seen && button(`Show ${other}`, () => changed({ when: other }), { class: "jump" }),
    );
  }

  return { node, show };
}

// Where the page is missing, the screenshot is shown, and the other way round.
function kind_of(run, moment, view) {
  const other = view.kind === "page" ? "screenshot" : "page";
  const has = (kind) => look_of(run, moment, { ...view, kind })?.[kind];
  return !has(view.kind) && has(other) ? other : view.kind;
}

function look_of(run, moment, view) {
  const at =
    view.when === "after" && moment.step
      ? moment.after
      : view.kind === "page"
        ? (moment.before ?? moment.shown)
        : moment.shown;
  const look = at === undefined || at === null ? null : run.looks[at];
  return look && view.kind === "page" && !look.page && moment.step && view.when === "before"
    ? run.looks[moment.shown] || look
    : look;
}

function url_of(run, moment, look) {
  return (look && look.url) || (moment.step && moment.step.url) || "";
}

function why_nothing(run, look, view) {
  if (run.unreadable) return "The bundle cannot be read.";
  if (!run.looks)
    return run.header
      ? "The run recorded no page."
      : "The bundle was not given: there is only its verdict.";
  if (!look) return "The page was not recorded here.";
  const why = (look.missing || {})[view.kind];
  if (why) return `Not kept: ${why}.`;
  if (!look[view.kind]) return `No ${view.kind === "page" ? "page" : "screenshot"} was taken here.`;
  return (run.screenshots || {})[look.screenshot]
    ? "It is missing from the bundle, or damaged."
    : "Left out to keep this file small, or damaged in the bundle.";
}

function caption_of(run, moment, look, view) {
  if (!look) return [];
  const step = moment.step;
  const place = step ? `${capital(view.when)} step ${moment.key}` : title_of(moment.key);
  const parts = [el("b", {}, place), look.title];
  if (step && view.when === "before" && look.role !== "before") parts.push(lag_words(step, look, view));
  if (look.settled === undefined && look.role === "after") parts.push("not yet at rest");
  if (look.status >= 400) parts.push(`HTTP ${look.status}`);
  if (view.kind === "page") parts.push(page_words(run, look));
  return parts.filter(Boolean).flatMap((one, at) => (at ? [" · ", one] : [one]));
}

// Agents are fast: what a screenshot shows may lie before or after the action by as much as this says.
function lag_words(step, look, view) {
  const taken = view.kind === "screenshot" ? (look.shot ?? look.t) : look.t;
  const seen = { start: "seen at the start", after: "seen later", final: "seen at the end" }[look.role] || "seen";
  const from = look.of === undefined ? seen : `seen when step ${look.of} was done`;
  if (taken === undefined || step.t === undefined) return from;
  const lag = seconds(Math.abs(step.t - taken));
  return `${from}, ${lag} ${taken > step.t ? "after" : "before"} this action`;
}

function page_words(run, look) {
  const page = (run.pages || {})[look.page] || {};
  const drawn = page.flows
    ? "recorded page as plain text: no boxes were taken"
    : "drawn from the recorded page: places and texts are its own, colours are not";
  return page.cut ? `${drawn}; cut` : drawn;
}

async function screenshot_view(run, moment, look, view) {
  const address = look.screenshot ? await screenshot_address(run, look.screenshot) : null;
  if (!address) return null;
  const [, , width, height] = run.screenshots[look.screenshot];
  const wide = (look.viewport || [width])[0] || width;
  const tall = (wide * height) / width;
  const image = el("img", {
    src: address,
    width: String(width),
    height: String(height),
    alt: screenshot_words(moment, look),
  });
  return el(
    "div",
    { class: "sheet contain", css: { "--ratio": String(width / height) } },
    image,
    moment.step?.marked && view.when === "before"
      ? marks(moment.step.action || {}, moment.step.action?.element?.box, wide, tall, moment)
      : null,
  );
}

function screenshot_words(moment, look) {
  const when = moment.step ? `step ${moment.key}` : moment.key;
  return `The page at ${when}: ${look.title || look.url || "untitled"}`;
}

function marks(action, box, wide, tall, moment) {
  const place = (x, y) => ({ left: `${(100 * x) / wide}%`, top: `${(100 * y) / tall}%` });
  const found = [];
  const kind = moment.broken.length ? " bad" : "";
  if (box) {
    const [x, y, width, height] = box;
    found.push(
      el("i", {
        class: `target${kind}`,
        css: { ...place(x, y), width: `${(100 * width) / wide}%`, height: `${(100 * height) / tall}%` },
      }),
    );
  }
  if (action.point && action.here) found.push(el("i", { class: `point${kind}`, css: place(...action.here) }));
  else if (action.point) found.push(el("i", { class: `point${kind}`, css: place(...action.point) }));
  if (action.to) found.push(el("i", { class: `point to${kind}`, css: place(...action.to) }));
  return found;
}

async function page_view(run, moment, look, view) {
  const page = (run.pages || {})[look.page];
  const markup = page ? await page_markup(look.page) : null;
  if (markup === null) return null;
  const frame = el("iframe", {
    sandbox: "",
    referrerpolicy: "no-referrer",
    tabindex: "-1",
    title: `Recorded page: ${look.title || look.url || "untitled"}`,
    width: String(page.width),
    height: String(page.height),
    css: { "--width": `${page.width}px` },
  });
  frame.srcdoc = page_policy.createHTML(markup);
  const sheet = el(
    "div",
    { class: "sheet page", css: { "--width": String(page.width), "--height": String(page.height) } },
    frame,
  );
  const action = (moment.step && view.when === "before" && moment.step.action) || {};
  const node = action.element?.node;
  const box = node && (page.boxes || {})[node.join(":")];
  if (box)
    add(sheet, [marks({ ...action, here: moved(action, box), to: null }, box, page.width, page.height, moment)]);
  fit(sheet);
  return sheet;
}

// The point of an action, moved from the viewport to where its target stands on the whole page.
function moved(action, box) {
  const own = action.element.box;
  return own && action.point
    ? [action.point[0] - own[0] + box[0], action.point[1] - own[1] + box[1]]
    : [box[0] + box[2] / 2, box[1] + box[3] / 2];
}

// Frames are not scaled by CSS lengths: the page is drawn at its own width and shrunk to the sheet.
function fit(sheet) {
  const watch = new ResizeObserver(() => {
    if (sheet.isConnected) rescale(sheet);
    else watch.disconnect();
  });
  requestAnimationFrame(() => watch.observe(sheet));
}

function rescale(sheet) {
  const width = Number(sheet.style.getPropertyValue("--width"));
  sheet.style.setProperty("--scale", String(sheet.clientWidth / width));
}

// Of a drawn page, the canvas shows what was acted on; the window around it stays where it is.
function centre(canvas, sheet) {
  rescale(sheet);
  const target = sheet.querySelector(".target");
  if (target) canvas.scrollTop = sheet.offsetTop + target.offsetTop - (canvas.clientHeight - target.offsetHeight) / 2;
}
