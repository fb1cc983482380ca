// One run: film strip, steps, page, and what is known about them.

// Name, words, and how much there is: what has nothing is not offered, what cannot be counted always is.
const TABS = [
  ["verdict", "Verdict", (run) => (run.verdict ? null : 0)],
  ["step", "Step", () => null],
  ["judge", "Judge", (run) => (run.judges || []).length],
  ["talk", "Talk", (run) => (run.messages || []).length],
  ["network", "Network", (run) => (run.network || []).filter((one) => !one.probe).length],
  ["console", "Log", (run) => (run.console || []).length],
  ["run", "Run", () => null],
];

// Start, every step, end: what the film strip and the list are made of.
function moments_of(run) {
  const messages_at = (step) => (run.messages || []).filter((one) => (one.step ?? -1) === step);
  const broken = broken_steps(run);
  const steps = run.steps || [];
  const found = steps.map((step, at) => ({
    key: String(at),
    number: at,
    step,
    t: step.t,
    messages: messages_at(at),
    broken: broken.get(at) || [],
    before: step.before,
    after: step.after,
    shown: step.shown,
    frame: step.shown ?? step.after,
  }));
  const begins = run.start !== undefined && (run.start !== found[0]?.shown || messages_at(-1).length > 0);
  if (begins || !steps.length) found.unshift(still("start", run, run.start, messages_at(-1)));
  else if (found.length) found[0].messages = [...messages_at(-1), ...found[0].messages];
  found.push({ ...still("end", run, run.final ?? steps.at(-1)?.after, []), t: run.ending?.t });
  return found;
}

function still(key, run, at, messages) {
  const look = at === undefined ? {} : run.looks[at];
  return {
    key,
    number: null,
    step: null,
    t: look.t,
    messages,
    broken: [],
    before: at,
    after: at,
    shown: at,
    frame: at,
  };
}

function broken_steps(run) {
  const found = new Map();
  for (const policy of run.verdict?.policies || []) {
    if (policy.outcome !== "VIOLATED") continue;
    for (const one of policy.evidence || []) {
      if (one.step === undefined || one.step === null) continue;
      const here = found.get(one.step) || [];
      if (!here.includes(policy)) found.set(one.step, [...here, policy]);
    }
  }
  return found;
}

async function run_screen(id) {
  const run = await run_data(id);
  const row = row_of(id);
  const moments = moments_of(run);
  const state = { at: -1, tab: "verdict", kind: "screenshot", when: "before", graded: "after" };
  Object.assign(state, { here: false, probes: false });
  const stage = stage_of(run, (wanted) => go({ ...where(), ...wanted }));
  const film = film_of(run, moments, (at) => go({ ...where(), at }));
  const list = steps_list(run, moments, (at) => go({ ...where(), at }));
  const offered = TABS.filter(([, , count_of]) => count_of(run) !== 0);
  const tabs = el("div", { class: "tabs", role: "tablist", "aria-label": "Details" });
  const panel = el("div", { class: "panel-box", role: "tabpanel", id: "panel", tabindex: "0" });
  const voice = el("p", { class: "unseen", "aria-live": "polite" });
  const light = lightbox(run);

  const node = el(
    "main",
    { class: "run", id: "main", tabindex: "-1" },
    run_head(row, run),
    run.looks ? film.node : null,
    el(
      "div",
      { class: "body" },
      list.node,
      stage.node,
      el("section", { class: "details", "aria-label": "Details" }, tabs, panel),
    ),
    voice,
    light.node,
  );

  function where() {
    const { at, tab, kind, when, graded } = state;
    return { run: id, at, tab, kind, when, graded };
  }

  function show(wanted) {
    const at =
      wanted.step === undefined
        ? Math.max(
            0,
            moments.findIndex((one) => one.step),
          )
        : moments.findIndex((one) => one.key === wanted.step);
    const known = offered.some(([name]) => name === wanted.tab) ? wanted.tab : offered[0][0];
    const next = {
      at: Math.max(0, at),
      tab: known,
      kind: wanted.kind === "page" ? "page" : "screenshot",
      when: wanted.when === "after" ? "after" : "before",
      graded: wanted.graded === "before" && run.earlier ? "before" : "after",
    };
    if (!has_screenshots(run) && wanted.kind === undefined) next.kind = "page";
    Object.assign(state, next);
    film.show(state.at);
    list.show(state.at);
    stage.show(moments[state.at], { kind: state.kind, when: state.when });
    show_panel();
    voice.textContent = plain(moment_words(moments[state.at]));
  }

  function show_panel() {
    replace(
      tabs,
      offered.map(([name, words, count_of]) => tab_button(name, words, count_of(run))),
    );
    const chosen = tabs.querySelector('[aria-selected="true"]');
    tabs.scrollLeft = chosen.offsetLeft + chosen.offsetWidth + 8 - tabs.clientWidth;
    panel.setAttribute("aria-labelledby", `tab-${state.tab}`);
    replace(panel, panel_of(state.tab));
    if (state.tab === "judge") load_screenshots(panel);
  }

  function tab_button(name, words, n) {
    const chosen = name === state.tab;
    return button(n ? [words, " ", el("small", {}, String(n))] : words, () => go({ ...where(), tab: name }), {
      role: "tab",
      id: `tab-${name}`,
      "aria-selected": String(chosen),
      "aria-controls": "panel",
      tabindex: chosen ? "0" : "-1",
    });
  }

  function panel_of(name) {
    const moment = moments[state.at];
    const changed = (wanted) => {
      Object.assign(state, wanted);
      show_panel();
    };
    const made = {
      verdict: () => [
        change_box(id, state.graded, (graded) => go({ ...where(), tab: "verdict", graded })),
        verdict_panel(state.graded === "before" ? { ...run, verdict: run.earlier } : run, jump),
      ],
      step: () => step_panel(run, moment),
      judge: () => judge_panel(run, (screenshot) => light.open(screenshot), jump),
      talk: () => talk_panel(run),
      network: () => network_panel(run, moment, state, changed),
      console: () => console_panel(run, moment, state, changed),
      run: () => run_panel(run),
    };
    return made[name]();
  }

  function jump(step) {
    const at = moments.findIndex((one) => one.number === step);
    if (at >= 0) go({ ...where(), at, when: "before" });
  }

  function move(by) {
    const at = Math.max(0, Math.min(moments.length - 1, state.at + by));
    go({ ...where(), at });
  }

  // From violation to violation, round and round.
  function next_violation(by) {
    const broken = moments.flatMap((moment, at) => (moment.broken.length ? [at] : []));
    if (!broken.length) return;
    const found =
      by > 0
        ? (broken.find((at) => at > state.at) ?? broken[0])
        : (broken.findLast((at) => at < state.at) ?? broken.at(-1));
    go({ ...where(), at: found, tab: "verdict", when: "before" });
  }

  function move_tab(by) {
    const at = offered.findIndex(([name]) => name === state.tab);
    go({ ...where(), tab: offered[(at + by + offered.length) % offered.length][0] });
    tabs.querySelector('[aria-selected="true"]').focus();
  }

  // Paper has no clicks: what is folded is printed unfolded.
  let folded = [];
  function printing(on) {
    if (on) folded = [...panel.querySelectorAll("details:not([open])")];
    for (const one of folded) one.open = on;
    if (on) load_screenshots(node);
  }
  tabs.addEventListener("keydown", (event) => {
    if (event.key === "ArrowRight" || event.key === "ArrowLeft") {
      event.preventDefault();
      event.stopPropagation();
      move_tab(event.key === "ArrowRight" ? 1 : -1);
    }
  });

  // A browser prints at once, and waits for no screenshot: those of the strip are there before anybody asks.
  (window.requestIdleCallback || setTimeout)(() => load_screenshots(film.node));

  return {
    node,
    title: row.name,
    shown: show,
    moments,
    printing,
    keys: {
      j: () => move(1),
      k: () => move(-1),
      ArrowDown: () => move(1),
      ArrowUp: () => move(-1),
      ArrowRight: () => move(1),
      ArrowLeft: () => move(-1),
      n: () => next_violation(1),
      p: () => next_violation(-1),
      b: () => go({ ...where(), when: state.when === "before" ? "after" : "before" }),
      v: () => go({ ...where(), kind: state.kind === "screenshot" ? "page" : "screenshot" }),
      "/": () => list.search.focus(),
      "]": () => neighbour(id, 1),
      "[": () => neighbour(id, -1),
      u: () => go({}),
      Escape: () => light.close() || go({}),
    },
  };
}

function has_screenshots(run) {
  return Object.values(run.screenshots || {}).some(([name]) => name);
}

// The runs of each first screen, in its order, and the way back to it.
const FIRST_SCREENS = {
  runs: ["‹ Runs", () => filtered().map((place) => RUNS[place].id)],
  changes: ["‹ Changes", () => entries_shown().map((pair) => pair.after)],
  sides: ["‹ Both runs", () => RUNS.map((run) => run.id)],
};

function neighbour(id, by) {
  const ids = FIRST_SCREENS[first_screen()][1]();
  const at = ids.indexOf(id);
  const next = at < 0 ? undefined : ids[at + by];
  if (next !== undefined) go({ run: next });
}

function run_head(row, run) {
  return el(
    "header",
    { class: "run-head" },
    (ROWS.length > 1 || SIDES) &&
      el("a", { class: "back", href: address({}), title: "Back (u)" }, FIRST_SCREENS[first_screen()][0]),
    el("h1", { title: row.name }, row.name),
    run.verdict &&
      (row.violated && success_of(row) === "PASS"
        ? marred_pill("pass")
        : pill(
            success_of(row) === "NONE" ? "DORMANT" : success_of(row),
            success_of(row) === "NONE" ? "not graded" : success_of(row).toLowerCase(),
          )),
    row.violated ? pill("VIOLATED", `${row.violated} violated`) : null,
    el(
      "span",
      { class: "intent", title: row.intent || "" },
      run.unreadable ? run.unreadable : row.intent || "",
    ),
    ROWS.length > 1 &&
      el(
        "span",
        { class: "neighbours" },
        button("‹", () => neighbour(row.id, -1), { "aria-label": "Previous run", title: "Previous run ([)" }),
        button("›", () => neighbour(row.id, 1), { "aria-label": "Next run", title: "Next run (])" }),
      ),
  );
}

// A screenshot as large as the window.
function lightbox(run) {
  const node = el("dialog", {
    class: "lightbox",
    "aria-label": "Screenshot",
    on: { click: () => node.close() },
  });
  return {
    node,
    async open(id) {
      const src = await screenshot_address(run, id);
      if (!src) return;
      replace(node, el("img", { src, alt: "Screenshot that the judge saw" }));
      node.showModal();
    },
    close() {
      const was = node.open;
      if (was) node.close();
      return was;
    },
  };
}
