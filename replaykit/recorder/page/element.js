// Descriptors of elements: which control an action is on, where it is, and what is recorded of it.

const TEXT_LIMIT = 1024;
const ATTRIBUTES_MAX = 64;

// ---- Which element ---------------------------------------------------------------------------------------------

const WIDGET_ROLES = [
  'button', 'checkbox', 'combobox', 'gridcell', 'link', 'menuitem', 'menuitemcheckbox', 'menuitemradio',
  'option', 'radio', 'scrollbar', 'searchbox', 'slider', 'spinbutton', 'switch', 'tab', 'textbox', 'treeitem',
];
const CONTROL = [
  'button', 'a[*|href]', 'input', 'select', 'textarea', 'option', 'summary', 'label', '[onclick]:not(html, body)',
  '[contenteditable]:not([contenteditable="false" i])', ...WIDGET_ROLES.map((role) => `[role~="${role}" i]`),
].join(',');

// Lists of entries that stand inside of another control: an entry of a menu or tree has those of the next level in it.
const NESTED = ['treeitem', 'menuitem'].map((role) => `[role~="${role}" i] [role~="group" i]`)
  .concat(['listbox', 'menu', 'tree'].map((role) => `[role~="${role}" i]`)).join(',');

// Holders of controls: nothing around one is the control of a target inside of it.
const HOLDER = ['dialog', 'alertdialog', 'menubar', 'radiogroup', 'tablist']
  .map((role) => `[role~="${role}" i]`).concat('dialog', NESTED).join(',');

// Custom elements that are associated with forms are controls, of whatever role.
const isAssociated = (element) => isHTML(element) && localName(element).includes('-') && matches(element, ':enabled,:disabled');
const isControl = (element) => matches(element, CONTROL) || isAssociated(element);

// The innermost target and its nearest control; both may lie in different shadow trees.
function controlOn(path) {
  const elements = path.filter((node) => nodeType(node) === ELEMENT);
  const found = elements.find((element) => isControl(element) || matches(element, HOLDER));
  return found !== undefined && isControl(found) ? found : elements[0];
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
// Source: WAI-ARIA 1.3, without its abstract roles. Those of its modules begin with a prefix.
const ARIA_ROLES = new Set(`alert alertdialog application article banner blockquote button caption cell checkbox code
  columnheader combobox comment complementary contentinfo definition deletion dialog directory document emphasis feed
  figure form generic grid gridcell group heading image img insertion link list listbox listitem log main mark marquee
  math menu menubar menuitem menuitemcheckbox menuitemradio meter navigation none note option paragraph presentation
  progressbar radio radiogroup region row rowgroup rowheader scrollbar search searchbox sectionfooter sectionheader
  separator slider spinbutton status strong subscript suggestion superscript switch tab table tablist tabpanel term
  textbox time timer toolbar tooltip tree treegrid treeitem`.split(/\s+/));
const isRole = (word) => ARIA_ROLES.has(word) || /^(?:doc|graphics)-/.test(word);
const UNNAMED = new Set(['none', 'presentation']);
// Elements that take the focus or have a label keep their own role.
const NEVER_UNNAMED = `a[*|href],area[href],button,input,select,textarea,summary,iframe,[tabindex],[aria-label],[aria-labelledby],
  [contenteditable]:not([contenteditable="false" i])`;

// Source: WAI-ARIA (the first word that is a role), HTML-AAM without the rules that depend on ancestors.
function roleOf(element) {
  return declaredRole(element) ?? ownRole(element);
}

function declaredRole(element) {
  const words = attribute(element, 'role')?.toLowerCase().split(/[\t\n\f\r ]+/) ?? [];
  const declared = words.find(isRole) ?? null;
  return UNNAMED.has(declared) && matches(element, NEVER_UNNAMED) ? null : declared;
}

function ownRole(element) {
  const tag = localName(element);
  if (tag === 'a' || tag === 'area') return matches(element, '[*|href]') ? 'link' : null;
  if (!isHTML(element)) return tag === 'svg' ? 'graphics-document' : null;
  if (tag === 'input') return inputRole(element);
  if (tag === 'select') return element.multiple || element.size > 1 ? 'listbox' : 'combobox';
  return TAG_ROLES[tag] ?? null;
}

function inputRole(element) {
  const type = inputType(element);
  return LISTED.has(type) && hasAttribute(element, 'list') ? 'combobox' : (INPUT_ROLES[type] ?? null);
}

// ---- Its text --------------------------------------------------------------------------------------------------

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
    if (nodeType(node) === ELEMENT && matches(node, NESTED)) read.units += textContent(node).length;
    else if (nodeType(node) === ELEMENT) collect(node, masked || isMasked(node), read);
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
    over: overlayNames(element, event), cut: isCut(element), masked,
  };
}

const activeOf = (element, event, masked) => (event.type === 'keydown' && !masked && activeText(element)) || undefined;

function typeAndValue(element, masked) {
  const tag = isHTML(element) ? localName(element) : '';
  if (tag === 'button') return { type: buttonType(element), value: safeAttribute(element, 'value') ?? undefined };
  if (!FIELDS.has(tag)) return {};
  const value = valueBefore(element, tag);
  const type = tag === 'input' ? inputType(element) : undefined;
  return { type, value: masked ? maskField(value) : cutText(value) };
}

// Events that come after the change (a select, a file input) find the value before it in what was known last.
function valueBefore(field, tag) {
  if (tag === 'input' && isToggle(field)) return inputValue(field);
  return latestValues.get(field) ?? fieldValue(field, tag);
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

// No property shows a closed shadow root; an empty custom element that takes part in an action has one.
function mayBeClosed(element) {
  if (element === undefined || !localName(element).includes('-') || shadowRoot(element) !== null) return false;
  // A person writes into the element itself: a caret in it says so.
  if (isHTML(element) && isEditable(element)) return false;
  return childElements(element) === 0 && textContent(element).trim() === '';
}
