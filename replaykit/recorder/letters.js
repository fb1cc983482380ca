// What the case of letters depends on, besides `text-transform`: pseudo-elements are read where it may matter only.

// ---- Capitalized words: what stands before them ----------------------------------------------------------------

function wordLetters(style, element) {
  const position = propertyValue(style, 'position');
  const apart = position === 'absolute' || position === 'fixed' ? 'p' : '';
  return apart + (endsInWord(element, '::before') ? 'w' : '') + (endsInWord(element, '::after') ? 'x' : '');
}

// Quotes get their text too late to count.
const LATE = /(?: *(?:no-)?(?:open|close)-quote)+$/;
const COUNTS = /counters?\([^()]*\)$/;
const IN_LINE = /^inline/;

function endsInWord(element, name) {
  const style = styleOf(element, name);
  const content = propertyValue(style, 'content');
  if (content === 'none' || content === 'normal') return false;
  if (!IN_LINE.test(propertyValue(style, 'display')) && !isOutOfFlow(style)) return false;
  const named = /attr\(([^\s,()]+)\)$/.exec(content);
  const last = named === null ? content.replace(LATE, '').replace(/"$/, '') : (attribute(element, named[1]) ?? '');
  return COUNTS.test(last) || /[\p{L}\p{N}_]$/u.test(last);
}

// ---- First letters ---------------------------------------------------------------------------------------------

const HOLDS_LINES = /^(?:block|inline-block|list-item|flow-root|table-cell|table-caption)/;
const INITIALS = { __proto__: null, uppercase: 'u', capitalize: 'u', lowercase: 'l', none: 'n' };

// Sheets that cannot be read may style first letters: then only a letter that would change is worth a look.
function initialLetter(tree, element, display, cases) {
  if (tree.initials === 'none' || !HOLDS_LINES.test(display)) return '';
  const { letter, passed } = initialOf(element);
  if (letter.toUpperCase() === letter && (tree.initials === 'some' || letter.toLowerCase() === letter)) return '';
  const own = propertyValue(styleOf(element, '::first-letter'), 'text-transform');
  return own === cases || passed.some((before) => isGenerating(before)) ? '' : (INITIALS[own] ?? '');
}

// A generated text is where the first letter is, or ends the search for it.
const isGenerating = (element) => !/^(?:none|normal|"")$/.test(propertyValue(styleOf(element, '::before'), 'content'));

const NODES_BEFORE_INITIAL = 20;
const UNKNOWN_INITIAL = 'a';

// Of the first text below, the first letter after punctuation, and the elements that begin before it.
function initialOf(element) {
  const passed = [element];
  let letter = shadowRoot(element) === null ? undefined : UNKNOWN_INITIAL;
  let node = firstChild(element);
  while (node !== null && letter === undefined && passed.length < NODES_BEFORE_INITIAL) {
    const isElement = nodeType(node) === ELEMENT;
    if (isElement) passed.push(node);
    if (nodeType(node) === TEXT) letter = /[^\s\p{P}]/u.exec(characterData(node))?.[0];
    else if (isElement && isHTML(node, 'slot')) letter = UNKNOWN_INITIAL;
    node = firstChild(node) ?? nodeAfter(node, element);
  }
  return { letter: letter ?? '', passed };
}

function nodeAfter(node, top) {
  let at = node;
  while (at !== top && nextSibling(at) === null) at = parentNode(at);
  return at === top ? null : nextSibling(at);
}

// Which letters stand on a first line, nobody can tell without the browser.
function lineLetter(tree, element, display, cases) {
  if (!tree.firstLines || !HOLDS_LINES.test(display)) return '';
  return propertyValue(styleOf(element, '::first-line'), 'text-transform') === cases ? '' : 'k';
}

// ---- Whether a page has any of these ---------------------------------------------------------------------------

// 'none', 'known', or 'some' where a sheet cannot be read; of two trees the one that asks for more counts.
function noteSelectors(tree, root, kind) {
  const sheets = [...kind.styleSheets(root), ...kind.adoptedStyleSheets(root)];
  const found = sheets.map((sheet) => pseudosIn(sheet));
  if (found.includes(null) && tree.initials === 'none') tree.initials = 'some';
  if (found.some((names) => names?.has('letter'))) tree.initials = 'known';
  tree.firstLines ||= found.some((names) => names?.has('line'));
}

const pseudosKnown = new WeakMap();

// `letter` and `line` where a selector says `::first-…`; null where nobody can tell.
function pseudosIn(sheet) {
  const rules = rulesOf(sheet);
  if (rules === null) return null;
  const before = pseudosKnown.get(sheet);
  if (before?.count === rules.length) return before.names;
  const names = new Set();
  collectPseudos(rules, names);
  pseudosKnown.set(sheet, { count: rules.length, names });
  return names;
}

function collectPseudos(rules, names) {
  for (const rule of rules) {
    for (const [, name] of rule.selectorText?.matchAll(/first-(letter|line)/g) ?? []) names.add(name);
    const inner = rule.cssRules ?? (rule.styleSheet ? rulesOf(rule.styleSheet) : null);
    if (inner && inner.length > 0) collectPseudos(inner, names);
  }
}
