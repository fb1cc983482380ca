// The first screen: gate, rates, risk, runs.

function overview_screen() {
  const table = runs_table((id) => go({ run: id }));
  const bar = filter_bar(() => changed());
  const screen = el(
    "main",
    { class: "overview", id: "main", tabindex: "-1" },
    el("h1", { class: "unseen" }, REPORT.label || count(RUNS.length, "run")),
    el("p", { class: "sentence" }, report_sentence()),
    notices(),
    el(
      "div",
      { class: "cards" },
      metrics_chart(),
      risk_chart((place) => narrow("broken", String(place))),
      steps_chart(),
      judges_chart((pair) => narrow("agree", pair)),
      measured_cards(),
    ),
    bar,
    table.node,
    el("p", { class: "empty none", hidden: true }, "No run matches."),
  );
  const all = button("Show all", () => clear(), { class: "chip clear" });
  bar.querySelector(".count").before(all);
  let on_paper = false;
  table.within(screen);

  function changed() {
    history.replaceState(null, "", address({}));
    refresh();
  }

  function narrow(key, value) {
    filter[key] = filter[key] === value ? "" : value;
    changed();
  }

  function clear() {
    for (const key of NARROWING) filter[key] = "";
    changed();
  }

  function refresh() {
    const places = filtered();
    show_bar(bar, `${places.length} of ${count(RUNS.length, "run")}`);
    screen.querySelector(".none").hidden = places.length > 0 || !RUNS.length;
    all.hidden = !NARROWING.some((key) => filter[key]);
    bar.hidden = !RUNS.length;
    table.node.hidden = !places.length;
    table.show(places);
  }

  return {
    node: screen,
    title: REPORT.label || count(RUNS.length, "run"),
    shown: refresh,
    // Paper is another size than the window, and takes every row.
    resized: () => on_paper || table.redraw(),
    printing: (on) => {
      on_paper = on;
      table.redraw(on);
    },
    keys: {
      j: () => table.move(1),
      k: () => table.move(-1),
      ArrowDown: () => table.move(1),
      ArrowUp: () => table.move(-1),
      n: () => table.move_to((run) => run.violated, 1),
      p: () => table.move_to((run) => run.violated, -1),
      "/": () => bar.querySelector("#search").focus(),
    },
  };
}

// Result of the report in one line.
function report_sentence() {
  const graded = RUNS.filter((run) => !run.error);
  const well = graded.filter((run) => run.success === "PASS");
  const clean = well.filter((run) => !run.violated);
  const unknown = graded.filter((run) => run.success === "UNDECIDED" || run.success === "ERROR").length;
  const parts = [`${well.length} of ${count(RUNS.length, "run")} ${well.length === 1 ? "succeeds" : "succeed"}`];
  if (well.length > clean.length) parts.push(`${clean.length} of them without violating a policy`);
  const broken = graded.filter((run) => run.violated).length;
  const more = [
    broken && `${count(broken, "run violates", "runs violate")} a policy.`,
    unknown && `${count(unknown, "run is", "runs are")} undecided.`,
    RUNS.length > graded.length && `${count(RUNS.length - graded.length, "bundle")} could not be graded.`,
  ];
  return RUNS.length ? [`${parts.join(", ")}.`, ...more.filter(Boolean)].join(" ") : "The report has no runs.";
}

function notices() {
  const { gate, summary } = REPORT;
  const decided = summary.decided || {};
  const missing = Object.entries(decided.missing || {})
    .map(([code, n]) => `${code} (${n})`)
    .slice(0, 5);
  const proof = summary.proof || {};
  const assumes = Object.entries(summary.assumes || {}).map(([who, n]) => `${who} (${count(n, "run")})`);
  const invalid = Object.entries(summary.invalid || {}).map(([kind, n]) => `${n} ${kind}`);
  return el(
    "div",
    { class: "notices" },
    el(
      "details",
      { class: `gate ${gate.status}`, open: !RUNS.length },
      el(
        "summary",
        {},
        pill(
          { passed: "PASS", failed: "FAIL", error: "ERROR", none: "DORMANT" }[gate.status] || "UNDECIDED",
          `gate ${gate.status}`,
        ),
        gate.reasons.length ? count(gate.reasons.length + gate.more, "reason") : "nothing against it",
      ),
      gate.reasons.length
        ? el(
            "ul",
            { tabindex: "0" },
            gate.reasons.map((reason) => el("li", {}, reason)),
            gate.more > 0 && el("li", {}, `and ${gate.more} more`),
          )
        : null,
    ),
    decided.share !== null && decided.share !== undefined
      ? el(
          "span",
          {},
          `${rate(decided.share)} of checks and policies decided`,
          missing.length ? `; missing: ${missing.join(", ")}` : "",
        )
      : null,
    proof.n
      ? el("span", {}, `${proof.proven} of ${proof.n} results that hold because something did not happen are proven`)
      : null,
    assumes.length ? el("span", {}, `assumes: ${assumes.join(", ")}`) : null,
    invalid.length ? el("span", {}, `invalid, not counted: ${invalid.join(", ")}`) : null,
    left_out_words(),
  );
}

function left_out_words() {
  const { pieces } = REPORT.left_out;
  return (
    pieces > 0 && el("span", {}, `${pieces} screenshots and pages left out to keep this file small (--max-size)`)
  );
}
