// The questions to a judge, the screenshots it saw, and its reply.

function judge_panel(run, enlarge, jump) {
  const judgements = run.judges || [];
  if (!judgements.length) return el("div", { class: "panel" }, empty("No judge was asked."));
  return el(
    "div",
    { class: "panel" },
    judgements.map((one, at) => judge_section(run, one, at, enlarge, jump)),
  );
}

function judge_section(run, one, at, enlarge, jump) {
  const judgement = (run.verdict.judgements || [])[at] || {};
  const quote = (run.quotes || [])[at];
  return el(
    "section",
    {},
    el("h2", {}, one.judge, " ", pill(judgement.outcome || "ERROR"), synthetic_tag(judgement)),
    judgement.reason && (why_row("judge", judgement, run) || el("p", { class: "reason" }, judgement.reason)),
    quote && el("p", { class: "quote" }, quote),
    judgement.detail && el("pre", {}, judgement.detail),
    member_rows(judgement.members || [], jump),
    criterion_rows(judgement, jump),
    claim_rows(judgement, jump),
    (one.exchanges || []).map((exchange) => transcript(run, exchange, enlarge)),
    (one.exchanges || []).some((exchange) => exchange.parts) ? null : sent(run, one.images || [], enlarge),
    grounding(judgement.grounding || []),
    facts([
      ["fingerprint", judgement.fingerprint],
      [
        "screenshots",
        judgement.images && judgement.images.n_sent !== undefined
          ? `${judgement.images.n_sent} sent of ${judgement.images.n_available}`
          : null,
      ],
      ["other mode", judgement.other_mode],
      ["judged by", judgement.basis],
      ["share", judgement.share && share_words(judgement.share)],
    ]),
  );
}

// Replies that no model gave.
function synthetic_words(judgement) {
  const n = (judgement.origins || {}).synthetic;
  return n > 0 ? count(n, "synthetic reply", "synthetic replies") : "";
}

function synthetic_tag(judgement) {
  const words = synthetic_words(judgement);
  return words && el("small", { class: "tag" }, words);
}

// The share that calibrated thresholds decided by.
function share_words(one) {
  const share = one.low === one.high ? one.low.toFixed(3) : `${one.low.toFixed(3)} to ${one.high.toFixed(3)}`;
  return `${share}, accepted from ${one.accept || "never"}, rejected up to ${one.reject || "never"}; was ${one.was}`;
}

// Each member of a panel with what it found.
function member_rows(members, jump) {
  return members.map((one) =>
    el(
      "details",
      {},
      el(
        "summary",
        {},
        el("b", {}, one.outcome),
        ` ${one.judge}`,
        el("small", { class: "tag" }, one.reason),
        synthetic_tag(one),
      ),
      criterion_rows(one, jump),
      claim_rows(one, jump),
    ),
  );
}

function step_links(steps, jump) {
  return [...new Set(steps)].map((step) => button(`step ${step}`, () => jump(step), { class: "jump" }));
}

// Each criterion with the steps that were cited, and what the story claimed.
function criterion_rows(judgement, jump) {
  const rows = judgement.criteria || [];
  if (!rows.length) return null;
  const process = judgement.process || {};
  const score = typeof process.score === "number" ? process.score.toFixed(3) : "unknown";
  const most = process.upper > process.score ? `, at most ${process.upper.toFixed(3)}` : "";
  return el(
    "div",
    {},
    el("p", { class: "reason" }, `process ${score}${most}`),
    rows.map((one) =>
      el(
        "div",
        { class: "criterion" },
        el("b", {}, one.verdict === "CANNOT_TELL" ? "CANNOT TELL" : one.verdict),
        ` ${one.id}: ${one.statement} `,
        el("small", { class: "tag" }, one.kind),
        one.reason && el("small", { class: "tag" }, one.reason),
        one.applies && one.applies !== "YES" && el("small", { class: "tag" }, `applies: ${one.applies}`),
        one.excused && el("small", { class: "tag" }, `${one.blocker}, ${one.excused}`),
        one.story && one.story !== one.verdict && el("small", { class: "tag" }, `story: ${one.story}`),
        one.seen && el("p", { class: "reason" }, one.seen),
        step_links(one.steps || [], jump),
      ),
    ),
    judgement.failure &&
      el(
        "p",
        {},
        `first failing step by the judge (${judgement.failure.code}): `,
        step_links([judgement.failure.step], jump),
      ),
  );
}

// Each need of the task and claim of the answer, with what the recording shows of it.
function claim_rows(judgement, jump) {
  const claims = judgement.claims || [];
  const changes = judgement.side_effects || [];
  if (!claims.length && !changes.length) return null;
  return el(
    "div",
    {},
    claims.map((one) =>
      el(
        "details",
        {},
        el(
          "summary",
          {},
          el("b", {}, one.finding),
          ` ${one.of === "task" ? "need" : "claim"} ${one.id}: “${one.quote}”`,
          one.reason && el("small", { class: "tag" }, one.reason),
          !one.key && el("small", { class: "tag" }, "not a key claim"),
        ),
        (one.predicates || []).map((predicate) => predicate_row(predicate, jump)),
      ),
    ),
    changes.map((one) =>
      el("p", {}, `${claims.length ? "no need" : "nothing"} explains: ${one.note || `${one.method} ${one.url}: ${one.status}`}`),
    ),
  );
}

// A statement in words, whether the recording shows it, and where.
function predicate_row(predicate, jump) {
  const { kind, ...fields } = predicate.states || {};
  const words = Object.entries(fields)
    .filter(([, value]) => value !== null && value !== "")
    .map(([name, value]) => `${name}: ${typeof value === "string" ? value : JSON.stringify(value)}`);
  const evidence = predicate.evidence || [];
  const steps = evidence.map((one) => one.step).filter((step) => Number.isInteger(step));
  return el(
    "div",
    { class: "criterion" },
    el("b", {}, predicate.finding),
    ` ${kind} `,
    el("small", {}, words.join(", ")),
    predicate.reason && el("small", { class: "tag" }, predicate.reason),
    step_links(steps, jump),
    evidence.map((one) => one.url && el("p", { class: "reason" }, [one.note, one.url].filter(Boolean).join(", "))),
  );
}

function transcript(run, exchange, enlarge) {
  return el(
    "div",
    { class: "transcript" },
    (exchange.system || []).length
      ? el(
          "details",
          {},
          el("summary", {}, "system text"),
          exchange.system.map((text) => el("pre", {}, text)),
        )
      : null,
    el(
      "div",
      { class: "turn asked" },
      el("small", {}, `asked · ${exchange.stage}${exchange.model ? ` · ${exchange.model}` : ""}`),
      (exchange.parts || [{ text: "The tape was not found: only the reply is known." }]).map((part) =>
        part_of(run, part, enlarge),
      ),
    ),
    el(
      "div",
      { class: "turn replied" },
      el(
        "small",
        {},
        ["replied", exchange.answered, exchange.origin, exchange.stop].filter(Boolean).join(" · "),
      ),
      el("pre", {}, exchange.reply || "(nothing)"),
      exchange.parsed && el("small", {}, `read as ${exchange.parsed}`),
    ),
  );
}

function part_of(run, part, enlarge) {
  return part.screenshot ? seen_screenshot(run, part.screenshot, "", enlarge) : el("pre", {}, part.text);
}

function sent(run, images, enlarge) {
  return el(
    "div",
    { class: "sent" },
    images.map((image) => seen_screenshot(run, image.digest, `step ${image.step}, ${image.role}`, enlarge)),
  );
}

function seen_screenshot(run, id, words, enlarge) {
  if (!(run.screenshots || {})[id]?.[0])
    return el("p", { class: "notes" }, `screenshot ${String(id).slice(0, 12)} is not in this file`);
  return el(
    "figure",
    {},
    button(lazy_screenshot(run, id, { alt: "Screenshot that the judge saw" }), () => enlarge(id), {
      class: "thumb",
    }),
    words && el("figcaption", {}, words),
  );
}

function grounding(rows) {
  if (!rows.length) return null;
  return el(
    "table",
    { class: "comparison" },
    el(
      "thead",
      {},
      el(
        "tr",
        {},
        ["in the answer", "kind", "visible at steps"].map((words) => el("th", { scope: "col" }, words)),
      ),
    ),
    el(
      "tbody",
      {},
      rows.map((one) =>
        el(
          "tr",
          {},
          el("td", {}, shown(one.span)),
          el("td", {}, shown(one.kind)),
          el("td", {}, (one.steps || []).join(", ") || "nowhere"),
        ),
      ),
    ),
  );
}
