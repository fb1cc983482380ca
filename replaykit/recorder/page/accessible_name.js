// Names of an element: its accessible name, and each text that it may consist of.

const NAMED_BY_CONTENT = new Set([
  'button', 'cell', 'checkbox', 'columnheader', 'gridcell', 'heading', 'link', 'menuitem', 'menuitemcheckbox',
  'menuitemradio', 'option', 'radio', 'row', 'rowheader', 'switch', 'tab', 'tooltip', 'treeitem',
]);
const BUTTON_INPUTS = { __proto__: null, submit: 'Submit', reset: 'Reset', button: '' };

const collapsed = (text) => text.replace(/[\t\n\f\r ]+/g, ' ').trim();

function namesOf(element, text, masked) {
  const value = buttonText(element) ?? '';
  const shown = text === '' || hasOther(element) ? limited(shownText(element)) : '';
  return withoutEmpty({
    text,
    shown,
    seen: masked ? '' : limited(seenText(element, [collapsed(text), shown])),
    value: limited(masked ? maskText(value) : value),
    aria_label: limited(safeAttribute(element, 'aria-label') ?? ''),
    labelledby: limited(referencedText(element)),
    label: limited(labelText(element) || hostLabel(element) || hostName(element)),
    alt: limited(altText(element) ?? ''),
    title: limited(tipOf(element)),
    placeholder: limited(safeAttribute(element, 'placeholder') ?? safeAttribute(element, 'aria-placeholder') ?? ''),
  });
}

// Text that the screen may show in place of these: words of adjacent elements are separated, and generated text is read
// as it shows, not by its alternative.
function seenText(element, others) {
  if (firstElement(element) === null && !hasOther(element)) return '';
  const seen = shownText(element, { isScreen: true, left: { visits: SEEN_VISITS } });
  return others.includes(seen) ? '' : seen;
}

const SEEN_VISITS = 100;

// A host that is itself a control, or holds but this one, names what is in its shadow tree.
function hostName(element) {
  const root = rootNode(element);
  if (!isShadowRoot(root) || !matches(element, CONTROL)) return '';
  const host = shadowHost(root);
  if (!isOperable(host, root, element)) return '';
  return attributeText(host, 'aria-label') || hostLabel(host) || attributeText(host, 'title') || hostName(host);
}

// Labels of a custom element that is associated with forms: only its own script can ask for them.
function hostLabel(host) {
  if (!isAssociated(host)) return '';
  const id = attribute(host, 'id') ?? '';
  const root = rootNode(host);
  const query = isShadowRoot(root) ? queryShadow : queryDocument;
  const named = id === '' || !(isShadowRoot(root) || isDocument(root)) ? [] : [...query(root, `label[for="${CSS.escape(id)}"]`)];
  const labels = named.length > 0 ? named : [closest(host, 'label')].filter((label) => label !== null);
  return collapsed(labels.map((label) => shownText(label, { except: host })).join(' '));
}

function isOperable(host, root, element) {
  if (matches(host, CONTROL) || (attribute(host, 'tabindex') ?? '-1') >= 0 || delegatesFocus?.(root)) return true;
  const inside = [queryShadow(root, '*'), descendants(host, '*')];
  const isOther = (node) => node !== element && (matches(node, CONTROL) || shadowRoot(node) !== null);
  return inside.every((nodes) => nodes.length <= VISITS && ![...nodes].some(isOther));
}

// More, or else, shows than the text in it.
function hasOther(element) {
  if (shadowRoot(element) !== null || closedRoots.has(element)) return true;
  return ['::before', '::after'].some((name) => generatedText(element, name) !== '')
    || [...descendants(element, '*')].slice(0, VISITS).some((inner) => isHTML(inner, 'slot') || shadowRoot(inner) !== null);
}

const limited = (text) => cutText(text, TEXT_LIMIT);
const withoutEmpty = (names) => Object.fromEntries(Object.entries(names).filter(([, text]) => text !== ''));

// `value` of an input that is a button: the label of the button.
function buttonText(element) {
  if (!isHTML(element, 'input') || BUTTON_INPUTS[inputType(element)] === undefined) return null;
  return attribute(element, 'value');
}

function referencedText(element, left = allVisits()) {
  const ids = attribute(element, 'aria-labelledby')?.trim().split(/\s+/, Math.max(left.visits, 0)).filter((id) => id !== '') ?? [];
  const named = (ids.length > 0 ? ids.map((id) => besideBy(element, id)) : labelledBy(element)).filter((found) => found !== null);
  return collapsed(named.map((found) => referencedName(found, left)).join(' '));
}

// Name of an element that another one refers to: its own label stands for its text. It follows no references of its own.
function referencedName(element, left) {
  left.visits -= 1;
  const own = attributeText(element, 'aria-label') || imageName(element, left) || labelText(element, left);
  const text = own || (isHTML(element, 'input') ? inputName(element) : shownText(element, { isReferenced: true, left }));
  return text || collapsed(tipOf(element));
}

// In the tree of an element.
function besideBy(element, id) {
  const root = rootNode(element);
  return isShadowRoot(root) ? inShadow(root, id) : elementById(ownerDocument(element), id);
}

// The element that a key affects while the focus stays on the list, menu or combobox around it.
function activeText(element) {
  const id = attribute(element, 'aria-activedescendant')?.trim() ?? '';
  const found = id === '' ? activeElement?.(element) ?? null : besideBy(element, id);
  if (found === null) return '';
  const names = [shownText(found), accessibleName(found, roleOf(found))];
  return limited([...new Set(names)].filter((name) => name !== '').join('\n'));
}

// Elements that a script gave as labels; such may stand in a tree around that of the element.
const labelledBy = (element) => labelElements?.(element) ?? [];

function labelText(element, left) {
  const labels = [...((isHTML(element) && labelLists[localName(element)]?.(element)) || [])];
  return collapsed(labels.map((label) => shownText(label, { except: element, left })).join(' '));
}

function altText(element) {
  const own = safeAttribute(element, 'alt');
  if (own !== null) return own;
  const image = descendants(element, 'img')[0];
  return image === undefined ? null : safeAttribute(image, 'alt');
}

const attributeText = (element, name) => collapsed(safeAttribute(element, name) ?? '');
const tipOf = (element) => safeAttribute(element, 'title') ?? safeAttribute(element, 'xlink:title') ?? '';

// Source: Accessible Name and Description Computation, the steps that pages depend on, in its order.
function accessibleName(element, role) {
  const own = referencedText(element) || attributeText(element, 'aria-label') || nativeName(element);
  const content = () => (NAMED_BY_CONTENT.has(role) || isHTML(element, 'summary') ? shownText(element) : '');
  return own || content() || collapsed(tipOf(element)) || promptOf(element);
}

// Editors that are no fields give theirs in an attribute of ARIA.
function promptOf(element) {
  const isPrompted = isHTML(element, 'textarea') || (isHTML(element, 'input') && !isToggle(element));
  return (isPrompted && attributeText(element, 'placeholder')) || attributeText(element, 'aria-placeholder');
}

const OWN_CAPTION = { __proto__: null, fieldset: 'legend', table: 'caption', figure: 'figcaption' };

function nativeName(element) {
  const tag = localName(element);
  if (tag === 'img' || tag === 'area') return attributeText(element, 'alt');
  if (tag === 'option') return attributeText(element, 'label');
  if (isDrawn(element)) return drawingTitle(element);
  const caption = OWN_CAPTION[tag] === undefined ? undefined : descendants(element, OWN_CAPTION[tag])[0];
  if (caption !== undefined) return shownText(caption);
  return labelText(element) || hostLabel(element) || (isHTML(element, 'input') ? inputName(element) : '');
}

const isDrawn = (element) => namespaceURI(element) === 'http://www.w3.org/2000/svg';

function drawingTitle(element, left) {
  let title = firstElement(element);
  for (let count = 1; title !== null && localName(title) !== 'title' && count < VISITS; count += 1) title = nextElement(title);
  return title !== null && localName(title) === 'title' ? shownText(title, { left }) : '';
}

function inputName(element) {
  const type = inputType(element);
  if (type === 'image') return collapsed(safeAttribute(element, 'alt') ?? (attributeText(element, 'title') || 'Submit'));
  return BUTTON_INPUTS[type] === undefined ? '' : collapsed(safeAttribute(element, 'value') ?? BUTTON_INPUTS[type]);
}

// Nodes that may be visited for one name, what it references included.
const VISITS = 500;
const allVisits = () => ({ visits: VISITS });

// Text of a subtree as a screen reader has it: parts by their own names; `except` and what is hidden left out, unless
// all of it is hidden. What is referenced follows no references of its own. Fields inside are left out, unlike in
// Chromium: their values change as they are filled.
function shownText(element, { except = null, isReferenced = false, isScreen = false, left = allVisits() } = {}) {
  const hasHidden = !isShown(element, { visibilityProperty: true });
  const text = collapsed(gather(element, { except, isReferenced, isScreen, hasHidden, left }));
  return isMasked(element) ? maskText(text) : text;
}

const displayOf = (element) => propertyValue(styleOf(element), 'display');

// Without a box of its own an element may still show what is in it.
const isShown = (element, asked) => isDisplayed(element, asked) || displayOf(element) === 'contents';

function gather(element, way) {
  let text = isSeen(element, way) ? generatedText(element, '::before', way.isScreen) : '';
  for (const node of shownNodes(element)) {
    way.left.visits -= 1;
    if (way.left.visits < 0 || text.length > TEXT_LIMIT) break;
    if (nodeType(node) === TEXT) text += isSeen(holderOf(node, element), way) ? characterData(node) : '';
    else if (nodeType(node) === ELEMENT && node !== way.except) text += gatherElement(node, way);
  }
  return text + (isSeen(element, way) ? generatedText(element, '::after', way.isScreen) : '');
}

// The element whose style a text has; one directly in a shadow tree has that of the host.
const holderOf = (node, element) => (nodeType(parentNode(node)) === ELEMENT ? parentNode(node) : element);

// Nodes shown in an element: the shadow tree of a host, the assigned nodes of a slot, else its own content.
function* shownNodes(element) {
  const held = isHTML(element, 'slot') ? assignedNodes(element) : [];
  if (held.length > 0) return yield* held;
  const root = shadowRoot(element) ?? closedRoots.get(element) ?? element;
  for (let node = firstChild(root); node !== null; node = nextSibling(node)) yield node;
}

// Letters of private use are the glyphs of icon fonts: no one reads them.
const PRIVATE = /[\p{Co}\p{Cn}]/gu;
const PIECES = /url\("(?:[^"\\]|\\.)*"\)|"((?:[^"\\]|\\.)*)"|attr\(([^\s,()]+)\)|(\/)/g;

function generatedText(element, name, isScreen = false) {
  const style = styleOf(element, name);
  const content = propertyValue(style, 'content');
  if (content === 'none' || content === 'normal' || content === '') return '';
  if (propertyValue(style, 'visibility') !== 'visible' || propertyValue(style, 'display') === 'none') return '';
  const text = contentText(content, element, isScreen).replace(PRIVATE, '');
  return BLOCK.test(propertyValue(style, 'display')) ? ` ${text} ` : text;
}

// Behind a stroke stands the alternative, which is read in place of what shows.
function contentText(content, element, isScreen) {
  let text = '';
  for (const [, quoted, named, stroke] of content.matchAll(PIECES)) {
    if (stroke !== undefined && isScreen) break;
    if (stroke !== undefined) text = '';
    else text += named === undefined ? unescaped(quoted ?? '') : (safeAttribute(element, named) ?? '');
  }
  return text;
}

const unescaped = (text) => text.replace(/\\(?:([\da-f]{1,6}) ?|(.))/gi, (_, code, letter) => (
  code === undefined ? letter : String.fromCodePoint(Math.min(parseInt(code, 16) || 0xfffd, 0x10ffff))));

const BLOCK = /^(?:block|flex|grid|list-item|table|table-cell|table-row|flow-root|inline-block)/;

const isSeen = (element, way) => way.hasHidden || propertyValue(styleOf(element), 'visibility') === 'visible';

function gatherElement(element, way) {
  if (attribute(element, 'aria-hidden') === 'true' || matches(element, NESTED)) return '';
  if (!way.hasHidden && !isShown(element)) return '';
  const isOwn = isSeen(element, way);
  const name = isOwn ? partName(element, way) : '';
  if (name !== '') return ` ${name} `;
  const text = gatherContent(element, way);
  const tip = text === '' && isOwn && !way.isScreen && !isDecoration(element) ? attributeText(element, 'title') : '';
  if (tip !== '') return ` ${tip} `;
  return way.isScreen || BLOCK.test(displayOf(element)) || isHTML(element, 'br') ? ` ${text} ` : text;
}

// An image with an empty alternative: its author says that it is for show.
const isDecoration = (element) => isHTML(element, 'img') && attribute(element, 'alt') === '';

function partName(element, { isReferenced, isScreen, left }) {
  if (isScreen) return imageName(element, left);
  const referenced = isReferenced ? '' : referencedText(element, left);
  return referenced || attributeText(element, 'aria-label') || imageName(element, left);
}

function imageName(element, left) {
  const tag = localName(element);
  return tag === 'img' ? attributeText(element, 'alt') : isDrawn(element) ? drawingTitle(element, left) : '';
}

function gatherContent(element, way) {
  const content = FIELDS.has(localName(element)) ? '' : gather(element, way);
  return isMasked(element) ? maskText(content) : content;
}
