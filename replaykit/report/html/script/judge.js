// What a judge was asked, the pictures it saw, and its reply.

function judge_panel(run, enlarge) {
  const told = run.judges || [];
  if (!told.length) return el("div", { class: "panel" }, empty("No judge was asked."));
  return el(
    "div",
    { class: "panel" },
    told.map((one, at) => judge_section(run, one, (run.verdict.judgements || [])[at] || {}, enlarge)),
  );
}

function judge_section(run, one, judgement, enlarge) {
  return el(
    "section",
    {},
    el("h2", {}, one.judge, " ", pill(judgement.outcome || "ERROR")),
    judgement.reason && el("p", { class: "reason" }, judgement.reason),
    judgement.detail && el("pre", {}, judgement.detail),
    claim_rows(judgement),
    (one.exchanges || []).map((exchange) => transcript(run, exchange, enlarge)),
    (one.exchanges || []).some((exchange) => exchange.parts) ? null : sent(run, one.images || [], enlarge),
    grounding(judgement.grounding || []),
    facts([
      ["fingerprint", judgement.fingerprint],
      [
        "pictures",
        judgement.images && judgement.images.n_sent !== undefined
          ? `${judgement.images.n_sent} sent of ${judgement.images.n_available}`
          : null,
      ],
      ["other mode", judgement.other_mode],
      ...(judgement.members || []).map((one) => [one.judge, `${one.outcome} (${one.reason})`]),
    ]),
  );
}

// Each need of the task and claim of the answer, with what the recording shows of it.
function claim_rows(judgement) {
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
        el("pre", {}, JSON.stringify(one.predicates, null, 1)),
      ),
    ),
    changes.map((one) =>
      el("p", {}, `no need explains: ${one.note || `${one.method} ${one.url}: ${one.status}`}`),
    ),
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
  return part.picture ? seen_picture(run, part.picture, "", enlarge) : el("pre", {}, part.text);
}

function sent(run, images, enlarge) {
  return el(
    "div",
    { class: "sent" },
    images.map((image) => seen_picture(run, image.digest, `step ${image.step}, ${image.role}`, enlarge)),
  );
}

function seen_picture(run, id, words, enlarge) {
  if (!(run.pictures || {})[id]?.[0])
    return el("p", { class: "notes" }, `picture ${String(id).slice(0, 12)} is not in this file`);
  return el(
    "figure",
    {},
    button(lazy_picture(run, id, { alt: "Picture that the judge saw" }), () => enlarge(id), {
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
