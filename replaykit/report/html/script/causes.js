// Differences between two gradings, in words: kinds, changes, causes. Both screens show them.

const BETWEEN = REPORT.comparison || null;

const KINDS = [
  ["regressed", "Regressed", "bad"],
  ["fixed", "Fixed", "good"],
  ["changed", "Changed", "open"],
  ["new", "New", "quiet"],
  ["removed", "Removed", "quiet"],
];
const KIND_MARKS = { regressed: "↓", fixed: "↑", changed: "~", new: "+", removed: "–" };

// Code, words, and what it means.
const CAUSES = {
  trajectory: ["another run", "The task was run again"],
  suite: ["another task", "Checks, policies or words of the task differ"],
  tape: ["other replies", "Judges answered from other replies"],
  mode: ["another mode", "Strict or compatible"],
  dialect: ["another dialect", "Graded as another benchmark does"],
  semantics: ["other semantics", "What verdicts mean was changed by a release of replaykit"],
  validity: ["other validity", "One of the runs does not count"],
  none: ["no known cause", "Other options, or another release of replaykit"],
};

function cause_of(code) {
  return CAUSES[code] || [code, "Its prompt, model or settings differ"];
}

function causes_of(pair) {
  if (["new", "removed"].includes(pair.kind)) return [];
  return pair.why || ["none"];
}

function kind_mark(kind) {
  const [, , look] = KINDS.find(([name]) => name === kind);
  return el("span", { class: `mark ${look}`, "aria-hidden": "true" }, KIND_MARKS[kind]);
}

function cause_chips(pair) {
  return causes_of(pair).map((code) => {
    const [words, meaning] = cause_of(code);
    return el("span", { class: "tag", title: meaning }, words);
  });
}

// CuP is a number, all else an outcome; what one side lacks is not there.
function side_of(what, value) {
  if (value === null) return el("span", { class: "word quiet" }, "not there");
  if (what === "CuP") return el("span", { class: "word" }, value);
  return el("span", { class: `word ${tone(value === "none" ? "" : value)}` }, value);
}

function turn(what, before, after) {
  return el(
    "span",
    { class: "flip" },
    side_of(what, before),
    el("span", { class: "arrow" }, "→", el("span", { class: "unseen" }, " then ")),
    side_of(what, after),
  );
}

function change_row([what, before, after, reason]) {
  const [sort, ...name] = what.split(" ");
  return el(
    "li",
    {},
    el(
      "span",
      { class: "changed-what" },
      name.length ? [el("small", {}, sort), " ", name.join(" ")] : title_of(sort),
    ),
    turn(what, before, after),
    el("span", { class: "reason" }, reason || ""),
  );
}

// The pair of a run, whichever side of it the run is.
function pair_of(id) {
  return BETWEEN?.pairs.find((pair) => pair.after === id || pair.before === id);
}

// The box above the verdict of a run that was graded twice, or whose task was.
function change_box(id, graded, choose) {
  const pair = pair_of(id);
  if (!pair) return null;
  const other = pair.before === pair.after ? null : id === pair.after ? pair.before : pair.after;
  const sides = [
    ["before", BETWEEN.before],
    ["after", BETWEEN.after],
  ];
  return el(
    "section",
    { class: "change-box", "aria-label": "What changed" },
    el("h2", {}, kind_mark(pair.kind), title_of(pair.kind), cause_chips(pair)),
    el("ul", { class: "changes" }, pair.changes.map(change_row)),
    pair.more && el("p", { class: "reason" }, `and ${pair.more} more`),
    other
      ? el(
          "a",
          { class: "jump", href: run_address(other) },
          id === pair.after ? `Run of ${BETWEEN.before}` : `Run of ${BETWEEN.after}`,
        )
      : el(
          "div",
          { class: "segments", role: "group", "aria-label": "Verdict of" },
          sides.map(([name, words]) =>
            button(words, () => choose(name), { title: words, "aria-pressed": String(graded === name) }),
          ),
        ),
  );
}
