// Which runs are shown, and in which order: one state, kept in the address.

const SUCCESSES = ["PASS", "FAIL", "UNDECIDED", "ERROR"];
const COLUMNS = [
  ["name", "Run", (run) => run.name],
  ["checks", "Checks", (run) => (run.checks ? run.passed / run.checks : -1)],
  ["policies", "Policies", (run) => -(run.violated * 1000 + run.open)],
  ["judge", "Judge", (run) => (run.judges || []).map((pair) => pair[1]).join()],
  ["success", "Success", (run) => success_of(run)],
  ["cup", "CuP", (run) => run.cup],
  ["steps", "Steps", (run) => run.steps ?? -1],
  ["ms", "Time", (run) => run.ms ?? -1],
];

const filter = { q: "", success: "", broken: "", sort: "" };

function success_of(run) {
  return run.error ? "ERROR" : run.success || "NONE";
}

function filtered() {
  const words = filter.q.toLowerCase().split(/\s+/).filter(Boolean);
  const broken = filter.broken === "" ? null : Number(filter.broken);
  const found = [];
  RUNS.forEach((run, place) => {
    if (filter.success && success_of(run) !== filter.success) return;
    if (broken !== null && !(broken === -1 ? run.violated : (run.broken || []).includes(broken))) return;
    if (words.length && !words.every((word) => haystack(run).includes(word))) return;
    found.push(place);
  });
  return ordered(found);
}

function haystack(run) {
  run.hay =
    run.hay || [run.name, run.task, run.intent, run.id, run.error, run.dialect].join(" ").toLowerCase();
  return run.hay;
}

function ordered(places) {
  const key = filter.sort.replace("-", "");
  const column = COLUMNS.find(([name]) => name === key);
  if (!column) return places;
  const sign = filter.sort.startsWith("-") ? -1 : 1;
  const value = column[2];
  return places.sort((a, b) => sign * compared(value(RUNS[a]), value(RUNS[b])) || a - b);
}

function compared(a, b) {
  if (typeof a === "number" && typeof b === "number") return a - b;
  return String(a) < String(b) ? -1 : String(a) > String(b) ? 1 : 0;
}

function filter_bar(changed) {
  const set = (name) => (event) => {
    filter[name] = event.target.value;
    changed();
  };
  return el(
    "div",
    { class: "filters", role: "search" },
    el("input", {
      type: "search",
      id: "search",
      placeholder: "Filter runs  /",
      "aria-label": "Filter runs by name, task or intent",
      value: filter.q,
      autocomplete: "off",
      spellcheck: "false",
      on: { input: set("q") },
    }),
    el("div", { class: "chips", role: "group", "aria-label": "Success" }, success_chips(changed)),
    el(
      "select",
      { "aria-label": "Violated dimension", on: { change: set("broken") } },
      [
        ["", "Any policies"],
        ["-1", "Any violation"],
        ...REPORT.dimensions.map((name, place) => [String(place), title_of(name)]),
      ].map(([value, words]) => el("option", { value, selected: filter.broken === value }, words)),
    ),
    el("output", { class: "count", "aria-live": "polite" }),
  );
}

function success_chips(changed) {
  const all = [["", "All", RUNS.length], ...SUCCESSES.map((name) => [name, title_of(name.toLowerCase()), 0])];
  for (const run of RUNS) {
    const chip = all.find(([name]) => name === success_of(run));
    if (chip) chip[2] += 1;
  }
  return all
    .filter(([name, , n]) => !name || n)
    .map(([name, words, n]) =>
      button(
        [name && outcome_mark(name), words, " ", el("small", {}, String(n))],
        () => {
          filter.success = name;
          changed();
        },
        { class: "chip", "aria-pressed": String(filter.success === name), "data-success": name },
      ),
    );
}
