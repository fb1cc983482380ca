// The first screen of two reports: which verdicts flipped, and why.

const ENTRIES_AT_ONCE = 100;
const CHANGES_AT_ONCE = 8;

function entries_of() {
  if (!BETWEEN) return [];
  const alone = (kind) => BETWEEN[kind].map((id) => ({ kind, after: id, before: id, changes: [] }));
  const order = KINDS.map(([kind]) => kind);
  const all = [...BETWEEN.pairs, ...alone("new"), ...alone("removed")];
  return all.sort((a, b) => order.indexOf(a.kind) - order.indexOf(b.kind));
}

const ENTRIES = entries_of();

function entries_shown() {
  const words = filter.q.toLowerCase().split(/\s+/).filter(Boolean);
  return ENTRIES.filter((pair) => {
    if (filter.kind && pair.kind !== filter.kind) return false;
    if (filter.why && !causes_of(pair).includes(filter.why)) return false;
    return words.every((word) => entry_words(pair).includes(word));
  });
}

function entry_words(pair) {
  pair.hay = pair.hay || `${haystack(row_of(pair.after))} ${pair.changes.flat().join(" ").toLowerCase()}`;
  return pair.hay;
}

function changes_screen() {
  const list = el("ol", { class: "entries", "aria-label": "Changes" });
  const more = button("", () => draw(shown.length), { class: "more" });
  const bar = changes_bar(() => changed());
  const title = `${BETWEEN.before} → ${BETWEEN.after}`;
  const node = el(
    "main",
    { class: "overview", id: "main", tabindex: "-1" },
    el("h1", { class: "versus" }, BETWEEN.before, el("span", { class: "arrow" }, " → "), BETWEEN.after),
    changes_summary(),
    el(
      "div",
      { class: "cards" },
      paired_chart(),
      flow_chart(),
      causes_chart((code) => narrow(code)),
    ),
    bar,
    list,
    more,
    el("p", { class: "empty none", hidden: true }, "No change matches. "),
  );
  let shown = [];
  let current = -1;
  new IntersectionObserver(
    (seen) => seen.some((one) => one.isIntersecting) && draw(list.childElementCount + ENTRIES_AT_ONCE),
    { root: node, rootMargin: "600px" },
  ).observe(more);

  function draw(upto) {
    for (const pair of shown.slice(list.childElementCount, upto)) list.append(entry(pair));
    const left = shown.length - list.childElementCount;
    more.hidden = left <= 0;
    more.textContent = `Show ${left} more`;
  }

  function changed() {
    history.replaceState(null, "", address({}));
    refresh();
  }

  function narrow(code) {
    filter.why = filter.why === code ? "" : code;
    changed();
  }

  function refresh() {
    shown = entries_shown();
    current = -1;
    show_bar(bar, `${shown.length} of ${count(ENTRIES.length, "change")}`);
    node.querySelector(".none").hidden = shown.length > 0 || !ENTRIES.length;
    list.replaceChildren();
    draw(ENTRIES_AT_ONCE);
  }

  function visit(at) {
    if (at < 0 || at >= shown.length) return;
    draw(at + ENTRIES_AT_ONCE);
    list.children[current]?.classList.remove("current");
    current = at;
    list.children[at].classList.add("current");
    list.children[at].querySelector("a").focus({ preventScroll: true });
    list.children[at].scrollIntoView({ block: "nearest" });
  }

  // From regression to regression, round and round.
  function next_regression(by) {
    const lost = shown.flatMap((pair, at) => (pair.kind === "regressed" ? [at] : []));
    if (!lost.length) return;
    visit(
      by > 0
        ? (lost.find((at) => at > current) ?? lost[0])
        : (lost.findLast((at) => at < current) ?? lost.at(-1)),
    );
  }

  return {
    node,
    title,
    shown: refresh,
    printing: (on) => on && draw(shown.length),
    keys: {
      j: () => visit(Math.min(current + 1, shown.length - 1)),
      k: () => visit(Math.max(current - 1, 0)),
      ArrowDown: () => visit(Math.min(current + 1, shown.length - 1)),
      ArrowUp: () => visit(Math.max(current - 1, 0)),
      n: () => next_regression(1),
      p: () => next_regression(-1),
      "/": () => bar.querySelector("#search").focus(),
    },
  };
}

function changes_summary() {
  const counts = KINDS.map(([kind]) => [kind, ENTRIES.filter((pair) => pair.kind === kind).length]);
  return el(
    "div",
    { class: "notices" },
    el("p", { class: "sentence" }, changes_sentence(counts)),
    counts.map(([kind, n]) => n > 0 && el("span", { class: "notice" }, kind_mark(kind), `${n} ${kind}`)),
    el("span", {}, `${BETWEEN.same} the same`),
    ENTRIES.length === 0 && el("span", {}, "Nothing lies between the two: every outcome is the same."),
  );
}

const BECAME = {
  regressed: () => "regressed",
  fixed: (n) => (n === 1 ? "was fixed" : "were fixed"),
  changed: () => "changed otherwise",
  new: (n) => (n === 1 ? "is new" : "are new"),
  removed: (n) => (n === 1 ? "is gone" : "are gone"),
};

// A sentence that counts the runs by their change.
function changes_sentence(counts) {
  const total = BETWEEN.same + ENTRIES.length;
  const parts = counts.filter(([, n]) => n).map(([kind, n]) => `${n} ${BECAME[kind](n)}`);
  if (BETWEEN.same) parts.push(`${BETWEEN.same} came out the same`);
  const list = parts.length > 1 ? `${parts.slice(0, -1).join(", ")} and ${parts.at(-1)}` : parts.join("");
  const success = BETWEEN.rates.find((one) => one.metric === "success_rate");
  const moved = success && success.difference ? ` Success went from ${rate(success.before)} to ${rate(success.after)}.` : "";
  return total ? `Of ${count(total, "run")}, ${list}.${moved}` : "The reports hold no run.";
}

function changes_bar(changed) {
  const codes = [...new Set(ENTRIES.flatMap(causes_of))];
  const chips = KINDS.map(([kind, words]) => [
    kind,
    words,
    ENTRIES.filter((pair) => pair.kind === kind).length,
    kind_mark(kind),
  ]);
  return bar_of(
    { place: "Filter changes  /", search: "Filter changes by run, task, check or policy" },
    { label: "Kind", name: "kind", chips: [["", "All", ENTRIES.length], ...chips] },
    {
      label: "What else differs",
      name: "why",
      options: [["", "Any cause"], ...codes.map((code) => [code, title_of(cause_of(code)[0])])],
    },
    changed,
  );
}

function entry(pair) {
  const row = row_of(pair.after);
  const heads = pair.changes.filter(([what]) => what === "success" || what === "CuP");
  const rest = pair.changes.filter((change) => !heads.includes(change));
  const listed = [...heads, ...rest].slice(0, CHANGES_AT_ONCE);
  const left = pair.changes.length - listed.length + (pair.more || 0);
  const summary = row.error || row.intent || (row.task === row.name ? "" : row.task);
  return el(
    "li",
    { class: "entry" },
    el(
      "div",
      { class: "entry-head" },
      kind_mark(pair.kind),
      el("span", { class: "unseen" }, `${pair.kind}: `),
      el("a", { href: run_address(pair.after), title: row.task }, row.name),
      summary && el("span", { class: "intent" }, summary),
      el("span", { class: "space" }),
      pair.before !== pair.after &&
        el("a", { class: "jump", href: run_address(pair.before) }, `run of ${BETWEEN.before}`),
      cause_chips(pair),
      !pair.changes.length && pill(success_of(row) === "NONE" ? "" : success_of(row)),
    ),
    listed.length > 0 && el("ul", { class: "changes" }, listed.map(change_row)),
    left > 0 && el("p", { class: "left" }, `and ${left} more`),
  );
}
