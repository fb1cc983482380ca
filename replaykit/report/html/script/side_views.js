// One row of two runs: what either did, what the page looked like, and what differs.

const IN_WORD = /[\p{L}\p{N}]/u;

// Two texts with what differs between them marked, in whole words: what they begin and end with alike is not.
function marked(before, after) {
  const [ours, theirs] = [before, after].map((text) => [...plain(text ?? "")]);
  const most = Math.min(ours.length, theirs.length);
  let start = 0;
  while (start < most && ours[start] === theirs[start]) start += 1;
  let end = 0;
  while (end < most - start && ours.at(-1 - end) === theirs.at(-1 - end)) end += 1;
  const both = [ours, theirs];
  const is_letter = (text, at) => IN_WORD.test(text.at(at) ?? "");
  const splits = (at, by) => both.some((text) => is_letter(text, at) && is_letter(text, at + by));
  while (start > 0 && splits(start - 1, 1)) start -= 1;
  while (end > 0 && splits(-end, -1)) end -= 1;
  const part = (text) => [
    text.slice(0, start).join(""),
    start + end < text.length && el("mark", {}, text.slice(start, text.length - end).join("")),
    text.slice(text.length - end).join(""),
  ];
  return [part(ours), part(theirs)];
}

function pairing(runs, row, chosen) {
  const head = el(
    "summary",
    { class: "pairing-row", on: { click: chosen } },
    row_mark(row.mark),
    el("span", { class: "unseen" }, `${ROW_MARKS[row.mark][0]}: `),
    [0, 1].map((side) => side_action(runs[side].run, row, side)),
    el(
      "span",
      { class: "tags" },
      row.facts.map(([what]) => el("span", { class: "tag" }, fact_name(what))),
    ),
  );
  const body = el("div", { class: "pairing-body" });
  const box = el("details", { open: row.mark !== "same" }, head, body);
  const node = el("li", { class: `pairing ${row.mark}` }, box);
  let is_near = false;
  let filled = false;
  box.addEventListener("toggle", () => is_near && fill());

  function come(by_now) {
    is_near = by_now;
    if (is_near) fill();
  }

  function fill() {
    if (filled || !box.open) return;
    filled = true;
    for (const fact of row.facts.filter(([what]) => what !== "messages")) add(body, [both_sides(fact)]);
    add(body, [
      el(
        "div",
        { class: "both" },
        [0, 1].map((side) => side_view(runs[side], row, side)),
      ),
    ]);
  }

  return { row, node, head, come, fill, open: () => (box.open = true) };
}

// One fact of both runs, above their screenshots; messages are shown as messages.
function both_sides([what, before, after]) {
  const words = marked(before, after);
  return el(
    "div",
    { class: "both fact" },
    [before, after].map((value, side) =>
      el(
        "p",
        { class: SIDE_LOOKS[side] },
        el("small", {}, fact_name(what)),
        el("span", {}, value_or_none(value, words[side])),
      ),
    ),
  );
}

// The action of a run at this row, in one line.
function side_action(run, row, side) {
  const moment = row.moments[side];
  const look = { class: `side-action ${SIDE_LOOKS[side]}` };
  if (!moment) return el("span", { ...look, class: `${look.class} nothing` });
  return el("span", look, action_line(run, moment));
}

// The page in one of the runs, with thoughts and messages.
function side_view({ id, run }, row, side) {
  const moment = row.moments[side];
  const name = SIDES.names[side];
  if (!moment) {
    return el(
      "div",
      { class: "side-view nothing" },
      el("p", { class: "empty" }, `${name} has no such step.`),
    );
  }
  const view = { kind: filter.look || "screenshot", when: moment.step ? filter.when || "before" : "before" };
  view.kind = kind_of(run, moment, view);
  const look = look_of(run, moment, view);
  const shot = el("div", { class: "shot" });
  const url = url_of(run, moment, look);
  show_look(shot, run, moment, look, view);
  return el(
    "figure",
    { class: `side-view ${SIDE_LOOKS[side]}`, "aria-label": name },
    el(
      "div",
      { class: "side-bar" },
      el("span", { class: "url", title: url }, short_url(url)),
      el(
        "a",
        { class: "jump", href: `${run_address(id)}&step=${moment.key}`, title: `This step of ${name}` },
        "Open",
      ),
    ),
    shot,
    el("figcaption", {}, el("b", {}, name), " · ", caption_of(run, moment, look, view)),
    moment.step?.error && el("p", { class: "flag error" }, outcome_mark("ERROR"), moment.step.error),
    moment.step?.thought && el("p", { class: "thought" }, moment.step.thought),
    moment.messages.map((one) => message_row(one)),
  );
}

async function show_look(shot, run, moment, look, view) {
  const made = look && (await (view.kind === "page" ? page_view : screenshot_view)(run, moment, look, view));
  replace(shot, made || el("p", { class: "empty" }, why_nothing(run, look, view)));
  if (view.kind !== "page" || !made) return;
  shot.setAttribute("tabindex", "0");
  shot.setAttribute("aria-label", "Recorded page");
  shot.setAttribute("role", "region");
}
