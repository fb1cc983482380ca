// Charts of the first screen: drawn from the summary, readable as tables by those who do not see them.

const METRICS = [
  ["CR", "CR", "Completion rate: all checks pass"],
  ["PCR", "PCR", "Partial completion rate: at least one item is met"],
  ["CuP", "CuP", "Completion under policy: all checks pass and no policy is broken"],
  ["pCuP", "pCuP", "Partial completion under policy"],
  ["success_rate", "Success", "Checks and judges together"],
  ["safety_failure_rate", "Safety failures", "A policy of the organization is broken"],
];

function card(title, note, ...kids) {
  return el("section", { class: "card" }, el("h2", {}, title, " ", note && el("small", {}, note)), kids);
}

function metrics_chart() {
  const rows = METRICS.map(([key, label, meaning]) => [label, REPORT.summary.metrics[key], meaning]);
  const known = rows.filter(([, metric]) => metric && metric.value !== null && metric.value !== undefined);
  if (!known.length) return card("Rates", "", empty("No run has checks, policies or a judge."));
  return card(
    "Rates",
    "95 % intervals",
    el(
      "div",
      { class: "metrics" },
      known.map(([label, metric, meaning]) => metric_row(label, metric, meaning)),
      axis(),
    ),
    legend([
      ["key-value", "rate"],
      ["key-range", "95 % interval"],
      known.some(([, metric]) => metric.upper > metric.value) && ["key-upper", "rate if all open results hold"],
    ]),
  );
}

function metric_row(label, metric, meaning) {
  const [low, high] = metric.ci95 || [metric.value, metric.value];
  const unknown = (metric.undecided || 0) + (metric.errors || 0);
  const open = [
    metric.undecided && `${metric.undecided} undecided`,
    metric.errors && count(metric.errors, "error"),
  ];
  const unknown_counts = open.filter(Boolean).join(", ");
  const summary = `${label}: ${rate(metric.value)} of ${count(metric.n, "run")}, interval ${rate(low)} to ${rate(high)}`;
  const bad = label === "Safety failures" ? " against" : "";
  return el(
    "div",
    {
      class: "metric",
      title: `${meaning}. n = ${metric.n}${unknown_counts ? `; ${unknown_counts}: up to ${rate(metric.upper)}` : ""}`,
    },
    el("span", { class: "name" }, label),
    el(
      "span",
      { class: `range${bad}`, role: "img", "aria-label": unknown_counts ? `${summary}; ${unknown_counts}` : summary },
      el("i", { class: "line", css: { left: percent(low), width: percent(high - low) } }),
      metric.upper > metric.value && el("i", { class: "upper", css: { left: percent(metric.upper) } }),
      el("i", { class: "dot", css: { left: percent(metric.value) } }),
    ),
    el("span", { class: "value" }, rate(metric.value)),
    el("span", { class: "n" }, unknown ? `${unknown} open` : `n ${metric.n}`),
  );
}

// The meanings of colours and shapes of a chart; entries that do not occur are left out.
function legend(entries) {
  return el(
    "p",
    { class: "legend" },
    entries.filter(Boolean).map(([kind, words]) => el("span", {}, el("i", { class: kind }), words)),
  );
}

function percent(share) {
  return `${Math.round(10000 * Math.max(0, Math.min(1, share))) / 100}%`;
}

function axis() {
  const ends = ["0", "50 %", "100 %"].map((words, at) => el("i", { css: { left: percent(at / 2) } }, words));
  return el(
    "div",
    { class: "metric axis", "aria-hidden": "true" },
    el("span"),
    el("span", {}, ends),
    el("span"),
    el("span"),
  );
}

function risk_chart(choose) {
  const rows = REPORT.dimensions.map((name, place) => [name, REPORT.summary.risk[name] || {}, place]);
  const at_stake = rows.filter(([, risk]) => risk.policies);
  const most = Math.max(1, ...at_stake.map(([, risk]) => risk.policies));
  const body = at_stake.length
    ? at_stake.map(([name, risk, place]) => risk_row(name, risk, most, () => choose(place)))
    : empty("No run has policies.");
  const some = (of) => at_stake.some(([, risk]) => of(risk) > 0);
  const key = legend([
    some((risk) => risk.violations) && ["bad", "violated"],
    some((risk) => risk.undecided + risk.errors) && ["open", "undecided"],
    some((risk) => risk.policies - risk.violations - risk.undecided - risk.errors - risk.dormant) && ["good", "kept"],
    some((risk) => risk.dormant) && ["quiet", "never applied"],
  ]);
  const head = el("p", { class: "risk-head", "aria-hidden": "true" }, "violated / policies", el("span", {}, "risk"));
  return card("Violations", "by dimension", at_stake.length ? head : null, el("div", { class: "risks" }, body), key);
}

// Names of dimensions that fit beside a bar; the whole name is in the row's title.
const SHORT = {
  boundary_and_scope_limitation: "Boundary, scope",
  hierarchy_adherence: "Hierarchy",
  robustness_and_security: "Robustness",
  error_handling_and_safety_nets: "Error handling",
};

function risk_row(name, risk, most, choose) {
  const unknown = risk.undecided + risk.errors;
  const kept = risk.policies - risk.violations - unknown - risk.dormant;
  const parts = [
    ["bad", risk.violations],
    ["open", unknown],
    ["good", kept],
    ["quiet", risk.dormant],
  ];
  const words = `${risk.violations} violated, ${kept} kept, ${risk.dormant} dormant, ${unknown} open, of ${risk.policies}`;
  return el(
    "button",
    {
      class: "risk",
      type: "button",
      on: { click: choose },
      title: `${title_of(name)}: ${words}. Show these runs`,
    },
    el("span", { class: "name" }, SHORT[name] || title_of(name)),
    el(
      "span",
      {
        class: "bar",
        role: "img",
        "aria-label": words,
        css: { width: percent(0.35 + 0.65 * (risk.policies / most)) },
      },
      parts.map(([kind, n]) => n > 0 && el("i", { class: kind, css: { flex: String(n) } })),
    ),
    el("span", { class: "value" }, `${risk.violations} / ${risk.policies}`),
    el("span", { class: `tier ${risk.tier || ""}` }, risk.tier || ""),
  );
}

// Bars of runs by number of steps, each split by outcome.
function steps_chart() {
  const known = RUNS.filter((run) => run.steps !== undefined);
  if (!known.length) return card("Success against steps", "", empty(why_no_steps()));
  const bins = step_bins(known.map((run) => run.steps));
  for (const run of known) bins.find((bin) => run.steps <= bin.to).runs.push(run);
  const most = Math.max(...bins.map((bin) => bin.runs.length));
  return card(
    "Success against steps",
    count(known.length, "run"),
    el(
      "div",
      { class: "columns" },
      bins.map((bin) => steps_column(bin, most)),
    ),
    el("p", { class: "axis-label", "aria-hidden": "true" }, "steps of the run; above each bar, the share that succeeds"),
    legend(
      [
        ["good", "succeeds"],
        ["marred", "succeeds, violates a policy"],
        ["open", "undecided"],
        ["broken", "error"],
        ["bad", "fails"],
        ["quiet", "no result"],
      ].filter(([kind]) => known.some((run) => kind_of_run(run) === kind)),
    ),
  );
}

// A run that broke a policy is not shown as a good one.
function kind_of_run(run) {
  const kind = tone(run.error ? "ERROR" : run.success);
  return kind === "good" && run.violated ? "marred" : kind;
}

function why_no_steps() {
  if (!RUNS.length) return "There are no runs.";
  return RUNS.every((run) => run.error)
    ? "No bundle could be read: steps are unknown."
    : "The bundles were not given: steps are unknown.";
}

// At most eight bars: their labels fit the narrowest card.
function step_bins(counts) {
  const least = counts.reduce((a, b) => Math.min(a, b));
  const most = counts.reduce((a, b) => Math.max(a, b));
  const width =
    [1, 2, 3, 4, 5, 10, 20, 50, 100, 200, 500, 1000, 10000].find((wide) => (most - least) / wide <= 7) || most;
  const bins = [];
  for (let from = least - (least % width); from <= most; from += width)
    bins.push({ from, to: from + width - 1, runs: [] });
  return bins;
}

function steps_column(bin, most) {
  const kinds = ["good", "marred", "open", "broken", "bad", "quiet"];
  const of = (kind) => bin.runs.filter((run) => kind_of_run(run) === kind).length;
  const well = of("good") + of("marred");
  const label = bin.from === bin.to ? `${bin.from}` : `${bin.from}–${bin.to}`;
  const words = `${label} steps: ${well} of ${count(bin.runs.length, "run")} succeed, ${of("marred")} of them violate a policy`;
  return el(
    "div",
    { class: "column", title: words },
    el(
      "div",
      { class: "stack", role: "img", "aria-label": words },
      el("b", {}, bin.runs.length ? `${Math.round((100 * well) / bin.runs.length)}%` : ""),
      el(
        "div",
        { class: "pile", css: { height: percent((0.82 * bin.runs.length) / most) } },
        kinds.map((kind) => of(kind) > 0 && el("i", { class: kind, css: { flex: String(of(kind)) } })),
      ),
    ),
    el("span", {}, label),
  );
}

function judges_chart(choose) {
  const judges = Object.entries(REPORT.summary.judges || {});
  if (!judges.length) return null;
  return card(
    "Judges",
    "and how they stand to the checks",
    el("div", { class: "judge-charts" }, judges.map(([name, judge]) => judge_chart(name, judge, choose))),
  );
}

function judge_chart(name, judge, choose) {
  const found = REPORT.agreement[name];
  return el(
    "section",
    { class: "judge-chart", "aria-label": name },
    el(
      "div",
      {},
      el("h3", {}, el("span", {}, name), el("small", {}, origins_words(judge))),
      judge_bar(judge),
      found && el("p", { class: "reason" }, agreement_words(found)),
    ),
    found ? agreement_table(found, choose) : empty("No run was decided by both."),
  );
}

function origins_words(judge) {
  return Object.entries(judge.origins || {})
    .map(([origin, n]) => `${n} ${origin}`)
    .join(", ");
}

function judge_bar(judge) {
  const parts = [
    ["good", judge.n_success, "success"],
    ["bad", judge.n_failure, "failure"],
    ["open", judge.n_abstain, "abstain"],
    ["broken", judge.n_error, "error"],
  ].filter(([, n]) => n > 0);
  const words = parts.map(([, n, name]) => `${n} ${name}`).join(", ");
  return [
    el(
      "div",
      { class: "bar", role: "img", "aria-label": words, title: words },
      parts.map(([kind, n]) => el("i", { class: kind, css: { flex: String(n) } })),
    ),
    el("p", { class: "reason" }, `${words}; rate ${rate(judge.success_rate)}`),
  ];
}

// Outcomes of the checks by outcomes of the judge; a cell shows its runs.
function agreement_table({ pairs }, choose) {
  const outcomes = ["SUCCESS", "FAILURE"];
  const words = (name) => title_of(name.toLowerCase());
  const heads = outcomes.map((name) => el("th", { scope: "col" }, `Judge: ${name.toLowerCase()}`));
  const cell = (checks, judge) => {
    const pair = `${checks} ${judge}`;
    const look = (checks === "PASS") === (judge === "SUCCESS") ? "good" : "bad";
    if (!pairs[pair]) return el("td", { class: "zero" }, "0");
    const title = `Checks ${checks.toLowerCase()}, judge ${judge.toLowerCase()}. Show these runs`;
    return el("td", { class: look }, button(String(pairs[pair]), () => choose(pair), { title }));
  };
  return el(
    "table",
    { class: "flow" },
    el("thead", {}, el("tr", {}, el("td"), heads)),
    el(
      "tbody",
      {},
      ["PASS", "FAIL"].map((checks) =>
        el(
          "tr",
          {},
          el("th", { scope: "row" }, `Checks: ${words(checks).toLowerCase()}`),
          outcomes.map((judge) => cell(checks, judge)),
        ),
      ),
    ),
  );
}

function agreement_words({ agree, kappa }) {
  const { same, n, ci95 } = agree;
  const between = ci95 ? ` (${ci95.map(rate).join(" to ")})` : "";
  const chance = kappa === null ? "" : `; kappa ${kappa.toFixed(2)}`;
  return `${same} of ${n} agree, ${rate(same / n)}${between}${chance}`;
}
