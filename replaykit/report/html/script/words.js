// Numbers, times and outcomes in words.

const WELL = { PASS: "good", OK: "good", SUCCESS: "good", DORMANT: "quiet", NOT_EVALUATED: "quiet" };
const MARKS = { good: "✓", bad: "✕", open: "?", broken: "!", quiet: "–" };

// One of five tones: good, bad, open (no one knows), broken (could not be graded), quiet.
function tone(outcome) {
  if (!outcome) return "quiet";
  if (WELL[outcome]) return WELL[outcome];
  if (outcome === "UNDECIDED" || outcome === "ABSTAIN") return "open";
  return outcome === "ERROR" ? "broken" : "bad";
}

function outcome_mark(outcome) {
  const kind = tone(outcome);
  return el("span", { class: `mark ${kind}`, "aria-hidden": "true" }, MARKS[kind]);
}

function pill(outcome, words = outcome) {
  return el("span", { class: `pill ${tone(outcome)}` }, outcome_mark(outcome), words);
}

// Success of a run that violated a policy: shown, but not in green.
function marred_pill(words) {
  return el("span", { class: "pill quiet" }, el("span", { class: "mark quiet", "aria-hidden": "true" }, MARKS.good), words);
}

function seconds(ms) {
  if (ms === undefined || ms === null) return "";
  if (ms < 1000) return `${ms} ms`;
  if (ms < 59950) return `${(ms / 1000).toFixed(1)} s`;
  const whole = Math.round(ms / 1000);
  return `${Math.floor(whole / 60)} min ${whole % 60} s`;
}

function size(n) {
  if (n === undefined || n === null) return "";
  if (n < 1024) return `${n} B`;
  return n < 1048576 ? `${(n / 1024).toFixed(1)} KB` : `${(n / 1048576).toFixed(1)} MB`;
}

function rate(value) {
  return value === null || value === undefined ? "–" : `${(100 * value).toFixed(1)} %`;
}

function count(n, one, many = `${one}s`) {
  return `${n} ${n === 1 ? one : many}`;
}

function title_of(word) {
  return capital(String(word).replaceAll("_", " "));
}

function capital(words) {
  return words.charAt(0).toUpperCase() + words.slice(1);
}

// An address without scheme and host: what changes from row to row.
function short_url(url) {
  const found = /^[a-z][a-z0-9+.-]*:\/\/[^/?#]*([^]*)$/i.exec(url || "");
  return found ? found[1] || "/" : url || "";
}

function shown(value) {
  if (value === undefined || value === null) return "nothing";
  return typeof value === "string" ? value : JSON.stringify(value);
}

// JSON over several lines; any other text as it is.
function indented(text) {
  if (!/^[[{]/.test(text)) return text;
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}

function facts(rows) {
  const known = rows.filter(([, value]) => value !== undefined && value !== null && value !== "");
  return el(
    "dl",
    { class: "facts" },
    known.map(([name, value]) => [el("dt", {}, name), el("dd", {}, value)]),
  );
}

// Characters of a text that scrolls in a box of its own, by keys too.
const LONG = 400;

function scrolled(words, label) {
  return words.length > LONG ? { class: "long", tabindex: "0", role: "region", "aria-label": label } : {};
}

function empty(words) {
  return el("p", { class: "empty" }, words);
}
