// Charts of the first screen of two reports: rates of both over the same tasks, flips of success, causes.

function paired_chart() {
  const labels = new Map(METRICS.map(([key, label, meaning]) => [key, [label, meaning]]));
  const rows = BETWEEN.rates.filter((one) => labels.has(one.metric));
  if (!rows.length) return card("Rates", "", empty("The reports have no task in common."));
  return el(
    "section",
    { class: "card wide" },
    el("h2", {}, "Rates ", el("small", {}, `over ${count(rows[0].tasks, "task")} of both`)),
    el(
      "div",
      { class: "pairs-table", role: "table", "aria-label": "Rates before and after" },
      el(
        "div",
        { class: "paired head", role: "row" },
        ["Metric", null, "Before", "After", "Change", "95 % interval", "p"].map((words) =>
          el("span", { role: "columnheader", title: words === "p" && "p of an exact sign test" }, words || el("span", { class: "unseen" }, "Tasks that moved")),
        ),
      ),
      rows.map((one) => paired_row(one, ...labels.get(one.metric))),
    ),
    legend([
      ["key-before", `before: ${BETWEEN.before}`],
      ["key-after", `after: ${BETWEEN.after}`],
    ]),
    el("p", { class: "axis-label" }, "each line goes from 0 to 100 %; change is in points"),
  );
}

function paired_row(one, label, meaning) {
  const [low, high] = [Math.min(one.before, one.after), Math.max(one.before, one.after)];
  const rises = one.difference > 0;
  const look = !one.difference ? "quiet" : rises === (one.metric !== "safety_failure_rate") ? "good" : "bad";
  const between = one.ci95 ? one.ci95.map(points).join(" to ") : "–";
  const moved = `${one.up} of ${count(one.tasks, "task")} rose, ${one.down} fell`;
  const cell = (words, given = {}) => el("span", { role: "cell", ...given }, words);
  return el(
    "div",
    { class: "paired", role: "row", title: `${meaning}. ${moved}` },
    cell(label, { class: "name" }),
    el(
      "span",
      { class: `range ${look}`, role: "cell", "aria-label": moved },
      el("i", { class: "line", css: { left: percent(low), width: percent(high - low) } }),
      el("i", { class: "upper", css: { left: percent(one.before) } }),
      el("i", { class: "dot", css: { left: percent(one.after) } }),
    ),
    cell(rate(one.before)),
    cell(rate(one.after), { class: "value" }),
    cell(points(one.difference), { class: `value word ${look}` }),
    cell(between, { class: "n" }),
    cell(one.p.toFixed(one.p < 0.01 ? 4 : 2), { class: "n" }),
  );
}

// A difference of shares in points of a hundred, with its sign.
function points(value) {
  const percent = (100 * Math.abs(value)).toFixed(1);
  return percent === "0.0" ? "0.0" : `${value > 0 ? "+" : "−"}${percent}`;
}

// How many runs went from which success to which.
function flow_chart() {
  const pairs = Object.entries(BETWEEN.flow).map(([key, n]) => [...key.split(" "), n]);
  if (!pairs.length) return card("Success", "", empty("No run has a counterpart."));
  const all = [...SUCCESSES, "none"];
  const [rows, columns] = [0, 1].map((side) =>
    all.filter((name) => pairs.some((pair) => pair[side] === name)),
  );
  const words = (name) => (name === "none" ? "None" : title_of(name.toLowerCase()));
  const at = (from, to) => pairs.find(([was, now]) => was === from && now === to)?.[2] || 0;
  return card(
    "Success",
    "rows before, columns after",
    el(
      "table",
      { class: "flow" },
      el(
        "thead",
        {},
        el(
          "tr",
          {},
          el("td"),
          columns.map((name) => el("th", { scope: "col" }, words(name))),
        ),
      ),
      el(
        "tbody",
        {},
        rows.map((from) =>
          el(
            "tr",
            {},
            el("th", { scope: "row" }, words(from)),
            columns.map((to) => flow_cell(from, to, at(from, to))),
          ),
        ),
      ),
    ),
  );
}

function flow_cell(from, to, n) {
  const look = !n || from === to ? "quiet" : to === "PASS" ? "good" : from === "PASS" ? "bad" : "open";
  return el("td", { class: n ? look : "zero" }, n ? String(n) : "·");
}

function causes_chart(choose) {
  const counts = new Map();
  for (const code of BETWEEN.pairs.flatMap(causes_of)) counts.set(code, (counts.get(code) || 0) + 1);
  const rows = [...counts].sort((a, b) => b[1] - a[1]);
  const most = Math.max(1, ...counts.values());
  return card(
    "What else differs",
    "by changed run",
    rows.length
      ? rows.map(([code, n]) => cause_row(code, n, most, () => choose(code)))
      : empty("No verdict changed."),
  );
}

function cause_row(code, n, most, choose) {
  const [words, meaning] = cause_of(code);
  return button(
    [
      el("span", { class: "name" }, title_of(words)),
      el(
        "span",
        { class: "bar", "aria-hidden": "true", css: { width: percent(n / most) } },
        el("i", { class: "cause" }),
      ),
      el("span", { class: "value" }, String(n)),
    ],
    choose,
    { class: "risk why", title: `${meaning}. Show these` },
  );
}
