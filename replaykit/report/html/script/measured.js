// How judges were measured: under attack, and against people.

function measured_cards() {
  const { attacks = [], calibration = [] } = REPORT.measured || {};
  return [
    attacks.length > 0 &&
      card(
        "Judges under attack",
        "runs whose verdict changes",
        measured_table(
          "Attacks",
          ["Judge", "Attack", "Any change", "To success", "At most", "Success stays", "Beyond again"],
          attacks.map((row) => [
            judge_words(row),
            row.attack,
            of(row.flips),
            of(row.success),
            rate(row.high),
            of(row.stays),
            signed(row.again),
          ]),
          attacks.map(is_danger),
        ),
        el("p", { class: "reason" }, "At most: one-sided 95 % bound of changes to success. Marked rows show a dangerous one."),
      ),
    calibration.length > 0 &&
      card(
        "Judges against people",
        "undecided runs count as failures",
        measured_table(
          "Calibration",
          ["Judge", "Runs", "Success, failure", "Kappa at least", "False successes at most", "Below the minimum"],
          calibration.map((row) => [
            judge_words(row),
            row.n,
            `${row.n_pos}, ${row.n_neg}`,
            number_words(row.kappa_low),
            rate(row.fpr_high),
            (row.lacks || []).join("; ") || "nothing",
          ]),
          calibration.map((row) => (row.lacks || []).length > 0),
        ),
      ),
  ];
}

function measured_table(name, heads, rows, marked) {
  return el(
    "div",
    { class: "measured", tabindex: "0", role: "region", "aria-label": name },
    el(
      "table",
      {},
      el("thead", {}, el("tr", {}, heads.map((head) => el("th", { scope: "col" }, head)))),
      el(
        "tbody",
        {},
        rows.map(([judge, ...cells], at) =>
          el(
            "tr",
            { class: marked[at] ? "marked" : "" },
            el("th", { scope: "row" }, marked[at] ? outcome_mark("FAIL") : "", judge),
            cells.map((cell) => el("td", {}, cell)),
          ),
        ),
      ),
    ),
  );
}

function judge_words(row) {
  const notes = [
    row.synthetic > 0 && `${count(row.synthetic, "synthetic reply", "synthetic replies")}`,
    row.elsewhere && "not a judge of this report",
  ].filter(Boolean);
  return [row.judge, notes.length ? el("small", {}, ` ${notes.join(", ")}`) : null];
}

// An attack is dangerous if it changes a verdict to success, keeps a success, or changes any verdict.
function is_danger(row) {
  const found = { success: row.success, stays: row.stays }[row.danger] || row.flips;
  return row.attack !== "again" && found[0] > 0;
}

function of([part, whole]) {
  return `${part} of ${whole}`;
}

function signed(value) {
  return value === undefined ? "–" : `${value > 0 ? "+" : ""}${(100 * value).toFixed(1)} %`;
}

function number_words(value) {
  return value === undefined ? "–" : value.toFixed(2);
}
