// What the blanks beside an element depend on: what is generated at its edges, and whether it stands on the lines.

function lineLetters(tree, style, element, { leaving, onLines, holdsLines }) {
  const apart = leaving && isOutOfFlow(style) ? 'f' : '';
  if (!onLines && !holdsLines) return apart;
  const { pseudos } = tree;
  if (mayGenerate(pseudos, element)) {
    const letters = generatedLetters(element, edgeText, true);
    return apart + (onLines ? letters : letters.replace(/[ey]/g, ''));
  }
  return apart === '' && onLines && pseudos.all ? generatedLetters(element, edgeChild, false) : apart;
}

function isOutOfFlow(style) {
  if (propertyValue(style, 'float') !== 'none') return true;
  const position = propertyValue(style, 'position');
  return position === 'absolute' || position === 'fixed';
}

function generatedLetters(element, edge, isLikely) {
  const isEmpty = firstChild(element) === null;
  const besideFirst = isEmpty || hasBlank(edge(element, firstChild), 0);
  const besideLast = isEmpty || hasBlank(edge(element, lastChild), -1);
  const before = isLikely || besideFirst ? generated(element, BEFORE, besideFirst) : '';
  const letters = before + (isLikely || besideLast ? generated(element, AFTER, besideLast) : '');
  return isEmpty ? letters.replace(/[abg]+/, (found) => (found === 'g' ? '' : 'b')) : letters;
}

const edgeChild = (element, side) => side(element);

const UNSEEN = new Set(['link', 'script', 'style', 'template']);

function edgeText(element, side) {
  const beside = side === firstChild ? nextSibling : previousSibling;
  let node = side(shadowRoot(element) ?? element);
  while (node !== null && nodeType(node) === ELEMENT) node = UNSEEN.has(localName(node)) ? beside(node) : side(node);
  return node;
}

function hasBlank(node, edge) {
  const end = node !== null && nodeType(node) === TEXT ? characterData(node).at(edge) : undefined;
  return end === ' ' || end === '\n' || end === '\t' || end === '\r';
}

// By what stands beside the content: something solid holds a blank there, a blank takes its place, all else leaves it.
// Blocks and line breaks that are generated in an inline element end its line.
const BEFORE = { name: '::before', hollow: /^"(?:.* )?"$/s, open: / "$/, solid: 'b', blank: 'g', end: 'e' };
const AFTER = { name: '::after', hollow: /^" *"$/, open: /^$/, solid: 'a', blank: '', end: 'y' };
const ENDS_LINE = /^(?:block|flex|grid|list-item|table$|flow-root)/;

function generated(element, { name, hollow, open, solid, blank, end }, isBesideBlank) {
  const style = styleOf(element, name);
  const content = propertyValue(style, 'content');
  if (content === 'none' || content === 'normal') return '';
  const display = propertyValue(style, 'display');
  if (ENDS_LINE.test(display)) return isOutOfFlow(style) ? '' : end;
  const ends = display === 'inline' && /\\a /.test(content) && keepsBreaks(style) ? end : '';
  if (!isBesideBlank || !display.startsWith('inline')) return ends;
  if (display !== 'inline' || !hollow.test(content)) return solid + ends;
  return open.test(content) ? blank : '';
}

const keepsBreaks = (style) => /^(?:preserve|preserve-breaks|break-spaces)$/.test(propertyValue(style, 'white-space-collapse'));
