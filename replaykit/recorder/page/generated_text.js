// Text that style sheets show and no node holds: what stands before and after the content of an element, the marks of
// list items, and letters that run backwards.

// Contracts of the format: counts, never times.
const PSEUDOS_ASKED_MAX = 5000;
const GENERATED_MAX = 2000;
const GENERATED_UNITS_MAX = 64 * 1024;
// Where a sheet cannot be read, any element may have such text: of larger trees it stays unknown.
const UNREADABLE_TREE_MAX = 1000;
const [AT_START, AT_END, BACKWARDS] = [0, 1, 2];

const LETTER_OR_DIGIT = /[\p{L}\p{N}]/u;
const MADE = /\b(?:attr|var|counters?)\(/;
const ANYWHERE = 'bdo,[style*="bidi"],[style*="list-style"]';
const GENERATING = { content: (value) => MADE.test(value) || LETTER_OR_DIGIT.test(value), 'unicode-bidi': isOverride, 'list-style-type': isString };
const EFFECTS = Object.keys(GENERATING);

function isOverride(value) {
  return value.includes('override');
}

function isString(value) {
  return /["']/.test(value) && LETTER_OR_DIGIT.test(value);
}

function headGenerated(tree) {
  if (!tree.styling) return {};
  const reading = { tree, asked: new Set(), left: PSEUDOS_ASKED_MAX, units: GENERATED_UNITS_MAX, rows: [] };
  for (const [root, kind] of tree.roots) for (const element of generatingIn(root, kind)) takeGenerated(reading, element);
  tree.overflows = reading.left < 0;
  if (reading.rows.length === 0) return {};
  const sorted = reading.rows.sort(([one, place], [other, second]) => one - other || place - second);
  const generated = sorted.map(([number, ...row], at) => [number - (at === 0 ? 0 : sorted[at - 1][0]), ...row]);
  return { generated };
}

// ---- Which elements --------------------------------------------------------------------------------------------

function generatingIn(root, kind) {
  const sheets = [...kind.styleSheets(root), ...kind.adoptedStyleSheets(root)];
  const selectors = new Set(sheets.flatMap((sheet) => sheetFacts(sheet).generating));
  const found = new Set(kind.query(root, ANYWHERE));
  for (const selector of selectors) for (const element of targetsOf(root, kind, selector)) found.add(element);
  if (sheets.some((sheet) => rulesOf(sheet) === null)) for (const element of bearersIn(root, kind)) found.add(element);
  return found;
}

// To ask all elements takes longer than to read them: it is done once until the page changes, mostly while it rests.
const bearersKnown = new WeakMap();

function bearersIn(root, kind) {
  const before = bearersKnown.get(root);
  if (before?.total === seen.total) return before.elements;
  const all = kind.query(root, '*');
  const elements = all.length > UNREADABLE_TREE_MAX ? [] : Array.from(all).filter(bearsWords);
  bearersKnown.set(root, { total: seen.total, elements });
  return elements;
}

const bearsWords = (element) => ['::before', '::after'].some((name) => /["(]/.test(propertyValue(styleOf(element, name), 'content')));

// A selector that means something else here than in its sheet may match anything.
function targetsOf(root, kind, selector) {
  const host = isShadowRoot(root) ? shadowHost(root) : null;
  const around = host !== null && selector.includes(':host') ? [host] : [];
  const held = host !== null && selector.includes('::slotted') ? descendants(host, '*') : [];
  try {
    return [...around, ...held, ...kind.query(root, selector)];
  } catch {
    return [...around, ...held, ...kind.query(root, '*')];
  }
}

function rulesGenerate(rules, outer = '') {
  return Array.from(rules).flatMap((rule) => {
    const own = selectorOf(rule, outer);
    const isGenerating = rule.style !== undefined && own !== '' && EFFECTS.some((name) => GENERATING[name](propertyValue(rule.style, name)));
    return [...(isGenerating ? [own] : []), ...rulesGenerate(innerRules(rule), own || outer)];
  });
}

const PSEUDO = /(^|[\s>+~,(])?::(?:before|after|marker)\b/g;

// Of the elements that have such a part.
function selectorOf({ selectorText: selector }, outer) {
  if (selector === undefined) return '';
  const own = selector.replace(PSEUDO, (_, before) => (before === undefined ? '' : `${before}*`));
  if (outer === '') return own.includes('&') || own.includes(':scope') ? '*' : own;
  return own.includes('&') ? own.replaceAll('&', `:is(${outer})`) : `:is(${outer}) :is(${own})`;
}

// ---- What they show --------------------------------------------------------------------------------------------

function takeGenerated(reading, element) {
  const number = reading.tree.numbers.get(element);
  if (number === undefined || reading.asked.has(number) || isGone(reading.tree, number) || reading.tree.masked.has(number)) return;
  reading.asked.add(number);
  reading.left -= 1;
  if (reading.left < 0) return;
  const style = styleOf(element);
  addGenerated(reading, number, AT_START, markText(element, style) + pseudoText(element, '::before'));
  addGenerated(reading, number, AT_END, pseudoText(element, '::after'));
  const isBackwards = isOverride(propertyValue(style, 'unicode-bidi')) && propertyValue(style, 'direction') === 'rtl';
  if (isBackwards) reading.rows.push([number, BACKWARDS, '']);
}

function addGenerated(reading, number, place, text) {
  if (!LETTER_OR_DIGIT.test(text)) return;
  reading.units -= text.length;
  if (reading.units < 0 || reading.rows.length >= GENERATED_MAX) reading.left = -1;
  else reading.rows.push([number, place, text]);
}

function markText(element, style) {
  if (!propertyValue(style, 'display').includes('list-item')) return '';
  const type = propertyValue(style, 'list-style-type');
  return pseudoText(element, '::marker') || (isString(type) ? contentText(type, element) : '');
}

function pseudoText(element, name) {
  const style = styleOf(element, name);
  const content = propertyValue(style, 'content');
  if (content === 'none' || content === 'normal' || content === '') return '';
  const display = propertyValue(style, 'display');
  if (propertyValue(style, 'visibility') !== 'visible' || display === 'none') return '';
  const text = inCase(contentText(content, element), propertyValue(style, 'text-transform'));
  return display === 'inline' && !isOutOfFlow(style) ? text : ` ${text} `;
}

// The shown text stands before a slash, its alternative text behind it.
function contentText(content, element) {
  let text = '';
  for (const [, quoted, named, stroke] of content.matchAll(PIECES)) {
    if (stroke !== undefined) break;
    text += named === undefined ? unescaped(quoted) : (safeAttribute(element, named) ?? '');
  }
  return text.replace(PRIVATE, '');
}
