// The first screen of two runs: their steps side by side, and what differs in the runs themselves.

const SIDES = REPORT.sides || null;

// Of a row: words, sign, look. A run is known by its colour: neither is the better one.
const ROW_MARKS = {
  same: ["the same", "=", "quiet"],
  differs: ["different", "~", "open"],
  apart: ["replaced", "≠", "open"],
  removed: [`only in ${SIDES?.names[0]}`, "–", "first"],
  new: [`only in ${SIDES?.names[1]}`, "+", "second"],
};
const SIDE_LOOKS = ["first", "second"];
const ROWS_AT_ONCE = 100;

function row_mark(mark) {
  const [, sign, look] = ROW_MARKS[mark];
  return el("span", { class: `mark ${look}`, "aria-hidden": "true" }, sign);
}

// The rows of both runs and, last, how they end.
function all_rows(runs) {
  const ends = SIDES.facts.some(([what]) => ["answer", "ending"].includes(what));
  const rows = SIDES.rows.map(([mark, before, after, facts], place) => ({
    place: String(place),
    mark,
    keys: [before, after].map((step) => (step === null ? null : String(step))),
    facts,
  }));
  if (!SIDES.more)
    rows.push({ place: "end", mark: ends ? "differs" : "same", keys: ["end", "end"], facts: end_facts() });
  for (const row of rows) {
    row.moments = row.keys.map((key, side) => runs[side].moments.find((moment) => moment.key === key));
  }
  return rows;
}

function end_facts() {
  return SIDES.facts.filter(([what]) => ["answer", "ending"].includes(what));
}

async function sides_screen() {
  const runs = await Promise.all(
    [SIDES.before, SIDES.after].map(async (id) => {
      const run = await run_data(id);
      return { id, run, moments: moments_of(run) };
    }),
  );
  const rows = all_rows(runs);
  const list = rows_list(runs, (place) => {
    filter.row = place;
    history.replaceState(null, "", address({}));
  });
  const bar = sides_bar(rows, () => changed());
  const node = el(
    "main",
    { class: "overview sides", id: "main", tabindex: "-1" },
    el("h1", { class: "versus" }, side_name(0), el("span", { class: "arrow" }, " → "), side_name(1)),
    sides_summary(rows),
    el("div", { class: "cards" }, runs_card(runs)),
    bar,
    list.node,
    el("p", { class: "empty none", hidden: true }, "No step matches. "),
  );
  list.within(node);

  function changed() {
    history.replaceState(null, "", address({}));
    refresh();
  }

  function refresh() {
    const words = filter.q.toLowerCase().split(/\s+/).filter(Boolean);
    const shown = rows.filter(
      (row) =>
        (!filter.kind || row.mark === filter.kind) &&
        words.every((word) => side_words(runs, row).includes(word)),
    );
    show_bar(bar, `${shown.length} of ${count(rows.length, "row")}`);
    for (const one of bar.querySelectorAll(".segments button")) {
      one.setAttribute("aria-pressed", String(filter[one.dataset.key] === one.dataset.value));
    }
    node.querySelector(".none").hidden = shown.length > 0;
    list.show(shown, Boolean(filter.kind || words.length));
  }

  const flip = (key, value) => {
    filter[key] = filter[key] ? "" : value;
    changed();
  };
  return {
    node,
    title: SIDES.names.join(" → "),
    shown: refresh,
    printing: (on) => list.printing(on),
    keys: {
      j: () => list.move(1),
      k: () => list.move(-1),
      ArrowDown: () => list.move(1),
      ArrowUp: () => list.move(-1),
      n: () => list.next_difference(1),
      p: () => list.next_difference(-1),
      b: () => flip("when", "after"),
      v: () => flip("look", "page"),
      "/": () => bar.querySelector("#search").focus(),
    },
  };
}

function side_words(runs, row) {
  row.hay =
    row.hay ||
    row.moments
      .map(
        (moment) =>
          moment && [moment.step?.line, moment.step?.url, ...moment.messages.map((one) => one.text)].join(" "),
      )
      .concat(row.facts.flat())
      .join(" ")
      .toLowerCase();
  return row.hay;
}

function side_name(side) {
  return el(
    "span",
    { class: `side-name ${SIDE_LOOKS[side]}` },
    el("i", { class: "dot", "aria-hidden": "true" }),
    SIDES.names[side],
  );
}

function sides_summary(rows) {
  const steps = rows.filter((row) => row.place !== "end");
  const counts = Object.keys(ROW_MARKS).map((mark) => [
    mark,
    steps.filter((row) => row.mark === mark).length,
  ]);
  return el(
    "div",
    { class: "notices" },
    el("span", { class: "notice" }, parting_words(steps)),
    counts.map(([mark, n]) => n > 0 && el("span", {}, row_mark(mark), `${n} ${ROW_MARKS[mark][0]}`)),
    SIDES.more > 0 && el("span", {}, `and ${SIDES.more} more, not shown`),
    left_out_words(),
  );
}

function parting_words(steps) {
  if (SIDES.is_same) return "The same recording";
  if (steps.length === SIDES.common) return `The same ${count(SIDES.common, "step")}`;
  return SIDES.common
    ? `The runs part after ${count(SIDES.common, "step")}`
    : "The runs part at the first step";
}

// The facts known of both runs, equal or not, with links to each whole run.
function runs_card(runs) {
  const rows = [
    ["intent", (row) => row.intent || row.task || ""],
    ["steps", (_, run) => String(run.n_steps ?? 0)],
    ["time", (row) => seconds(row.ms)],
    ["recorded", (_, run) => run.header?.created || ""],
    ["ending", (_, run) => ending_of(run)],
    ["answer", (_, run) => run.answer ?? null],
  ].map(([what, value_of]) => [what, ...runs.map(({ id, run }) => value_of(row_of(id), run))]);
  const others = SIDES.facts.filter(
    ([what]) => !rows.some(([known]) => known === what) && what !== "task intent",
  );
  return el(
    "section",
    { class: "card", "aria-label": "Both runs" },
    el(
      "table",
      { class: "differences" },
      el(
        "thead",
        {},
        el(
          "tr",
          {},
          el("td"),
          runs.map(({ id }, side) =>
            el(
              "th",
              { scope: "col" },
              side_name(side),
              " ",
              el("a", { class: "jump", href: run_address(id) }, "Open"),
            ),
          ),
        ),
      ),
      el("tbody", {}, [...rows, ...others].map(fact_row)),
    ),
  );
}

function fact_row([what, before, after]) {
  const name = el("th", { scope: "row" }, fact_name(what));
  if (before === after)
    return el("tr", { class: "same" }, name, el("td", { colspan: "2" }, value_or_none(before)));
  // Two recordings are never of one time: nothing to point at.
  const is_compared = !["time", "recorded"].includes(what);
  const texts = [before, after].map((value) => indented(value ?? ""));
  const words = is_compared ? marked(...texts) : texts;
  const is_long = texts.some((text) => text.length > LONG);
  const box = is_long ? { class: "long", tabindex: "0", role: "group", "aria-label": fact_name(what) } : {};
  const cell = (value, side) =>
    el("td", { class: SIDE_LOOKS[side] }, el("div", box, value_or_none(value, words[side])));
  return el("tr", {}, name, [before, after].map(cell));
}

function value_or_none(value, words = value) {
  if (value === null) return el("em", {}, "none");
  return value === "" ? el("em", {}, "empty") : words;
}

function fact_name(what) {
  return { url: "URL", page: "Page title" }[what] || title_of(what);
}

function sides_bar(rows, changed) {
  const of = (mark) => rows.filter((row) => row.mark === mark).length;
  const chips = Object.keys(ROW_MARKS).map((mark) => [
    mark,
    capital(ROW_MARKS[mark][0]),
    of(mark),
    row_mark(mark),
  ]);
  const bar = bar_of(
    { place: "Filter steps  /", search: "Filter steps by action, address or message" },
    { label: "What differs", name: "kind", chips: [["", "All", rows.length], ...chips] },
    null,
    changed,
  );
  const choice = (key, label, pairs) =>
    el(
      "div",
      { class: "segments", role: "group", "aria-label": label },
      pairs.map(([value, words]) =>
        button(
          words,
          () => {
            filter[key] = value;
            changed();
          },
          { "data-key": key, "data-value": value, "aria-pressed": String(filter[key] === value) },
        ),
      ),
    );
  bar.querySelector(".count").before(
    choice("look", "What to show", [
      ["", "Screenshot"],
      ["page", "Page"],
    ]),
    choice("when", "When", [
      ["", "Before"],
      ["after", "After"],
    ]),
  );
  return bar;
}
