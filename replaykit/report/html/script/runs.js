// The table of runs: only the rows on the screen exist, whatever the number of runs.

const ROW_PX = 34;
const NARROW_ROW_PX = 62;
const SPARE_ROWS = 12;
const PRINTED_ROWS = 5000;

function runs_table(open) {
  const head = el("div", { class: "row head", role: "row" });
  const body = el("div", { class: "rows", role: "rowgroup" });
  const node = el(
    "div",
    { class: "table", role: "table", "aria-label": "Runs" },
    el("div", { role: "rowgroup" }, head),
    body,
  );
  const state = { places: [], current: -1, scroller: null };
  const rows = new Map();
  const height = () => (matchMedia("(max-width: 760px)").matches ? NARROW_ROW_PX : ROW_PX);

  function draw(everything = false) {
    const px = height();
    body.style.height = everything ? "auto" : `${state.places.length * px}px`;
    const [first, last] = everything ? [0, Math.min(state.places.length, PRINTED_ROWS)] : window_of(px);
    for (const [at, row] of rows) {
      if (at >= first && at < last) continue;
      row.remove();
      rows.delete(at);
    }
    // From the last one up: the row after each is there already.
    for (let at = last - 1; at >= first; at -= 1) {
      if (rows.has(at)) continue;
      rows.set(at, run_row(at, everything ? null : at * px));
      body.insertBefore(rows.get(at), rows.get(at + 1) || null);
    }
  }

  function forget() {
    rows.clear();
    body.replaceChildren();
  }

  function window_of(px) {
    const top = state.scroller.scrollTop - body.offsetTop;
    const first = Math.max(0, Math.floor(top / px) - SPARE_ROWS);
    const last = Math.ceil((top + state.scroller.clientHeight) / px) + SPARE_ROWS;
    return [Math.min(first, state.places.length), Math.max(0, Math.min(state.places.length, last))];
  }

  function run_row(at, top) {
    const run = RUNS[state.places[at]];
    return el(
      "div",
      {
        class: at === state.current ? "row current" : "row",
        role: "row",
        "aria-rowindex": String(at + 2),
        "data-at": String(at),
        css: top === null ? {} : { transform: `translateY(${top}px)` },
        on: { click: (event) => event.target.closest("a") || open(run.id) },
      },
      cells(run),
    );
  }

  function focus_current() {
    const row = body.querySelector(`[data-at="${state.current}"] a`);
    if (row) row.focus({ preventScroll: true });
  }

  return {
    node,
    // The element that scrolls: rows are placed by it.
    within(scroller) {
      state.scroller = scroller;
      scroller.addEventListener("scroll", () => draw(), { passive: true });
    },
    show(places) {
      const chosen = state.places[state.current];
      Object.assign(state, { places, current: places.indexOf(chosen) });
      forget();
      node.setAttribute("aria-rowcount", String(places.length + 1));
      replace(head, head_cells());
      draw();
    },
    redraw(everything) {
      forget();
      draw(everything);
    },
    // To the next run of a kind, round and round.
    move_to(wanted, by) {
      const found = state.places.flatMap((place, at) => (wanted(RUNS[place]) ? [at] : []));
      const next =
        by > 0
          ? (found.find((at) => at > state.current) ?? found[0])
          : (found.findLast((at) => at < state.current) ?? found.at(-1));
      if (next !== undefined) this.move(next - state.current);
    },
    move(by) {
      if (!state.places.length) return;
      state.current = Math.max(0, Math.min(state.places.length - 1, state.current + by));
      const top = body.offsetTop + state.current * height();
      const { scrollTop, clientHeight } = state.scroller;
      if (top < scrollTop + 120 || top > scrollTop + clientHeight - 80)
        state.scroller.scrollTop = top - clientHeight / 2;
      this.redraw();
      focus_current();
    },
  };
}

function head_cells() {
  return COLUMNS.map(([key, label]) => {
    const way = filter.sort === key ? "ascending" : filter.sort === `-${key}` ? "descending" : "none";
    const arrow = { ascending: " ↑", descending: " ↓", none: "" }[way];
    return el(
      "span",
      { class: `cell ${key}`, role: "columnheader", "aria-sort": way },
      el("a", { href: address({ sort: way === "ascending" ? `-${key}` : key }) }, label + arrow),
    );
  });
}

function cells(run) {
  const outcome = success_of(run);
  const cell = (key, ...kids) => el("span", { class: `cell ${key}`, role: "cell" }, kids);
  return [
    cell(
      "name",
      outcome_mark(run.violated && outcome === "PASS" ? "VIOLATED" : outcome === "NONE" ? "" : outcome),
      el("a", { href: run_address(run.id), title: run.name }, run.name),
      el("span", { class: "intent" }, run.error ? run.error : run.intent || run.task),
    ),
    cell("checks", run.checks ? `${run.passed}/${run.checks}` : "–"),
    cell("policies", policies_words(run)),
    cell("judge", run.judges ? run.judges.map(([, outcome]) => pill(outcome, outcome.toLowerCase())) : "–"),
    cell("success", outcome === "NONE" ? "–" : success_pill(run, outcome)),
    cell("cup", String(run.cup ?? "–")),
    cell("steps", run.steps ?? "–"),
    cell("ms", seconds(run.ms) || "–"),
  ];
}

// Green is for runs that also kept every policy.
function success_pill(run, outcome) {
  return run.violated && outcome === "PASS" ? marred_pill(outcome) : pill(outcome);
}

function policies_words(run) {
  if (!run.policies) return "–";
  if (run.violated) return pill("VIOLATED", `${run.violated} violated`);
  if (run.open) return pill("UNDECIDED", `${run.open} open`);
  return run.dormant ? "dormant" : "ok";
}
