// The other panels: one step in full, network, console and events, the run itself.

function step_panel(run, moment) {
  const { step } = moment;
  if (!step) return el("div", { class: "panel" }, moment.key === "end" ? ending_panel(run) : task_panel(run));
  const element = step.action?.element || {};
  return el(
    "div",
    { class: "panel" },
    el("p", { class: "line action-words" }, action_words(step)),
    step.error && el("p", { class: "flag error" }, outcome_mark("ERROR"), step.error),
    step.thought && el("blockquote", {}, step.thought),
    facts([
      ...Object.entries(step.action?.facts || {}),
      ["url", step.url],
      ["time", times(step)],
      ["reported", step.reported],
      ["tab", step.tab],
      ["raw", step.raw],
      ["returned", step.returned],
    ]),
    step.others &&
      section(
        "Seen",
        step.others.map((line) => el("p", { class: "line" }, line)),
        "",
      ),
    Object.keys(element).length ? section("Target", [target_facts(element)], "") : null,
    run.changes?.[moment.key] && section("Changed on the page", [el("pre", {}, run.changes[moment.key].join("\n"))], ""),
    moment.messages.length
      ? section(
          "Said",
          moment.messages.map((one) => message_row(one)),
          "",
        )
      : null,
    step.log && section("Log", [el("pre", {}, step.log.join("\n"))], ""),
  );
}

function times(step) {
  if (step.t === undefined) return null;
  return step.end !== undefined && step.end > step.t
    ? `${seconds(step.t)}, took ${seconds(step.end - step.t)}`
    : seconds(step.t);
}

function target_facts(element) {
  const { attributes, node, box, role, name, text, label, ...rest } = element;
  return el(
    "div",
    {},
    facts([
      ["role", role || rest.tag],
      ["name", name],
      ["label", label],
      ["text", text === name ? undefined : text],
    ]),
    el(
      "details",
      { class: "rule" },
      el("summary", {}, "selector and attributes"),
      facts([
        ...Object.entries(rest).map(([key, value]) => [key, shown(value)]),
        ["box", box && box.join(", ")],
        ...Object.entries(attributes || {}).map(([key, value]) => [`@${key}`, value]),
      ]),
    ),
  );
}

function task_panel(run) {
  const { intent, ...rest } = run.task || {};
  return [
    intent && el("blockquote", {}, intent),
    facts(Object.entries(rest).map(([name, value]) => [name, el("pre", {}, indented(value))])),
  ];
}

function ending_panel(run) {
  const ending = run.ending || {};
  return facts([
    ["ended", ending.kind ? `${ending.kind} by ${ending.cause}` : "interrupted: the recording has no ending"],
    ["answer", run.answer],
    ["validity", ending.validity],
    ["thought", ending.thought],
    ["error", ending.error],
    ["exit code", ending.exit_code],
  ]);
}

function network_panel(run, moment, state, changed) {
  const all = run.network || [];
  const rows = all.filter(
    (one) => (!state.here || one.step === moment.number) && (state.probes || !one.probe),
  );
  return el(
    "div",
    { class: "panel" },
    el(
      "div",
      { class: "options" },
      tick("this step only", "here", state, changed),
      tick("with probes", "probes", state, changed),
      el("small", {}, `${rows.length} of ${all.length}`),
    ),
    rows.length ? rows.map((one) => exchange_row(one)) : empty("No request."),
    run.more?.network ? el("p", { class: "notes" }, `and ${run.more.network} more`) : null,
  );
}

function tick(words, name, state, changed) {
  const box = el("input", { type: "checkbox", on: { change: () => changed({ [name]: box.checked }) } });
  box.checked = state[name];
  return el("label", {}, box, words);
}

function exchange_row(one) {
  const bad = one.error || one.status >= 400;
  return el(
    "details",
    { class: `exchange${bad ? " bad" : ""}` },
    el(
      "summary",
      {},
      el("b", {}, one.method),
      el("span", { class: bad ? "status bad" : "status" }, one.status ?? (one.error ? "failed" : "–")),
      el("span", { class: "path", title: one.url }, short_url(one.url)),
      el("small", {}, size(one.size)),
      el("small", {}, seconds(one.ms)),
    ),
    facts([
      ["url", one.url],
      ["type", [one.resource, one.mime].filter(Boolean).join(", ")],
      ["step", one.step],
      ["error", one.error],
      ["from", [one.cached && "cache", one.probe && "probe"].filter(Boolean).join(", ")],
    ]),
    headers("Request", one.asked),
    headers("Response", one.answered),
  );
}

function headers(title, rows) {
  return rows ? section(title, [facts(rows)], "") : null;
}

function console_panel(run, moment, state, changed) {
  const mine = (one) => !state.here || one.step === moment.number;
  const lines = (run.console || []).filter(mine);
  const events = (run.events || []).filter(mine);
  return el(
    "div",
    { class: "panel" },
    el("div", { class: "options" }, tick("this step only", "here", state, changed)),
    section(
      "Console",
      lines.map((one) =>
        el(
          "p",
          { class: `console ${one.level}` },
          el("small", {}, one.level),
          el("span", {}, one.text),
          one.source && el("small", {}, one.source),
        ),
      ),
      "Nothing was logged.",
    ),
    section(
      "Events",
      events.map((one) =>
        el(
          "p",
          { class: `console ${one.kind}` },
          el("small", {}, one.kind),
          el("span", {}, one.text),
          el("small", {}, seconds(one.t)),
        ),
      ),
      "Nothing else happened.",
    ),
  );
}

function talk_panel(run) {
  return el(
    "div",
    { class: "panel" },
    (run.messages || []).length ? run.messages.map((one) => message_row(one)) : empty("There are no messages."),
  );
}

function run_panel(run) {
  const header = run.header || {};
  const verdict = run.verdict || {};
  const pairs = (rows) =>
    facts(
      Object.entries(rows || {}).map(([name, value]) => [
        name.replaceAll("_", " "),
        Array.isArray(value) ? value.join(", ") : shown(value),
      ]),
    );
  return el(
    "div",
    { class: "panel" },
    section("Task", [task_panel(run)], ""),
    section(
      "Graded",
      [
        facts([
          ["trajectory", verdict.trajectory],
          ["suite", verdict.suite],
          ["tape", verdict.tape],
          ["mode", verdict.mode],
          ["dialect", verdict.dialect],
          ["semantics", verdict.semantics],
          ["validity", verdict.validity],
        ]),
      ],
      "",
    ),
    section(
      "Recorded",
      [
        facts([
          ["created", header.created],
          ["layout", run.layout && `${run.layout}, format ${run.format}`],
          ["derived", (header.derived || []).join(", ")],
          ["lost events", header.lost],
        ]),
        pairs(header.agent),
        pairs(header.environment),
        pairs(header.source),
      ],
      "",
    ),
    section("Sites", [pairs(header.sites)], ""),
    section("Channels", [pairs(header.channels)], ""),
    section(
      "Probes",
      (run.probes || []).map((one) => probe_row(one)),
      "No page was probed.",
    ),
  );
}

function probe_row(one) {
  return el(
    "details",
    { class: "exchange" },
    el(
      "summary",
      {},
      el("b", {}, one.phase),
      el("span", { class: "status" }, one.error ? "failed" : (one.status ?? "–")),
      el("span", { class: "path" }, one.requested || one.url),
    ),
    facts([["url", one.url], ["error", one.error], ...(one.reads || [])]),
  );
}
