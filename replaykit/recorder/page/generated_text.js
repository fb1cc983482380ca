// Text that style sheets show and no node holds: that of pseudo-elements, the marks of list items, quotation marks, and
// letters that run backwards.

// Contracts of the format: counts, never times.
const PSEUDOS_ASKED_MAX = 5000;
const GENERATED_MAX = 2000;
const GENERATED_UNITS_MAX = 64 * 1024;
// Where a sheet cannot be read, any element may have such text: of larger trees it stays unknown.
const UNREADABLE_TREE_MAX = 1000;
const [AT_START, AT_END, BACKWARDS] = [0, 1, 2];

const LETTER_OR_DIGIT = /[\p{L}\p{N}]/u;
const MADE = /\b(?:attr|var|counters?)\(|-quote/;
const LIST_ITEMS = ':is(li,summary)';
const ANYWHERE = `bdo,[style*="bidi"],[style*="list-style"],[style*="list-style"] ${LIST_ITEMS},[style*="quotes"] q`;
const GENERATING = { content: (value) => MADE.test(value) || LETTER_OR_DIGIT.test(value), 'unicode-bidi': isOverride, 'list-style-type': isString };
const EFFECTS = Object.keys(GENERATING);
// Elements that show a property that others may pass on to them.
const INHERITING = { 'list-style-type': LIST_ITEMS, quotes: 'q' };
const INHERITED = Object.keys(INHERITING);

function isOverride(value) {
  return value.includes('override');
}

function isString(value) {
  return /["']/.test(value) && LETTER_OR_DIGIT.test(value);
}

function headGenerated(tree) {
  if (!tree.styling) return {};
  const scopes = tree.roots.map(([root, kind]) => ({ root, kind, facts: sheetsIn(root, kind).map(sheetFacts) }));
  const reading = { tree, ...sharedFacts(scopes), asked: new Set(), left: PSEUDOS_ASKED_MAX, units: GENERATED_UNITS_MAX, rows: [] };
  for (const scope of scopes) for (const element of generatingIn(scope, reading)) takeGenerated(reading, element);
  tree.overflows = reading.left < 0;
  if (reading.rows.length === 0) return {};
  const sorted = reading.rows.sort(([one, place], [other, second]) => one - other || place - second);
  const generated = sorted.map(([number, ...row], at) => [number - (at === 0 ? 0 : sorted[at - 1][0]), ...row]);
  return { generated };
}

// Effects of the sheets of one tree on the elements of others.
function sharedFacts(scopes) {
  const generating = scopes.flatMap(({ facts }) => facts.map((one) => one.generating));
  const counters = generating.flatMap((one) => one.counters);
  return {
    inheriting: new Set(generating.flatMap((one) => one.inheriting)),
    parts: new Set(['::after', ...generating.flatMap((one) => one.parts)]),
    counters: new Set(counters.map(([name]) => name)),
    symbols: counters.map(([, words]) => words).join(' '),
  };
}

// ---- Which elements --------------------------------------------------------------------------------------------

function generatingIn({ root, kind, facts }, { inheriting, tree }) {
  const selectors = new Set(facts.flatMap((one) => one.generating.selectors));
  const found = new Set(kind.query(root, [ANYWHERE, ...inheriting].join()));
  for (const selector of selectors) for (const element of targetsOf(root, kind, selector, tree)) found.add(element);
  if (facts.includes(UNREADABLE)) for (const element of [...bearersIn(root, kind), ...kind.query(root, LIST_ITEMS)]) found.add(element);
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
function targetsOf(root, kind, selector, tree) {
  if (selector.includes('::part')) return tree.roots.flatMap(([inner, its]) => [...its.query(inner, '[part]')]);
  const host = isShadowRoot(root) ? shadowHost(root) : null;
  const around = host !== null && selector.includes(':host') ? [host] : [];
  const held = host !== null && selector.includes('::slotted') ? descendants(host, '*') : [];
  try {
    return [...around, ...held, ...kind.query(root, selector)];
  } catch {
    return [...around, ...held, ...kind.query(root, '*')];
  }
}

function rulesGenerate(rules, outer = '', found = { selectors: [], inheriting: [], parts: [], counters: [] }) {
  for (const rule of rules) {
    const own = selectorOf(rule, outer);
    if (rule.style !== undefined && own !== '') takeRule(found, rule, own);
    else if (brand(rule) === '[object CSSCounterStyleRule]') takeCounterStyle(found, rule);
    rulesGenerate(innerRules(rule), own || outer, found);
  }
  return found;
}

function takeRule(found, { selectorText: selector, style }, own) {
  if (EFFECTS.some((name) => GENERATING[name](propertyValue(style, name)))) {
    found.selectors.push(own);
    found.parts.push(...Array.from(selector.matchAll(PSEUDO), ([, , part]) => part).filter((part) => !ALWAYS_ASKED.test(part)));
  }
  for (const name of INHERITED) if (isString(propertyValue(style, name))) found.inheriting.push(INHERITING[name]);
}

function takeCounterStyle(found, rule) {
  const words = unescaped(SYMBOLS.map((name) => rule[name]).join(' ').replaceAll('"', ' '));
  if (WORD.test(words)) found.inheriting.push(LIST_ITEMS);
  found.counters.push([rule.name, words]);
}

const SYMBOLS = ['prefix', 'symbols', 'additiveSymbols', 'negative', 'pad', 'suffix'];
const WORD = /[\p{L}\p{N}]{2}/u;
const PSEUDO = /(^|[\s>+~,(])?((?:::(?!slotted|part)[\w-]+(?:\([^)]*\))?)+)/g;
const ALWAYS_ASKED = /^::(?:before|after|marker)$/;
const PART_OF_PART = /::.*::/;

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
  reading.left -= reading.parts.size;
  if (reading.left < 0) return;
  const style = styleOf(element);
  addGenerated(reading, number, AT_START, markText(reading, element, style) + partText(reading, element, '::before'));
  addGenerated(reading, number, AT_END, Array.from(reading.parts, (part) => partText(reading, element, part)).join(''));
  const isBackwards = isOverride(propertyValue(style, 'unicode-bidi')) && propertyValue(style, 'direction') === 'rtl';
  if (isBackwards) reading.rows.push([number, BACKWARDS, '']);
}

function addGenerated(reading, number, place, text) {
  if (!LETTER_OR_DIGIT.test(text)) return;
  reading.units -= text.length;
  if (reading.units < 0 || reading.rows.length >= GENERATED_MAX) reading.left = -1;
  else reading.rows.push([number, place, text]);
}

// The mark that a rule gives a list item by its `::marker`, else the one of its list style.
function markText(reading, element, style) {
  return (isListItem(style) ? partText(reading, element, '::marker') : '') || listText(reading, element, style);
}

const isListItem = (style) => propertyValue(style, 'display').includes('list-item');

function listText({ counters, symbols }, element, style) {
  const type = isListItem(style) ? propertyValue(style, 'list-style-type') : '';
  if (counters.has(type)) return symbols;
  return isString(type) ? contentText(type, element, true) : '';
}

function partText(reading, element, name) {
  const style = styleOf(element, name);
  const content = propertyValue(style, 'content');
  if (content === '' && PART_OF_PART.test(name)) reading.left = -1; // the browser does not say
  if (content === 'none' || content === 'normal' || content === '') return '';
  const display = propertyValue(style, 'display');
  if (propertyValue(style, 'visibility') !== 'visible' || display === 'none') return '';
  const shown = listText(reading, element, style) + contentText(content, element, true) + namedText(reading, content, style);
  const text = inCase(shown.replace(PRIVATE, ''), propertyValue(style, 'text-transform'));
  return display === 'inline' && !isOutOfFlow(style) ? text : ` ${text} `;
}

// All that quotation marks, and the symbols of counters, may show: their depth and number are not asked for.
function namedText({ counters, symbols }, content, style) {
  const quotes = content.includes('-quote') ? propertyValue(style, 'quotes').matchAll(PIECES) : [];
  const isCounted = counters.size > 0 && content.split(')').some((piece) => counters.has(lastWord(piece)));
  return [...Array.from(quotes, ([, quoted]) => unescaped(quoted ?? '')), isCounted ? symbols : ''].join(' ');
}

const lastWord = (text) => text.slice(Math.max(text.lastIndexOf(' '), text.lastIndexOf('(')) + 1);
