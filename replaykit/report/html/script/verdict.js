// The verdict: checks with both sides of each comparison, policies with the steps that broke them.

function verdict_panel(run, jump) {
  const verdict = run.verdict || {};
  return el(
    "div",
    { class: "panel" },
    el("p", { class: "sentence" }, verdict_sentence(verdict, run)),
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
          verdict.findings.map((one) => finding_row(one, jump, run)),
          "",
        )
      : null,
  );
}

// The verdict in words: what was asked for, what was broken and where, what a judge says.
function verdict_sentence(verdict, run) {
  if (verdict.error) return "The bundle could not be graded.";
  const checks = verdict.checks || [];
  const passed = checks.filter((one) => one.outcome === "PASS").length;
  const failed = checks.find((one) => one.outcome !== "PASS");
  const sentences = [];
  if (checks.length && !failed) sentences.push(`The run passes ${checks.length === 1 ? "its check" : `all ${checks.length} checks`}.`);
  if (failed) {
    const became = { bad: "fails", open: "is undecided" }[tone(failed.outcome)] || "could not be graded";
    const why = reason_words(run, "check", failed.reason);
    sentences.push(`The run passes ${passed} of ${count(checks.length, "check")}. The check ${failed.id} ${became}: ${why}.`);
  }
  for (const one of (verdict.policies || []).filter((policy) => policy.outcome === "VIOLATED").slice(0, 2)) {
    const step = (one.evidence || []).map((found) => found.step).find((at) => at !== undefined && at !== null);
    const at = step === undefined ? "" : ` at step ${step}`;
    sentences.push(`It violates the policy ${one.id}${at}: ${reason_words(run, "policy", one.reason)}.`);
  }
  (verdict.judgements || []).forEach((one, at) => {
    sentences.push(judge_sentence(one, (run.quotes || [])[at], run));
  });
  return sentences.join(" ") || "Nothing was graded.";
}

// The verdict of a judge in its own words; without a verdict, the reason for that.
function judge_sentence(one, quote, run) {
  if (one.outcome !== "SUCCESS" && one.outcome !== "FAILURE")
    return `The judge ${one.judge} gives no verdict: ${reason_words(run, "judge", one.reason)}.`;
  const opening = `The judge ${one.judge} says ${one.outcome === "SUCCESS" ? "success" : "failure"}`;
  return quote ? `${opening}: ${cut_words(quote)}` : `${opening}.`;
}

function cut_words(words, most = 240) {
  return words.length > most ? `${words.slice(0, most - 1)}…` : words;
}

// The sentence that explains a reason; the word itself where no sentence is known.
function reason_words(run, kind, reason) {
  return (run.reasons || {})[`${kind}:${reason}`] || reason || "no reason is given";
}

function finding_row(one, jump, run) {
  return el(
    "div",
    {},
    el("b", {}, `${one.code} ${one.name}`),
    [one.severity === "fails" ? "may be why" : "note", one.recovered && "recovered"]
      .filter(Boolean)
      .map((word) => el("small", { class: "tag" }, word)),
    (one.evidence || []).map((evidence) => evidence_row(evidence, jump, run)),
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
      is_marred(verdict)
        ? marred_pill("PASS")
        : pill(
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

// Success that broke a policy on its way is not shown as a good one.
function is_marred(verdict) {
  return verdict.success === "PASS" && (verdict.policies || []).some((one) => one.outcome === "VIOLATED");
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
    el("span", { class: "names" }, el("span", { class: "title" }, title), subtitle && el("small", {}, subtitle)),
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
  const notes = [
    ...(check.missing || []).map((code) => `missing: ${code}`),
    ...(check.notes || []),
  ];
  return result(
    check.outcome,
    check.id.startsWith(check.type) ? check.type : `${check.id} (${check.type})`,
    check.outcome === "PASS" ? found_words(check) : reason_words(run, "check", check.reason),
    open || check.outcome !== "PASS",
    (check.evidence || []).map((one) => evidence_row(one, jump, run)),
    notes.length ? el("p", { class: "notes" }, notes.join("; ")) : null,
    proof_row(check.proof, "a channel that is"),
    remedy_rows(check, run),
    el(
      "p",
      { class: "rules" },
      (check.items || []).map((item) =>
        el(
          "span",
          { title: item.compat ? `in compat mode: ${item.compat}` : "" },
          outcome_mark(item.outcome),
          `${item.id}: ${item.rule}`,
        ),
      ),
    ),
  );
}

// The proof of an absence: a warning only where the record is not proven complete.
function proof_row(proof, words) {
  return proof ? el("p", { class: proof === "proven" ? "reason" : "notes" }, `rests on ${words} ${proof}`) : null;
}

// The value that a passed check found, in a few words.
function found_words(check) {
  const one = (check.evidence || []).find((evidence) => evidence.found);
  return one ? cut_words(`found ${shown(one.found.raw)}`, 60) : "";
}

// The sentence that explains a reason.
function why_row(kind, result, run) {
  const words = (run.reasons || {})[`${kind}:${result.reason}`];
  return words && words !== result.reason ? el("p", { class: "why" }, `${words[0].toUpperCase()}${words.slice(1)}.`) : null;
}

// Options that would have recorded the missing evidence.
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
    [title_of(policy.dimension), policy.source].join(" · "),
    bad,
    known.description ? el("p", { class: "description" }, known.description) : null,
    why_row("policy", policy, run),
    (policy.missing || []).length
      ? el("p", { class: "notes" }, `missing: ${policy.missing.join(", ")}`)
      : null,
    remedy_rows(policy, run),
    proof_row(policy.proof, "channels that are"),
    (policy.evidence || []).map((one) => evidence_row(one, jump, run)),
    known.rule
      ? el("details", { class: "rule" }, el("summary", {}, "rule"), el("pre", {}, indented(known.rule)))
      : null,
  );
}

function judge_line(one, quote, run) {
  return result(
    one.outcome,
    one.judge,
    synthetic_words(one),
    one.outcome !== "SUCCESS" || quote,
    why_row("judge", one, run),
    one.detail ? el("p", { class: "notes" }, one.detail) : null,
    quote ? el("p", { class: "quote" }, quote) : null,
  );
}

// A note may be the reason of a policy; then it is shown in words.
function note_words(note, run) {
  return (run.reasons || {})[`policy:${note}`] || note;
}

// Where a value was read, on demand: people know an element by its name.
function where_read(one) {
  return one.locator && el("details", { class: "rule" }, el("summary", {}, "where it was read"), el("code", {}, one.locator));
}

function evidence_row(one, jump, run = {}) {
  const step = one.step !== undefined && one.step !== null;
  const action = step && one.action && (run.steps || [])[one.step];
  return el(
    "div",
    { class: "evidence" },
    one.expected || one.found ? comparison(one.expected, one.found) : null,
    el(
      "p",
      {},
      step && button(`step ${one.step}`, () => jump(one.step), { class: "jump" }),
      [action ? action_words(action) : one.action, one.url && `on ${short_url(one.url)}`, one.excerpt && `“${one.excerpt}”`, note_words(one.note, run)]
        .filter(Boolean)
        .map((words) => el("span", {}, words)),
      [one.source, one.strength, one.tier].filter(Boolean).map((word) => el("small", { class: "tag" }, word)),
    ),
    where_read(one),
  );
}

// Case and a final full stop say nothing new.
function is_read_otherwise({ raw, normal, type }) {
  if (normal === undefined || shown(normal) === shown(raw)) return false;
  return type !== "text" || !shown(raw).toLowerCase().startsWith(shown(normal));
}

// Both sides of a comparison, side by side, with what each was read as where that differs.
function comparison(expected, found) {
  const side = (name, value) =>
    el(
      "div",
      { class: "side" },
      el("small", {}, name),
      el("pre", {}, value ? shown(value.raw) : "nothing"),
      value && is_read_otherwise(value)
        ? el("small", {}, `compared as ${shown(value.normal)}${value.type ? ` (${value.type})` : ""}`)
        : null,
    );
  return el("div", { class: "compared" }, side("Expected", expected), side("Found", found));
}
