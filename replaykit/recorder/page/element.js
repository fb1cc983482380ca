// Descriptors of elements: what a person would call the thing acted on.

const TEXT_LIMIT = 1024;
const ATTRIBUTES_MAX = 64;

// ---- Which element ---------------------------------------------------------------------------------------------

const WIDGET_ROLES = [
  'button', 'checkbox', 'combobox', 'gridcell', 'link', 'listbox', 'menuitem', 'menuitemcheckbox', 'menuitemradio',
  'option', 'radio', 'scrollbar', 'searchbox', 'slider', 'spinbutton', 'switch', 'tab', 'textbox', 'treeitem',
];
const CONTROL = [
  'button', 'a[href]', 'input', 'select', 'textarea', 'option', 'summary', 'label', '[onclick]:not(html, body)',
  '[contenteditable]:not([contenteditable="false" i])', ...WIDGET_ROLES.map((role) => `[role~="${role}" i]`),
].join(',');

// The innermost target and its nearest control; both may lie in different shadow trees.
function controlOn(path) {
  const elements = path.filter((node) => nodeType(node) === ELEMENT);
  return elements.find((element) => matches(element, CONTROL)) ?? elements[0];
}

// ---- Where it is -----------------------------------------------------------------------------------------------

function cssPath(element) {
  const root = rootNode(element);
  const inside = pathInTree(element, root);
  return isShadowRoot(root) ? `${cssPath(shadowHost(root))} >>> ${inside}` : inside;
}

function pathInTree(element, root) {
  const steps = [];
  for (let at = element; at !== null && nodeType(at) === ELEMENT; at = parentNode(at)) {
    const anchor = uniqueId(at, root);
    steps.unshift(anchor ?? typeStep(at));
    if (anchor !== null) break;
  }
  return steps.join(' > ');
}

function uniqueId(element, root) {
  const id = attribute(element, 'id');
  if (id === null || id === '' || /\s/.test(id)) return null;
  const selector = `#${CSS.escape(id)}`;
  const query = isShadowRoot(root) ? queryShadow : queryDocument;
  const same = isShadowRoot(root) || isDocument(root) ? query(root, selector) : [];
  return same.length === 1 ? selector : null;
}

function typeStep(element) {
  const tag = CSS.escape(localName(element));
  const position = countSame(element, previousElement) + 1;
  return position === 1 && countSame(element, nextElement) === 0 ? tag : `${tag}:nth-of-type(${position})`;
}

function countSame(element, next) {
  let count = 0;
  for (let at = next(element); at !== null; at = next(at)) if (isSameType(at, element)) count += 1;
  return count;
}

const isSameType = (a, b) => localName(a) === localName(b) && namespaceURI(a) === namespaceURI(b);

// Frame ordinals from the outermost document that this script reads.
function framePath(inner) {
  return inner === document ? [] : (framePaths.get(inner) ?? []);
}

// Offset of a document's viewport in that of the outermost one.
function viewportOrigin(inner) {
  const owner = inner === document ? null : frameOf(inner);
  if (owner === null) return NO_SCROLL;
  return contentOrigin(owner, { scope: viewportOrigin(ownerDocument(owner)) });
}

function boxOf(element) {
  const { x, y, width, height } = clientRect(element);
  const { dx, dy } = viewportOrigin(ownerDocument(element));
  return [x + dx, y + dy, width, height].map(Math.round);
}

// ---- What it is ------------------------------------------------------------------------------------------------

const TAG_ROLES = {
  __proto__: null, article: 'article', aside: 'complementary', button: 'button', datalist: 'listbox', dd: 'definition',
  details: 'group', dialog: 'dialog', dt: 'term', fieldset: 'group', figure: 'figure', form: 'form', h1: 'heading',
  h2: 'heading', h3: 'heading', h4: 'heading', h5: 'heading', h6: 'heading', hr: 'separator', img: 'img',
  li: 'listitem', main: 'main', menu: 'list', meter: 'meter', nav: 'navigation', ol: 'list', optgroup: 'group',
  option: 'option', output: 'status', p: 'paragraph', progress: 'progressbar', search: 'search', table: 'table',
  tbody: 'rowgroup', td: 'cell', textarea: 'textbox', tfoot: 'rowgroup', th: 'columnheader', thead: 'rowgroup',
  tr: 'row', ul: 'list',
};
const INPUT_ROLES = {
  __proto__: null, button: 'button', checkbox: 'checkbox', email: 'textbox', image: 'button', number: 'spinbutton',
  radio: 'radio', range: 'slider', reset: 'button', search: 'searchbox', submit: 'button', tel: 'textbox',
  text: 'textbox', url: 'textbox',
};
const LISTED = new Set(['text', 'search', 'tel', 'url', 'email']);

// Source: HTML-AAM, without the rules that depend on ancestors.
function roleOf(element) {
  const declared = attribute(element, 'role')?.trim().split(/\s+/)[0].toLowerCase();
  if (declared) return declared;
  if (!isHTML(element)) return localName(element) === 'svg' ? 'graphics-document' : null;
  const tag = localName(element);
  if (tag === 'a' || tag === 'area') return hasAttribute(element, 'href') ? 'link' : null;
  if (tag === 'input') return inputRole(element);
  if (tag === 'select') return element.multiple || element.size > 1 ? 'listbox' : 'combobox';
  return TAG_ROLES[tag] ?? null;
}

function inputRole(element) {
  const type = inputType(element);
  return LISTED.has(type) && hasAttribute(element, 'list') ? 'combobox' : (INPUT_ROLES[type] ?? null);
}

// ---- What it is called -----------------------------------------------------------------------------------------

const NAMED_BY_CONTENT = new Set([
  'button', 'cell', 'checkbox', 'columnheader', 'gridcell', 'heading', 'link', 'menuitem', 'menuitemcheckbox',
  'menuitemradio', 'option', 'radio', 'row', 'rowheader', 'switch', 'tab', 'tooltip', 'treeitem',
]);
const BUTTON_INPUTS = { __proto__: null, submit: 'Submit', reset: 'Reset', button: '' };

const collapsed = (text) => text.replace(/[\t\n\f\r ]+/g, ' ').trim();

function namesOf(element, text, masked) {
  const value = buttonText(element) ?? '';
  return withoutEmpty({
    text,
    shown: text === '' || hasOther(element) ? limited(shownText(element)) : '',
    value: limited(masked ? maskText(value) : value),
    aria_label: limited(toldAttribute(element, 'aria-label') ?? ''),
    labelledby: limited(referencedText(element)),
    label: limited(labelText(element)),
    alt: limited(altText(element) ?? ''),
    title: limited(toldAttribute(element, 'title') ?? ''),
    placeholder: limited(toldAttribute(element, 'placeholder') ?? ''),
  });
}

// More, or else, shows than the text in it.
function hasOther(element) {
  if (shadowRoot(element) !== null || closedRoots.has(element)) return true;
  return ['::before', '::after'].some((name) => generatedText(element, name) !== '')
    || [...descendants(element, '*')].slice(0, VISITS).some((inner) => isHTML(inner, 'slot') || shadowRoot(inner) !== null);
}

const limited = (text) => cutText(text, TEXT_LIMIT);
const withoutEmpty = (names) => Object.fromEntries(Object.entries(names).filter(([, text]) => text !== ''));

// `value` of an input that is a button: what the button says.
function buttonText(element) {
  if (!isHTML(element, 'input') || BUTTON_INPUTS[inputType(element)] === undefined) return null;
  return attribute(element, 'value');
}

function referencedText(element, left = allVisits()) {
  const ids = attribute(element, 'aria-labelledby')?.trim().split(/\s+/, Math.max(left.visits, 0)).filter((id) => id !== '') ?? [];
  const named = (ids.length > 0 ? ids.map((id) => besideBy(element, id)) : labelledBy(element)).filter((found) => found !== null);
  return collapsed(named.map((found) => shownText(found, { isReferenced: true, left })).join(' '));
}

// In the tree of an element.
function besideBy(element, id) {
  const root = rootNode(element);
  return isShadowRoot(root) ? inShadow(root, id) : elementById(ownerDocument(element), id);
}

// What a key acts on where the focus stays on a list, menu or combobox around it.
function activeText(element) {
  const id = attribute(element, 'aria-activedescendant')?.trim() ?? '';
  const found = id === '' ? activeElement?.(element) ?? null : besideBy(element, id);
  return found === null ? '' : limited(collapsed(shownText(found)));
}

// Elements that a script gave as labels; such may stand in a tree around that of the element.
const labelledBy = (element) => labelElements?.(element) ?? [];

function labelText(element) {
  const labels = [...((isHTML(element) && labelLists[localName(element)]?.(element)) || [])];
  return collapsed(labels.map((label) => shownText(label, { except: element })).join(' '));
}

function altText(element) {
  const own = toldAttribute(element, 'alt');
  if (own !== null) return own;
  const image = descendants(element, 'img')[0];
  return image === undefined ? null : toldAttribute(image, 'alt');
}

const attributeText = (element, name) => collapsed(toldAttribute(element, name) ?? '');

// Source: Accessible Name and Description Computation, the steps that pages depend on, in its order.
function accessibleName(element, role) {
  const own = referencedText(element) || attributeText(element, 'aria-label') || nativeName(element);
  const content = () => (NAMED_BY_CONTENT.has(role) || isHTML(element, 'summary') ? shownText(element) : '');
  return own || content() || attributeText(element, 'title') || promptOf(element);
}

function promptOf(element) {
  const isPrompted = isHTML(element, 'textarea') || (isHTML(element, 'input') && !isToggle(element));
  return isPrompted ? attributeText(element, 'placeholder') : '';
}

const OWN_CAPTION = { __proto__: null, fieldset: 'legend', table: 'caption', figure: 'figcaption' };

function nativeName(element) {
  const tag = localName(element);
  if (tag === 'img' || tag === 'area') return attributeText(element, 'alt');
  if (tag === 'option') return attributeText(element, 'label');
  if (tag === 'svg') return drawingTitle(element);
  const caption = OWN_CAPTION[tag] === undefined ? undefined : descendants(element, OWN_CAPTION[tag])[0];
  if (caption !== undefined) return shownText(caption);
  return labelText(element) || (isHTML(element, 'input') ? inputName(element) : '');
}

function drawingTitle(element, left) {
  const title = firstElement(element);
  return title !== null && localName(title) === 'title' ? shownText(title, { left }) : '';
}

function inputName(element) {
  const type = inputType(element);
  if (type === 'image') return collapsed(toldAttribute(element, 'alt') ?? 'Submit');
  return BUTTON_INPUTS[type] === undefined ? '' : collapsed(toldAttribute(element, 'value') ?? BUTTON_INPUTS[type]);
}

// Nodes that may be visited for one name, what it references included.
const VISITS = 500;
const allVisits = () => ({ visits: VISITS });

// Text of a subtree as a screen reader has it: parts by their own names; `except` and what is hidden left out, unless
// all of it is hidden. What is referenced follows no references of its own. Fields inside and generated content say
// nothing, unlike in Chromium: the one changes as it is filled, the other is mostly glyphs of icon fonts.
function shownText(element, { except = null, isReferenced = false, left = allVisits() } = {}) {
  const hasHidden = !isShown(element, { visibilityProperty: true });
  const text = collapsed(gather(element, { except, isReferenced, hasHidden, left }));
  return isMasked(element) ? maskText(text) : text;
}

const displayOf = (element) => propertyValue(styleOf(element), 'display');

// Without a box of its own an element may still show what is in it.
const isShown = (element, asked) => isDisplayed(element, asked) || displayOf(element) === 'contents';

function gather(element, way) {
  let text = isSeen(element, way) ? generatedText(element, '::before') : '';
  for (const node of shownNodes(element)) {
    way.left.visits -= 1;
    if (way.left.visits < 0 || text.length > TEXT_LIMIT) break;
    if (nodeType(node) === TEXT) text += isSeen(holderOf(node, element), way) ? characterData(node) : '';
    else if (nodeType(node) === ELEMENT && node !== way.except) text += gatherElement(node, way);
  }
  return text + (isSeen(element, way) ? generatedText(element, '::after') : '');
}

// The element whose style a text has; one directly in a shadow tree has that of the host.
const holderOf = (node, element) => (nodeType(parentNode(node)) === ELEMENT ? parentNode(node) : element);

// What stands in an element on the screen: of a host its shadow tree, of a slot what it holds, else its own content.
function* shownNodes(element) {
  const held = isHTML(element, 'slot') ? assignedNodes(element) : [];
  if (held.length > 0) return yield* held;
  const root = shadowRoot(element) ?? closedRoots.get(element) ?? element;
  for (let node = firstChild(root); node !== null; node = nextSibling(node)) yield node;
}

// Letters of private use are the glyphs of icon fonts: no one reads them.
const PRIVATE = /[\p{Co}\p{Cn}]/gu;
const PIECES = /"((?:[^"\\]|\\.)*)"|attr\(([^\s,()]+)\)|(\/)/g;

function generatedText(element, name) {
  const style = styleOf(element, name);
  const content = propertyValue(style, 'content');
  if (content === 'none' || content === 'normal' || content === '') return '';
  if (propertyValue(style, 'visibility') !== 'visible' || propertyValue(style, 'display') === 'none') return '';
  const text = alternativeOf(content, element).replace(PRIVATE, '');
  return BLOCK.test(propertyValue(style, 'display')) ? ` ${text} ` : text;
}

// Behind a stroke stands the alternative, which is read in place of what shows.
function alternativeOf(content, element) {
  let text = '';
  for (const [, quoted, named, stroke] of content.matchAll(PIECES)) {
    if (stroke !== undefined) text = '';
    else text += named === undefined ? unescaped(quoted) : (toldAttribute(element, named) ?? '');
  }
  return text;
}

const unescaped = (text) => text.replace(/\\(?:([\da-f]{1,6}) ?|(.))/gi, (_, code, letter) => (
  code === undefined ? letter : String.fromCodePoint(Math.min(parseInt(code, 16) || 0xfffd, 0x10ffff))));

const BLOCK = /^(?:block|flex|grid|list-item|table|table-cell|table-row|flow-root|inline-block)/;

const isSeen = (element, way) => way.hasHidden || propertyValue(styleOf(element), 'visibility') === 'visible';

function gatherElement(element, way) {
  if (attribute(element, 'aria-hidden') === 'true' || (!way.hasHidden && !isShown(element))) return '';
  const isOwn = isSeen(element, way);
  const name = isOwn ? partName(element, way) : '';
  if (name !== '') return ` ${name} `;
  const text = gatherContent(element, way) || (isOwn ? attributeText(element, 'title') : '');
  return BLOCK.test(displayOf(element)) || isHTML(element, 'br') ? ` ${text} ` : text;
}

function partName(element, { isReferenced, left }) {
  const referenced = isReferenced ? '' : referencedText(element, left);
  return referenced || attributeText(element, 'aria-label') || imageName(element, left);
}

function imageName(element, left) {
  const tag = localName(element);
  return tag === 'img' ? attributeText(element, 'alt') : tag === 'svg' ? drawingTitle(element, left) : '';
}

function gatherContent(element, way) {
  const content = FIELDS.has(localName(element)) ? '' : gather(element, way);
  return isMasked(element) ? maskText(content) : content;
}

// Text content up to the limit, with what is masked inside of it.
function safeText(element, masked) {
  const read = { text: '', units: 0, visits: VISITS };
  collect(element, masked, read);
  const total = read.text.length + textContent(element).length - read.units;
  if (total === read.text.length && total <= TEXT_LIMIT) return read.text;
  const kept = read.text.slice(0, TEXT_LIMIT - endsInPair(read.text, TEXT_LIMIT));
  return `${kept}⟦cut:${total - kept.length}⟧`;
}

function collect(element, masked, read) {
  for (let node = firstChild(element); node !== null; node = nextSibling(node)) {
    read.visits -= 1;
    if (read.visits < 0 || read.text.length > TEXT_LIMIT) return;
    if (nodeType(node) === ELEMENT) collect(node, masked || isMasked(node), read);
    else if (nodeType(node) === TEXT || nodeType(node) === CDATA) takeText(characterData(node), masked, read);
  }
}

function takeText(text, masked, read) {
  read.units += text.length;
  read.text += masked ? maskText(text) : text;
}

// ---- The descriptor --------------------------------------------------------------------------------------------

function describe(element, innermost, event) {
  const masked = isMasked(element);
  const role = roleOf(element);
  const text = safeText(element, masked);
  return {
    tag: localName(element).toLowerCase(), ...typeAndValue(element, masked), role: role ?? undefined,
    name: limited(accessibleName(element, role)) || undefined,
    text, names: { ...namesOf(element, text, masked), active: activeOf(element, event, masked) },
    attributes: describedAttributes(element), css: cssPath(element), ...frameFacts(ownerDocument(element)),
    box: boxOf(element), via: viaOf(element, innermost), disabled: isDisabled(element), visible: isVisible(element),
    closed_shadow: mayBeClosed(innermost) || isSealed(innermost, event), earlier: earlierNames(element, event),
    over: veilNames(element, event), cut: isCut(element), masked,
  };
}

const activeOf = (element, event, masked) => (event.type === 'keydown' && !masked && activeText(element)) || undefined;

function typeAndValue(element, masked) {
  const tag = isHTML(element) ? localName(element) : '';
  if (tag === 'button') return { type: buttonType(element), value: toldAttribute(element, 'value') ?? undefined };
  if (!FIELDS.has(tag)) return {};
  const value = valueBefore(element, tag);
  const type = tag === 'input' ? inputType(element) : undefined;
  return { type, value: masked ? maskValue(value) : cutText(value) };
}

// Events that come after the change (a select, a file input) find the value before it in what was known last.
function valueBefore(field, tag) {
  if (tag === 'input' && isToggle(field)) return inputValue(field);
  return knownValues.get(field) ?? fieldValue(field, tag);
}

function attributePairs(element) {
  const pairs = namedAttributes(element);
  const html = isHTML(element) ? localName(element) : '';
  if (isMasked(element)) maskAttributes(element, html, pairs, isMuted(element));
  return Array.from({ length: pairs.length / 2 }, (_, index) => [pairs[2 * index], pairs[2 * index + 1]]);
}

function describedAttributes(element) {
  const pairs = attributePairs(element).slice(0, ATTRIBUTES_MAX);
  return Object.fromEntries(pairs.map(([name, value]) => [name, limited(value)]));
}

function isCut(element) {
  const names = attributeNames(element);
  const lengths = names.map((name) => attribute(element, name)?.length ?? 0);
  return Math.max(textContent(element).length, ...lengths) > TEXT_LIMIT || names.length > ATTRIBUTES_MAX;
}

function frameFacts(inner) {
  return inner === document ? {} : { frame: framePath(inner), frame_url: documentURL(inner) };
}

function viaOf(element, innermost) {
  if (innermost === undefined || innermost === element) return undefined;
  return { tag: localName(innermost).toLowerCase(), css: cssPath(innermost) };
}

const isDisabled = (element) => matches(element, ':disabled') || attribute(element, 'aria-disabled') === 'true';

function isVisible(element) {
  const { width, height } = clientRect(element);
  return width > 0 && height > 0 && isDisplayed(element, { visibilityProperty: true });
}

// Nothing tells that a closed shadow root is there; an empty custom element that takes part in an action has one.
function mayBeClosed(element) {
  if (element === undefined || !localName(element).includes('-') || shadowRoot(element) !== null) return false;
  return childElements(element) === 0 && textContent(element).trim() === '';
}
