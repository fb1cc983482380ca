// What the case of letters depends on, besides `text-transform`: pseudo-elements are read where it may matter only.

// ---- Capitalized words: what stands before them ----------------------------------------------------------------

function wordLetters({ pseudos }, style, element) {
  const position = propertyValue(style, 'position');
  const apart = position === 'absolute' || position === 'fixed' ? 'p' : '';
  if (!pseudos.all && !mayGenerate(pseudos, element)) return apart;
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

const INITIALS = { __proto__: null, uppercase: 'u', capitalize: 'u', lowercase: 'l', none: 'n' };

// Sheets that cannot be read may style first letters: then only a letter that would change is worth a look.
function initialLetter({ pseudos: { initials } }, element, { holdsLines }, cases) {
  if (initials === 'none' || !holdsLines) return '';
  const { letter, passed } = initialOf(element);
  if (letter.toUpperCase() === letter && (initials === 'some' || letter.toLowerCase() === letter)) return '';
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
function lineLetter({ pseudos: { lines } }, element, { holdsLines }, cases) {
  if (!lines || !holdsLines) return '';
  return propertyValue(styleOf(element, '::first-line'), 'text-transform') === cases ? '' : 'k';
}

// ---- What a style hides, masks or replaces ----------------------------------------------------------------------

function styleLetters(tree, style, element) {
  const skipping = propertyValue(style, 'content-visibility');
  const skipped = skipping === 'hidden' ? 'c' : skipping === 'auto' && isSkipped(element) ? 'cv' : '';
  const clear = propertyValue(style, 'opacity') === '0' ? 'o' : '';
  const menu = isMenu(element) && propertyValue(style, 'appearance') === 'base-select' ? 'm' : '';
  return skipped + clear + (tree.secure ? 's' : '') + (isFallenBack(element) ? 'd' : '') + menu;
}

const isMenu = (element) => isHTML(element, 'select') && !element.multiple && element.size <= 1;

// An object that shows its content instead of its data; one whose content shows no text reads the same either way.
const isFallenBack = (element) => isHTML(element, 'object') && innerText(element) !== '';

// With `content-visibility: auto` a child tells, unless it is not rendered anyway; without such a child, the text.
const AUTO = { contentVisibilityAuto: true };

function isSkipped(element) {
  for (let child = firstElement(element); child !== null; child = nextElement(child)) {
    if (isDisplayed(child)) return !isDisplayed(child, AUTO);
  }
  return isHTML(element) && innerText(element) === '' && (firstChild(element) !== null || !isNear(element));
}
