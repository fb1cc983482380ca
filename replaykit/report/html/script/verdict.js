// What grading says: checks with both sides of each comparison, policies with the steps that broke them.

function verdict_panel(run, jump) {
  const verdict = run.verdict || {};
  return el(
    "div",
    { class: "panel" },
    summary_of(verdict, run),
    verdict.error && error_of(verdict.error),
    section(
      "Checks",
      (verdict.checks || []).map((check, _, all) => check_row(check, run, all.length <= 2, jump)),
      verdict.error
        ? "The run was not graded."
        : verdict.success === "ERROR"
          ? "The task has no checks, no judge and no policies: nothing says what success is."
          : "The task has no checks.",
    ),
    section(
      "Policies",
      (verdict.policies || []).map((policy) => policy_row(policy, run, jump)),
      verdict.error ? "The run was not graded." : "The task has no policies.",
    ),
    (verdict.judgements || []).length
      ? section(
          "Judges",
          verdict.judgements.map((one, at) => judge_line(one, (run.quotes || [])[at], run)),
          "",
        )
      : null,
    (verdict.findings || []).length
      ? section(
          "Findings",
          verdict.findings.map((one) => finding_row(one, jump)),
          "",
        )
      : null,
  );
}

function finding_row(one, jump) {
  return el(
    "div",
    {},
    el("b", {}, `${one.code} ${one.name}`),
    [one.severity === "fails" ? "may be why" : "note", one.recovered && "recovered"]
      .filter(Boolean)
      .map((word) => el("small", { class: "tag" }, word)),
    (one.evidence || []).map((evidence) => evidence_row(evidence, jump)),
  );
}

function section(title, rows, nothing) {
  return el(
    "section",
    {},
    el("h2", {}, title, " ", rows.length > 1 && el("small", {}, String(rows.length))),
    rows.length ? rows : empty(nothing),
  );
}

function summary_of(verdict, run) {
  const done = verdict.completion;
  return el(
    "div",
    { class: "sums" },
    sum(
      "Success",
      pill(
        verdict.error ? "ERROR" : verdict.success || "NONE",
        verdict.error ? "ERROR" : verdict.success || "none",
      ),
    ),
    verdict.first_failure &&
      sum(
        "First failing step",
        el("b", {}, String(verdict.first_failure.step)),
        `${verdict.first_failure.name} (${verdict.first_failure.code})`,
      ),
    done && sum("Completion", pill(done.outcome), `${Math.round(100 * done.partial_fraction)} % of items`),
    sum("CuP", el("b", {}, verdict.completion ? String(verdict.cup ?? 0) : "–")),
    run.answer !== undefined &&
      el(
        "div",
        { class: "answer" },
        el("small", {}, "Answer"),
        el("p", scrolled(run.answer, "Answer"), run.answer || "(empty)"),
      ),
  );
}

function sum(name, ...kids) {
  return el("div", { class: "sum" }, el("small", {}, name), kids);
}

function error_of(error) {
  return el(
    "div",
    { class: "flag error" },
    outcome_mark("ERROR"),
    el("b", {}, error.class),
    facts(Object.entries(error.fields || {}).map(([name, value]) => [name, shown(value)])),
  );
}

function result(outcome, title, subtitle, open, ...kids) {
  const body = kids.flat(2).filter(Boolean);
  const head = [
    outcome_mark(outcome),
    el("span", { class: "title" }, title),
    el("small", {}, subtitle),
    el("span", { class: `word ${tone(outcome)}` }, outcome),
  ];
  return el(
    "details",
    { class: `result ${tone(outcome)}`, open },
    el("summary", {}, head),
    body.length ? body : empty("Nothing more to say."),
  );
}

function check_row(check, run, open, jump) {
  const first = (check.evidence || [])[0] || {};
  const notes = [
    ...(check.missing || []).map((code) => `missing: ${code}`),
    ...(check.proof ? [`rests on a channel that is ${check.proof}`] : []),
    ...(check.notes || []),
  ];
  return result(
    check.outcome,
    check.type,
    [first.locator || first.item || check.id, check.reason].filter(Boolean).join(" · "),
    open || check.outcome !== "PASS",
    (check.evidence || []).map((one) => evidence_row(one, jump)),
    why_row("check", check, run),
    notes.length ? el("p", { class: "notes" }, notes.join("; ")) : null,
    remedy_rows(check, run),
    el(
      "p",
      { class: "rules" },
      (check.items || []).map((item) =>
        el(
          "span",
          { title: item.compat ? `the peer would say ${item.compat}` : "" },
          outcome_mark(item.outcome),
          `${item.id}: ${item.rule}`,
        ),
      ),
    ),
  );
}

// What the word of a reason means.
function why_row(kind, result, run) {
  const words = (run.reasons || {})[`${kind}:${result.reason}`];
  return words && words !== result.reason ? el("p", { class: "why" }, `${words[0].toUpperCase()}${words.slice(1)}.`) : null;
}

// What would have recorded the evidence that is missing.
function remedy_rows(result, run) {
  if (result.outcome !== "UNDECIDED") return null;
  const known = (result.missing || []).map((code) => (run.remedies || {})[code]).filter(Boolean);
  return [...new Set(known)].slice(0, 3).map((one) => el("p", { class: "remedy" }, `To decide it: ${one}.`));
}

function policy_row(policy, run, jump) {
  const known = (run.policies || {})[policy.id] || {};
  const bad = tone(policy.outcome) !== "good" && tone(policy.outcome) !== "quiet";
  return result(
    policy.outcome,
    policy.id,
    [title_of(policy.dimension), policy.source, policy.reason].filter(Boolean).join(" · "),
    bad,
    known.description ? el("p", { class: "description" }, known.description) : null,
    why_row("policy", policy, run),
    (policy.missing || []).length
      ? el("p", { class: "notes" }, `missing: ${policy.missing.join(", ")}`)
      : null,
    remedy_rows(policy, run),
    policy.proof ? el("p", { class: "notes" }, `rests on channels that are ${policy.proof}`) : null,
    (policy.evidence || []).map((one) => evidence_row(one, jump)),
    known.rule
      ? el("details", { class: "rule" }, el("summary", {}, "rule"), el("pre", {}, indented(known.rule)))
      : null,
  );
}

function judge_line(one, quote, run) {
  return result(
    one.outcome,
    one.judge,
    one.reason,
    one.outcome !== "SUCCESS" || quote,
    why_row("judge", one, run),
    one.detail ? el("p", { class: "notes" }, one.detail) : null,
    quote ? el("p", { class: "quote" }, quote) : null,
  );
}

function evidence_row(one, jump) {
  const step = one.step !== undefined && one.step !== null;
  return el(
    "div",
    { class: "evidence" },
    one.expected || one.found ? comparison(one.expected, one.found) : null,
    el(
      "p",
      {},
      step && button(`step ${one.step}`, () => jump(one.step), { class: "jump" }),
      [one.action, one.locator, one.url && short_url(one.url), one.excerpt && `“${one.excerpt}”`, one.note]
        .filter(Boolean)
        .map((words) => el("span", {}, words)),
      [one.source, one.strength, one.tier].filter(Boolean).map((word) => el("small", { class: "tag" }, word)),
    ),
  );
}

function comparison(expected, found) {
  const normal = [expected, found].some(
    (side) => side && side.normal !== undefined && shown(side.normal) !== shown(side.raw),
  );
  const side = (name, value) =>
    el(
      "tr",
      {},
      el("th", { scope: "row" }, name),
      el("td", {}, value ? shown(value.raw) : "–"),
      normal && el("td", {}, value && value.normal !== undefined ? shown(value.normal) : "–"),
      el("td", { class: "kind" }, value?.type || ""),
    );
  return el(
    "table",
    { class: "comparison" },
    normal &&
      el(
        "thead",
        {},
        el(
          "tr",
          {},
          el("td"),
          ["as found", "as compared"].map((words) => el("th", { scope: "col" }, words)),
          el("td"),
        ),
      ),
    el("tbody", {}, side("expected", expected), side("found", found)),
  );
}
