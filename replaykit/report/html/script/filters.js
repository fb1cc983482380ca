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

// Parameters of the address that restrict the runs shown; the order does not.
const NARROWING = ["q", "success", "broken", "agree"];

// `view`, `kind` and `why` belong to the screen of two reports; `kind`, `row`, `look` and `when` to that of two runs.
const filter = {
  view: "",
  q: "",
  success: "",
  broken: "",
  agree: "",
  sort: "",
  kind: "",
  why: "",
  row: "",
  look: "",
  when: "",
};

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
    if (filter.agree && !stands(run, filter.agree)) return;
    if (words.length && !words.every((word) => haystack(run).includes(word))) return;
    found.push(place);
  });
  return ordered(found);
}

// Whether the checks gave one outcome for a run, and a judge the other: `PASS FAILURE`.
function stands(run, pair) {
  const [checks, judge] = pair.split(" ");
  return run.completion === checks && (run.judges || []).some(([, outcome]) => outcome === judge);
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
  const dimensions = REPORT.dimensions.map((name, place) => [String(place), title_of(name)]);
  return bar_of(
    { place: "Filter runs  /", search: "Filter runs by name, task or intent" },
    { label: "Success", name: "success", chips: success_chips() },
    {
      label: "Violated dimension",
      name: "broken",
      options: [["", "Any policies"], ["-1", "Any violation"], ...dimensions],
    },
    changed,
  );
}

function success_chips() {
  const kinds = [...SUCCESSES, "NONE"];
  const all = [["", "All", RUNS.length], ...kinds.map((name) => [name, title_of(name.toLowerCase()), 0])];
  for (const run of RUNS) {
    const chip = all.find(([name]) => name === success_of(run));
    if (chip) chip[2] += 1;
  }
  return all.map(([name, words, n]) => [name, words, n, name && outcome_mark(name === "NONE" ? "" : name)]);
}

// A search field, chips of which one is chosen, perhaps a list of which one is chosen: each sets one key of the
// filter. `chips`: value, words, how many, mark; those of nothing are not offered.
function bar_of({ place, search }, { label, name, chips }, list, changed) {
  const set = (key) => (event) => {
    filter[key] = event.target.value;
    changed();
  };
  return el(
    "div",
    { class: "filters", role: "search" },
    el("input", {
      type: "search",
      id: "search",
      placeholder: place,
      "aria-label": search,
      value: filter.q,
      autocomplete: "off",
      spellcheck: "false",
      on: { input: set("q") },
    }),
    el(
      "div",
      { class: "chips", role: "group", "aria-label": label, "data-key": name },
      chips
        .filter(([value, , n]) => !value || n)
        .map(([value, words, n, mark]) =>
          button(
            [mark, words, " ", el("small", {}, String(n))],
            () => {
              filter[name] = value;
              changed();
            },
            { class: "chip", "aria-pressed": String(filter[name] === value), "data-value": value },
          ),
        ),
    ),
    list &&
      el(
        "select",
        { "aria-label": list.label, "data-key": list.name, on: { change: set(list.name) } },
        list.options.map(([value, words]) =>
          el("option", { value, selected: filter[list.name] === value }, words),
        ),
      ),
    el("output", { class: "count", "aria-live": "polite" }),
  );
}

// Show the current parameters of the address in the bar.
function show_bar(bar, count_text) {
  const [search, list, chips] = ["#search", "select", ".chips"].map((name) => bar.querySelector(name));
  if (search.value !== filter.q) search.value = filter.q;
  if (list) list.value = filter[list.dataset.key];
  bar.querySelector(".count").textContent = count_text;
  for (const chip of chips.children)
    chip.setAttribute("aria-pressed", String(chip.dataset.value === filter[chips.dataset.key]));
}
