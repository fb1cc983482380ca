// The page on which a person labels runs. Recorded words become text only; see nodes.js.
(() => {
"use strict";

const ANSWERS = [
  ["success", "y", "Yes", "the run did what the task asks"],
  ["failure", "n", "No", "it did not"],
  ["unsure", "u", "Unsure", "the recording does not show it"],
  ["not_executable", "x", "Not executable", "a CAPTCHA, or the site was down"],
];

const YES_NO = [
  ["", "Not answered"],
  ["yes", "Yes"],
  ["no", "No"],
  ["unsure", "Unsure"],
];

// Keys of further questions, by their order.
const QUESTION_KEYS = ["l", "e"];

const KEYS = [
  ["y n u x", "yes, no, unsure, not executable"],
  ["l e", "next answer to the question about loops, about side effects"],
  ["c", "write a comment; Esc leaves it"],
  ["Enter", "save and go to the next run; Shift+Enter begins a line in the comment"],
  ["j k", "next, previous step"],
  ["t", "to the task"],
  ["a", "to the answer"],
  ["f", "to the final page"],
  ["o", "open the page of this step in a tab of its own"],
  ["[ ]", "previous, next run"],
  ["q", "to the button that ends labelling"],
  ["?", "these keys"],
];

const app = document.getElementById("app");
const status_line = el("p", { class: "status-line", role: "status" });
const place_words = el("p", { class: "label" });
const end_button = button("End", end, { class: "end" });
const help = help_dialog();
const main = el("main", { id: "stage", tabindex: "-1" });
// Answers that are not saved yet, by run.
const drafts = new Map();
let state = null;
let current = null;
let busy = false;
let warned = false;

add(app, [
  el(
    "header",
    { class: "top" },
    el("span", { class: "brand" }, el("i", { "aria-hidden": "true" }), "replaykit label"),
    place_words,
    el("span", { class: "space" }),
    button("Keys ?", () => help.showModal(), { "aria-keyshortcuts": "?" }),
    end_button,
  ),
  main,
  status_line,
  help,
]);
document.addEventListener("keydown", on_key);
start();

async function ask(address, posted) {
  const given = posted === undefined ? {} : { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(posted) };
  const reply = await fetch(address, given);
  if (!reply.ok) throw new Error((await reply.text()).trim());
  return reply.json();
}

async function start() {
  try {
    state = await ask("runs");
    if (state.next === null) all_labelled();
    else await show(state.next);
  } catch (error) {
    show_status(`This page cannot go on: ${error.message}`, true);
  }
}

function show_status(words, bad = false) {
  status_line.className = bad ? "status-line bad" : "status-line";
  replace(status_line, words);
}

function help_dialog() {
  const rows = KEYS.map(([keys, words]) => [
    el("dt", {}, keys.split(" ").map((key) => el("kbd", {}, key))),
    el("dd", {}, words),
  ]);
  const node = el("dialog", { class: "help", "aria-label": "Keys" }, el("h2", {}, "Keys"), el("dl", {}, rows));
  add(node, [button("Close", () => node.close())]);
  return node;
}

// One run, and the questions beside it.
async function show(place) {
  let run;
  try {
    run = await ask(`runs/${place}`);
  } catch (error) {
    // The others can still be labelled.
    run = { rows: [], unreadable: error.message };
  }
  const draft = drafts.get(place) || { label: "", note: "", others: {}, ...run.saved };
  drafts.set(place, draft);
  const heading = el("h1", { tabindex: "-1", id: "task" }, run.intent || "The run names no task.");
  current = { place, draft, run, steps: [], at: -1, heading };
  replace(main, el("div", { class: "desk" }, run_of(place, run, heading), run.unreadable ? moves() : form_of(draft)));
  const done = state.labels.filter(Boolean).length;
  replace(place_words, `Run ${place + 1} of ${state.labels.length} · ${done} labelled by ${state.annotator}`);
  document.title = `Run ${place + 1} of ${state.labels.length} · Label runs`;
  main.querySelectorAll(".scroller").forEach((node) => node.scrollTo(0, 0));
  heading.focus();
  show_status(state.labels[place] ? "This run is labelled. Saving replaces the label." : "");
}

function run_of(place, run, heading) {
  return el(
    "section",
    { class: "run scroller", "aria-label": "Run", tabindex: "0" },
    el("p", { class: "kind" }, "Task"),
    heading,
    run.unreadable ? el("p", { class: "bad", role: "alert" }, `The run cannot be read: ${run.unreadable}`) : null,
    run.unreadable ? null : answer_of(run),
    el("h2", { id: "steps" }, "Steps"),
    run.rows.length ? el("ol", { class: "steps" }, run.rows.map((row) => row_of(place, row))) : el("p", { class: "empty" }, "None."),
    run.more ? el("p", { class: "empty" }, `${run.more} more steps are not listed.`) : null,
    el("h2", { id: "final", tabindex: "-1" }, "Final page"),
    run.final ? page_of(place, run.final, "Final page") : el("p", { class: "empty" }, "No page was recorded."),
    run.digest ? el("p", { class: "empty" }, `Run ${run.digest}`) : null,
  );
}

function answer_of(run) {
  const answer = run.answered ? run.answer || "(empty text)" : null;
  const ending = run.ending && run.ending !== "answered" ? `The run ended: ${run.ending.replaceAll("_", " ")}.` : null;
  return [
    el("h2", { id: "answer", tabindex: "-1" }, "Answer"),
    answer ? el("p", { class: "words" }, answer) : el("p", { class: "empty" }, "The agent gave no answer."),
    ending && el("p", { class: "empty" }, ending),
  ];
}

function row_of(place, row) {
  if (row.by)
    return el("li", { class: "message" }, el("b", {}, row.by === "user" ? "User" : "Agent"), el("p", { class: "words" }, row.text));
  const node = el(
    "li",
    { tabindex: "-1" },
    el("p", { class: "action" }, el("b", {}, `Step ${row.step}`), el("code", {}, row.line)),
    row.thought && el("details", {}, el("summary", {}, "What the agent thought"), el("p", { class: "words" }, row.thought)),
    row.page ? page_of(place, row.page, `Page before step ${row.step}`, row.box) : el("p", { class: "empty" }, `No page was recorded. ${row.url || ""}`),
  );
  current.steps.push(node);
  return node;
}

// A screenshot or a drawn page, loaded when it comes into view; its link opens it by itself.
function page_of(place, page, words, box) {
  const address = `runs/${place}/${page.kind}/${page.at}`;
  const [wide, tall] = page.viewport || [1280, 720];
  const name = `${words}: ${page.title || page.url || "untitled"}`;
  const shown = page.kind === "screenshot" ? image_of(address, name) : frame_of(address, name, wide, tall);
  const mark = box && el("i", { class: "target", "aria-hidden": "true", css: placed(box, wide, tall) });
  const sheet = el("div", { class: `sheet ${page.kind}`, css: { "--wide": String(wide), "--tall": String(tall) } }, shown, mark);
  if (page.kind === "page") watch(sheet, wide);
  return el(
    "figure",
    {},
    sheet,
    el(
      "figcaption",
      {},
      el("span", {}, words, page.kind === "page" ? ", drawn from the recorded page; its colours are not kept" : ""),
      el("span", { class: "url" }, page.url),
      el("a", { href: address, target: "_blank", rel: "noopener noreferrer", class: "open" }, "Open", el("span", { class: "unseen" }, ` ${words} in a new tab`)),
    ),
  );
}

function image_of(address, name) {
  const node = el("img", { loading: "lazy", alt: name });
  node.addEventListener("load", () => node.parentElement.classList.add("loaded"));
  node.addEventListener("error", () => node.replaceWith(el("p", { class: "empty" }, "The screenshot is missing from the bundle, or damaged.")));
  node.src = address;
  return node;
}

function frame_of(address, name, wide, tall) {
  return el("iframe", {
    sandbox: "",
    loading: "lazy",
    referrerpolicy: "no-referrer",
    tabindex: "-1",
    title: name,
    width: String(wide),
    height: String(tall),
    src: address,
  });
}

function placed([x, y, width, height], wide, tall) {
  const part = (n, whole) => `${(100 * n) / whole}%`;
  return { left: part(x, wide), top: part(y, tall), width: part(width, wide), height: part(height, tall) };
}

// Frames are not scaled by lengths of CSS: a page is drawn at its own width and shrunk.
function watch(sheet, wide) {
  const watching = new ResizeObserver(() => {
    if (sheet.isConnected) sheet.style.setProperty("--scale", String(sheet.clientWidth / wide));
    else watching.disconnect();
  });
  requestAnimationFrame(() => watching.observe(sheet));
}

function change(draft, given) {
  Object.assign(draft, given, { changed: true });
  warned = false;
}

function form_of(draft) {
  const note = el("textarea", { id: "note", rows: "3", maxlength: String(state.note_max) });
  note.value = draft.note || "";
  note.addEventListener("input", () => { change(draft, { note: note.value }); });
  const form = el(
    "form",
    { class: "ask scroller", "aria-label": "Label", on: { submit: (event) => { event.preventDefault(); save(); } } },
    choices("label", "Did the run succeed?", null, ANSWERS.map(([value, key, words, more]) => [value, words, key, more]), draft.label, (label) => change(draft, { label })),
    Object.entries(state.questions).map(([name, words], number) =>
      choices(name, words, QUESTION_KEYS[number], YES_NO.map(([value, name]) => [value, name]), draft.others?.[name] || "", (value) => change(draft, { others: { ...draft.others, [name]: value } })),
    ),
    el("label", { for: "note" }, "Comment", el("kbd", {}, "c")),
    note,
    el("div", { class: "row" }, el("button", { type: "submit", class: "save" }, "Save and next", el("kbd", {}, "Enter"))),
  );
  add(form, [moves()]);
  return form;
}

function moves() {
  return el(
    "nav",
    { class: "row moves", "aria-label": "Runs" },
    button(["Previous run", el("kbd", {}, "[")], () => move(-1)),
    button(["Next run", el("kbd", {}, "]")], () => move(1)),
  );
}

function choices(name, words, key, options, chosen, changed) {
  return el(
    "fieldset",
    { "data-question": name, class: key ? "further" : "main" },
    el("legend", {}, words, key && el("kbd", {}, key)),
    options.map(([value, text, own, more]) => {
      const input = el("input", { type: "radio", name, value, checked: value === chosen, on: { change: () => changed(value) } });
      return el("label", {}, input, el("span", {}, text, more && el("small", {}, more)), own && el("kbd", {}, own));
    }),
  );
}

function choose(name, value) {
  const input = [...main.querySelectorAll(`fieldset[data-question="${name}"] input`)].find((one) => one.value === value);
  if (!input) return;
  input.checked = true;
  input.dispatchEvent(new Event("change"));
  input.focus({ preventScroll: false });
}

function next_answer(number) {
  const name = Object.keys(state.questions)[number];
  const inputs = [...main.querySelectorAll(`fieldset[data-question="${name}"] input`)];
  const at = inputs.findIndex((one) => one.checked);
  if (inputs.length) choose(name, inputs[(at + 1) % inputs.length].value);
}

async function save() {
  if (!current || current.run.unreadable || busy) return;
  const { place, draft } = current;
  if (!draft.label) {
    show_status("Choose an answer first: y, n, u or x.", true);
    main.querySelector("fieldset.main input").focus();
    return;
  }
  busy = true;
  try {
    state = await ask(`runs/${place}`, { label: draft.label, note: draft.note || "", others: draft.others || {} });
    drafts.delete(place);
    if (state.next === null) all_labelled();
    else {
      await show(state.next);
      show_status(`Saved run ${place + 1}.`);
    }
  } catch (error) {
    show_status(`Not saved: ${error.message}`, true);
  } finally {
    busy = false;
  }
}

async function move(by) {
  const total = state.labels.length;
  const from = current ? current.place : by > 0 ? -1 : total;
  const to = from + by;
  if (busy || to < 0 || to >= total) {
    show_status(to < 0 ? "This is the first run." : "This is the last run.");
    return;
  }
  busy = true;
  await show(to).finally(() => { busy = false; });
}

function all_labelled() {
  current = null;
  const heading = el("h1", { tabindex: "-1" }, "Every run is labelled.");
  replace(place_words, `${state.labels.length} of ${state.labels.length} labelled by ${state.annotator}`);
  document.title = "Every run is labelled · Label runs";
  replace(
    main,
    el(
      "div",
      { class: "done" },
      heading,
      el("p", {}, `${state.summary}. The labels are in ${state.file}.`),
      el("p", {}, "Press Enter to end, or [ to go back to the last run."),
      el("div", { class: "row" }, button(["End labelling", el("kbd", {}, "Enter")], end, { class: "save" }), button(["Previous run", el("kbd", {}, "[")], () => move(-1))),
    ),
  );
  heading.focus();
  show_status("");
}

async function end() {
  // An unsaved answer is lost with the page: the first press warns of that.
  if (current?.draft.changed && !warned) {
    warned = true;
    show_status("The answer to this run is not saved. Press End again to end without it.", true);
    return;
  }
  // The server may be gone before its reply has arrived.
  state = await ask("end", {}).catch(() => state);
  current = null;
  document.removeEventListener("keydown", on_key);
  const heading = el("h1", { tabindex: "-1" }, "Labelling has ended.");
  replace(main, el("div", { class: "done" }, heading, el("p", {}, `${state ? state.summary : ""}. You can close this page. The same command continues.`)));
  end_button.remove();
  replace(place_words);
  show_status("");
  document.title = "Ended · Label runs";
  heading.focus();
}

function step_by(by) {
  if (!current || !current.steps.length) return;
  current.at = Math.min(Math.max(current.at + by, 0), current.steps.length - 1);
  current.steps[current.at].focus();
}

function to(id) {
  const node = document.getElementById(id);
  if (!node) return;
  node.scrollIntoView({ block: "start" });
  node.focus({ preventScroll: true });
}

function open_page() {
  const near = document.activeElement.closest("li, #final");
  const figure = near?.id === "final" ? near.nextElementSibling : near;
  figure?.querySelector("a.open")?.click();
}

function on_key(event) {
  if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing || help.open) return;
  const target = event.target;
  if (target.matches?.("textarea")) {
    if (event.key === "Escape") current?.heading.focus();
    else if (event.key === "Enter" && !event.shiftKey) { event.preventDefault(); save(); }
    return;
  }
  // A focused control keeps its own meaning of Enter.
  if (event.key === "Enter" && target.closest?.("button, a, summary, form")) return;
  const command = COMMANDS[event.key];
  if (!command) return;
  event.preventDefault();
  command();
}

const COMMANDS = {
  ...Object.fromEntries(ANSWERS.map(([value, key]) => [key, () => choose("label", value)])),
  ...Object.fromEntries(QUESTION_KEYS.map((key, number) => [key, () => next_answer(number)])),
  c: () => document.getElementById("note")?.focus(),
  Enter: () => (current ? save() : end()),
  j: () => step_by(1),
  k: () => step_by(-1),
  t: () => to("task"),
  a: () => to("answer"),
  f: () => to("final"),
  o: open_page,
  "[": () => move(-1),
  "]": () => move(1),
  q: () => end_button.focus(),
  "?": () => help.showModal(),
};
})();
