// Rows of two runs: one step of either beside that of the other, unfolded where they differ.

const CONTEXT = 1;
const FOLD_MIN = 3;

function rows_list(runs, chosen) {
  const list = el("ol", { class: "pairings", "aria-label": "Steps of both runs" });
  const more = button("", () => draw(list.childElementCount + ROWS_AT_ONCE), { class: "more" });
  const node = el(
    "section",
    { class: "both-runs" },
    el("div", { class: "pairing-head", "aria-hidden": "true" }, el("span"), side_name(0), side_name(1)),
    list,
    more,
  );
  let items = [];
  let current = null;
  let drawn = "";
  let near = null;
  const by_node = new WeakMap();

  function draw(upto) {
    for (const item of items.slice(list.childElementCount, upto)) {
      list.append(item.node);
      watch(item);
    }
    const left = items.length - list.childElementCount;
    more.hidden = left <= 0;
    more.textContent = `Show ${left} more`;
  }

  // The content of an unfolded row is made when it comes near the screen.
  function watch(item) {
    by_node.set(item.node, item);
    near.observe(item.node);
  }

  function show(shown, narrowed) {
    const wanted = [shown.map((row) => row.place), filter.look, filter.when].join(" ");
    if (wanted === drawn) return arrive_at(filter.row);
    drawn = wanted;
    current = null;
    items = narrowed
      ? shown.map(item_of)
      : folded(shown).map((one) => (Array.isArray(one) ? fold(one) : item_of(one)));
    list.replaceChildren();
    draw(ROWS_AT_ONCE);
    arrive_at(filter.row);
  }

  function item_of(row) {
    return pairing(runs, row, () => choose(items.findIndex((item) => item.row === row)));
  }

  // Equal steps that are not next to a difference are collapsed into one line until it is opened.
  function fold(alike) {
    const item = {
      alike,
      node: el(
        "li",
        { class: "fold" },
        button(`${alike.length} steps alike`, () => unfold(item)),
      ),
    };
    return item;
  }

  function unfold(item) {
    const at = items.indexOf(item);
    const made = item.alike.map(item_of);
    items.splice(at, 1, ...made);
    item.node.replaceWith(...made.map((one) => one.node));
    made.forEach(watch);
    made[0].head.focus({ preventScroll: true });
    return at;
  }

  function arrive_at(place) {
    if (!place || items[current]?.row?.place === place) return;
    const hidden = items.find((item) => item.alike?.some((row) => row.place === place));
    if (hidden) unfold(hidden);
    visit(items.findIndex((item) => item.row?.place === place));
  }

  function choose(at) {
    mark_current(at);
    if (items[at]?.row) chosen(items[at].row.place);
  }

  function mark_current(at) {
    items[current]?.node.classList.remove("current");
    current = at;
    items[at]?.node.classList.add("current");
  }

  function visit(at) {
    const item = items[at];
    if (!item) return;
    if (item.alike) return visit(unfold(item));
    draw(at + ROWS_AT_ONCE);
    mark_current(at);
    item.open();
    item.head.focus({ preventScroll: true });
    item.node.scrollIntoView({ block: "nearest" });
    item.node.scrollIntoView({ block: "start" });
  }

  function move_to(at) {
    visit(at);
    if (items[current]?.row) chosen(items[current].row.place);
  }

  return {
    node,
    show,
    within(scroller) {
      new IntersectionObserver(
        (seen) => seen.some((one) => one.isIntersecting) && draw(list.childElementCount + ROWS_AT_ONCE),
        { root: scroller, rootMargin: "600px" },
      ).observe(more);
      near = new IntersectionObserver(
        (seen) => {
          for (const one of seen) by_node.get(one.target).come?.(one.isIntersecting);
        },
        { root: scroller, rootMargin: "1500px" },
      );
    },
    move: (by) =>
      move_to(Math.max(0, Math.min(items.length - 1, (current ?? (by > 0 ? -1 : items.length)) + by))),
    next_difference(by) {
      const found = items.flatMap((item, at) => (item.row && item.row.mark !== "same" ? [at] : []));
      if (!found.length) return;
      const from = current ?? (by > 0 ? -1 : items.length);
      move_to(
        by > 0
          ? (found.find((at) => at > from) ?? found[0])
          : (found.findLast((at) => at < from) ?? found.at(-1)),
      );
    },
    printing: (on) => {
      if (!on) return;
      draw(items.length);
      for (const item of items) item.fill?.();
    },
  };
}

// Rows in order; of those alike, lists of what is folded.
function folded(rows) {
  const near = new Set(
    rows.flatMap((row, at) =>
      row.mark === "same" ? [] : Array.from({ length: 2 * CONTEXT + 1 }, (_, by) => at - CONTEXT + by),
    ),
  );
  const found = [];
  let alike = [];
  const flush = () => {
    if (alike.length >= FOLD_MIN) found.push(alike);
    else found.push(...alike);
    alike = [];
  };
  rows.forEach((row, at) => {
    if (row.mark === "same" && !near.has(at) && row.place !== "end") {
      alike.push(row);
      return;
    }
    flush();
    found.push(row);
  });
  flush();
  return found;
}
