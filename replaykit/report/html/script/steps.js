// The list of actions, with thoughts and messages between them.

function steps_list(run, moments, choose) {
  const list = el("ol", { class: "step-list" });
  const search = el("input", {
    type: "search",
    class: "find",
    placeholder: "Find in steps  /",
    "aria-label": "Find in steps",
    autocomplete: "off",
    spellcheck: "false",
    on: { input: () => narrow(search.value), keydown: (event) => event.key === "Enter" && first_found() },
  });
  const rows = moments.map((moment, at) => moment_row(run, moment, () => choose(at)));
  const none = el("li", { hidden: true }, el("p", { class: "thought" }, "No step matches."));
  list.append(...rows, none);
  const more = (run.n_steps || 0) - (run.steps || []).length;
  if (more > 0) list.append(el("li", {}, el("p", { class: "thought" }, `and ${more} more steps`)));

  function narrow(words) {
    const wanted = words.toLowerCase().split(/\s+/).filter(Boolean);
    rows.forEach((row) => {
      const text = row.textContent.toLowerCase();
      row.hidden = !wanted.every((word) => text.includes(word));
    });
    none.hidden = rows.some((row) => !row.hidden);
  }

  function first_found() {
    const at = rows.findIndex((row) => !row.hidden);
    if (at >= 0) choose(at);
  }

  function bring(row) {
    if (!row) return;
    const [top, bottom] = [row.offsetTop, row.offsetTop + row.offsetHeight];
    if (top < list.scrollTop || bottom > list.scrollTop + list.clientHeight) {
      list.scrollTop = top - list.clientHeight / 3;
    }
  }

  return {
    node: el(
      "nav",
      { class: "actions", "aria-label": "Steps" },
      el("div", { class: "pane-head" }, search),
      list,
    ),
    search,
    show(at) {
      rows.forEach((row, place) => {
        const action = row.querySelector("button.action");
        if (place === at) action.setAttribute("aria-current", "step");
        else action.removeAttribute("aria-current");
        // One stop of the Tab key, however long the run is: keys of their own walk the steps.
        action.tabIndex = place === at ? 0 : -1;
      });
      if (list.contains(document.activeElement)) rows[at]?.querySelector(".action").focus({ preventScroll: true });
      bring(rows[at]);
      // Rows never drawn yet are as high as the style sheet guesses: once they are drawn, look again.
      requestAnimationFrame(() => bring(rows[at]));
    },
  };
}

// The action of a run at a moment: its number and words.
function action_line(run, moment) {
  return [
    el("span", { class: "number" }, moment.step ? moment.key : ""),
    el(
      "span",
      { class: "what" },
      moment.step ? action_words(moment.step) : el("b", {}, title_of(moment.key)),
      ending_words(run, moment),
    ),
  ];
}

function moment_row(run, moment, action) {
  return el(
    "li",
    { class: moment.broken.length ? "bad" : "" },
    button(
      [
        action_line(run, moment),
        el("span", { class: "when" }, seconds(moment.t)),
      ],
      action,
      { class: "action" },
    ),
    moment.broken.map((one) =>
      el("p", { class: "flag" }, outcome_mark("VIOLATED"), one.id, " ", one.reason && el("small", {}, reason_words(run, "policy", one.reason))),
    ),
    moment.step?.error && el("p", { class: "flag error" }, outcome_mark("ERROR"), moment.step.error),
    moment.step?.thought && el("p", { class: "thought" }, moment.step.thought),
    moment.messages.map((one) => message_row(one)),
  );
}

function action_words(step) {
  const element = step.action?.element;
  const facts = step.action?.facts || {};
  const value = VALUES.map((name) => facts[name]).find((one) => one !== undefined);
  const named = element && (element.name || element.text || element.css || element.ref);
  return [
    el("b", {}, title_of(step.tag)),
    named && [" ", el("span", { class: "target-name" }, named)],
    value !== undefined && [" ", el("q", {}, value)],
    step.unseen && [" ", el("em", {}, "left no trace")],
    step.reported && [" ", el("em", { title: step.reported }, "reported differently")],
  ];
}

// Facts of an action that stand in its line.
const VALUES = ["value", "key", "labels", "values", "url", "text", "files", "name", "dy"];

function ending_of(run) {
  return run.ending ? `${run.ending.kind} by ${run.ending.cause}` : "interrupted";
}

function ending_words(run, moment) {
  if (moment.key !== "end") return null;
  return [
    " ",
    el("span", { class: "target-name" }, ending_of(run)),
    run.answer !== undefined && [" ", el("q", {}, run.answer || "(empty answer)")],
  ];
}

function message_row(one) {
  const approved = { true: "approved", false: "refused" }[one.approved];
  return el(
    "p",
    { class: `message ${one.role}` },
    el("small", {}, `${one.role} ${one.kind}${approved ? `, ${approved}` : ""}`),
    one.text,
  );
}
