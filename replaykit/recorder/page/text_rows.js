// Where the browser's text of an element differs from the composed one: rows list the edits. Whole trees are compared first,
// and what is inside of them only where they differ.

// Questions are counted and not timed: a page gives the same rows on any machine.
const EFFORT = 16;
const EFFORT_LEAST = 1000;
const PIECE = 256;
const INSERTED_MAX = 1024 * 1024;
const UNKNOWN = [];
const SPENT = [null];

// Fields of the head for texts and for elements that are not shown.
function headTexts(tree) {
  if (!tree.styling) return {};
  const palette = [...tree.palette.keys()];
  const page = composed(tree.tokens, tree.style, palette, tree.cut);
  const texts = comparedRows(tree, page);
  const unseen = unseenRuns(tree, page);
  return { ...(texts.length > 0 && { texts }), ...(unseen.length > 0 && { unseen }) };
}

function comparedRows(tree, page) {
  const comparison = {
    page, found: tree.found, rows: new Map(), unknown: 0, inserted: 0, ...masksOf(tree, page),
    left: EFFORT * (tree.nodes + EFFORT_LEAST + Math.floor(tree.text / PIECE)),
  };
  for (let number = 0; number < page.count; number += 1) {
    if (page.parent[number] === -1 && page.state[number] === SHOWN) compareTree(comparison, number);
    else if (page.asked[number] !== NEVER) compareHidden(comparison, number);
  }
  for (const number of comparison.contradicted) if (number >= 0) addRow(comparison, number, UNKNOWN);
  return [...comparison.rows].sort(([one], [other]) => one - other).map(([number, edits], at, all) => [
    number - (at === 0 ? 0 : all[at - 1][0]), ...edits,
  ]);
}

// ---- Masks -----------------------------------------------------------------------------------------------------

// Masked elements are never asked: readers refuse their texts. Edits of guarded ones may hold only blanks, because a
// text inside them is masked, and not shown.
function masksOf(tree, page) {
  const [masked, guarded, contradicted] = [new Set(), new Set(), []];
  for (const [number, item] of page.marks) {
    const isShown = item !== NO_ITEM && page.items[number]?.[item] !== '';
    addAround(page, number, isShown ? masked : guarded);
    if (!isShown && number >= 0 && page.state[number] !== SHOWN && isDisplayed(tree.found[number])) contradicted.push(page.parent[number]);
  }
  for (const number of tree.masked) masked.add(number);
  return { masked, guarded, contradicted };
}

function addAround(page, number, all) {
  for (let at = number; at >= 0 && !all.has(at); at = page.parent[at]) all.add(at);
}

// ---- Comparing -------------------------------------------------------------------------------------------------

// The stack is the descent's own: pages nest thousands of levels deep.
function compareTree(comparison, top) {
  const { page } = comparison;
  const open = [];
  let number = top;
  while (number < page.last[top]) {
    while (open.length > 0 && page.last[open.at(-1).number] <= number) compareAgain(comparison, open.pop());
    const level = isInTree(page, number, top, open) ? compareOnce(comparison, number) : null;
    if (level !== null) open.push(level);
    number = level === null ? page.last[number] : number + 1;
  }
  while (open.length > 0) compareAgain(comparison, open.pop());
}

const isInTree = (page, number, top, open) => page.state[number] === SHOWN
  && (number === top || page.parent[number] === open.at(-1)?.number);

// Null where the browser gives the same text, or where no questions are left: then nothing inside is asked.
function compareOnce(comparison, number) {
  const { page } = comparison;
  if (!page.html[number] || comparison.masked.has(number)) return { number, actual: null, unknown: comparison.unknown };
  const text = composedText(page, number);
  const actual = ask(comparison, number, 1 + page.end[number] - page.start[number] + Math.floor(text.length / PIECE));
  return actual === null || actual === text ? null : { number, actual, unknown: comparison.unknown };
}

const composedText = (page, number) => joinedItems(page.items[number], page.start[number], page.end[number]);

// With the rows of what is inside applied.
function compareAgain(comparison, { number, actual, unknown }) {
  const { page } = comparison;
  if (actual === null || comparison.unknown > unknown) return;
  const text = composedText(page, number);
  if (text === actual) return;
  addRow(comparison, number, editsOf(text, actual));
  putText(page.items[number], page.start[number], page.end[number], actual);
}

function ask(comparison, number, cost) {
  comparison.left -= cost;
  if (comparison.left >= 0) return innerText(comparison.found[number]);
  addRow(comparison, number, SPENT);
  return null;
}

function compareHidden(comparison, number) {
  const { page } = comparison;
  if (!page.html[number] || comparison.masked.has(number)) return;
  if (page.asked[number] === ASKED_BELOW && !comparison.rows.has(page.parent[number])) return;
  const text = page.state[number] === SKIPPED ? '' : textContent(comparison.found[number]);
  const actual = ask(comparison, number, 1 + Math.floor(text.length / PIECE));
  if (actual !== null && actual !== text) addRow(comparison, number, editsOf(text, actual));
}

function addRow(comparison, number, edits) {
  const inserted = edits.filter((part) => typeof part === 'string').join('');
  comparison.inserted += inserted.length;
  const isIncluded = comparison.inserted <= INSERTED_MAX && !(comparison.guarded.has(number) && /[^ \t\n\r]/.test(inserted));
  const row = isIncluded ? edits : UNKNOWN;
  if (row === UNKNOWN || row === SPENT) comparison.unknown += 1;
  comparison.rows.set(number, row);
}

// ---- Edits -----------------------------------------------------------------------------------------------------

const isBlank = (unit) => unit === ' ' || unit === '\t' || unit === '\n';
const isLow = (text, at) => (text.charCodeAt(at) & 0xfc00) === 0xdc00;

// `at, length, text`, repeated. Differing blanks and letters of another case are listed one by one. From any other
// difference on, one edit covers everything up to the common end.
function editsOf(text, actual) {
  const edits = [];
  let [at, other, last] = [0, 0, 0];
  const edit = (length, units) => {
    edits.push(at - last, length, actual.slice(other, other + units));
    [at, other, last] = [at + length, other + units, at + length];
  };
  while (at < text.length || other < actual.length) {
    if (text[at] === actual[other]) [at, other] = [at + 1, other + 1];
    else if (isBlank(text[at]) || isBlank(actual[other])) edit(blanksAt(text, at), blanksAt(actual, other));
    else if (isOtherCase(text[at], actual[other])) edit(1, 1);
    else {
      // A surrogate pair is replaced as a whole.
      if (at > last && (isLow(text, at) || isLow(actual, other))) [at, other] = [at - 1, other - 1];
      const kept = commonEnd(text, actual, Math.min(text.length - at, actual.length - other));
      edit(text.length - kept - at, actual.length - kept - other);
      break;
    }
  }
  return edits;
}

function blanksAt(text, start) {
  let at = start;
  while (isBlank(text[at])) at += 1;
  return at - start;
}

const isOtherCase = (one, other) => one !== undefined && other !== undefined
  && (one.toUpperCase() === other || one.toLowerCase() === other);

function commonEnd(text, actual, most) {
  let kept = 0;
  while (kept < most && text[text.length - 1 - kept] === actual[actual.length - 1 - kept]) kept += 1;
  return kept > 0 && isLow(text, text.length - kept) ? kept - 1 : kept;
}

// ---- What is not shown -----------------------------------------------------------------------------------------

// Distance from the last one and number of neighbours, for elements that are visible by their style and box.
function unseenRuns(tree, page) {
  const runs = [];
  const seen = seenElements(tree, page);
  let last = 0;
  for (let number = 0; number < page.count; number += 1) {
    if (seen[number] === 1 || !isVisibleByStyle(tree, page, number)) continue;
    if (runs.length > 0 && number === last + 1) runs[runs.length - 1] += 1;
    else runs.push(number - last, 1);
    last = number;
  }
  return runs;
}

// The ancestors of a shown element are shown as well, so the innermost are asked first.
function seenElements(tree, page) {
  const seen = new Uint8Array(page.count);
  for (let number = page.count - 1; number >= 0; number -= 1) {
    if (seen[number] === 0 && isVisibleByStyle(tree, page, number) && isShownNow(tree, page, number)) seen[number] = 1;
    if (seen[number] === 1 && page.parent[number] >= 0) seen[page.parent[number]] = 1;
  }
  return seen;
}

function isVisibleByStyle(tree, page, number) {
  const style = page.palette[page.styles[number]];
  if (style === undefined || style.kind === BOXLESS || !style.isVisible) return false;
  const hasSize = !tree.boxing || (tree.box[4 * number + 2] > 0 && tree.box[4 * number + 3] > 0);
  return hasSize || style.display === 'contents';
}

// An element without a box is shown where the rule finds that.
function isShownNow(tree, page, number) {
  const isBoxless = page.palette[page.styles[number]].display === 'contents';
  return isBoxless ? page.state[number] === SHOWN : isDisplayed(tree.found[number]);
}
