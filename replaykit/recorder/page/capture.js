// Serializer of application/x-replaykit-dom, version 1: one walk over the page, four lines of JSON.

// Contracts of the format: counts, never times, so that load changes no byte.
const BOXES_MAX = 20000;
const STYLES_MAX = 60000;
const ELEMENTS_MAX = 250000;
const NODES_MAX = 1000000;
const TEXT_MAX = 24 * 1024 * 1024;

const DRAWING = 'http://www.w3.org/2000/svg';
const STARTS = new Map([
  [XHTML, '<'],
  [DRAWING, '%'],
  ['http://www.w3.org/1998/Math/MathML', '&'],
]);
const LEAVES = { 3: '=', 4: '=', 8: '!' };
const INSTRUCTION = 7;
const HIDDEN = -1;

function serialize() {
  const started = now();
  // First: a field that was a password until now has to be masked.
  takeTypeChanges();
  const tree = readTree();
  const lines = [headOf(tree), tree.tokens, tree.styling ? tree.style : [], tree.boxing ? tree.box : []];
  const text = `${lines.map((line) => toJSON(line, tree)).join('\n')}\n`;
  return { tree, text, cost: now() - started };
}

// ---- Head ------------------------------------------------------------------------------------------------------

function documentFacts(inner) {
  const declared = doctype(inner);
  return {
    url: documentURL(inner), base: baseURI(inner), title: documentTitle(inner), compat: documentMode(inner),
    ready: readyState(inner), doctype: declared && [declared.name, declared.publicId, declared.systemId],
  };
}

function headOf(tree) {
  const { url, base, title, compat, ready, doctype: declared } = documentFacts(document);
  return {
    snapshot: 1, url, base, title, content_type: documentType(document), charset: documentCharset(document),
    compat, ready, doctype: declared, elements: tree.elements, nodes: tree.nodes,
    styles: tree.styling ? [...tree.palette.keys()] : [],
    sheets: tree.roots.flatMap(([root, kind]) => sheetsOf(tree, root, kind)), ...headTexts(tree), ...headGenerated(tree),
    flags: flagsOf(tree),
  };
}

function flagsOf(tree) {
  const flags = [];
  if (!tree.boxing) flags.push('no_box');
  if (!tree.styling) flags.push('no_style');
  if (tree.cut) flags.push('cut');
  if (tree.overflows) flags.push('generated_cut');
  if (OPTIONS.main_world) flags.push('main_world');
  if (tree.styling) flags.push('composed');
  return flags;
}

function sheetsOf(tree, root, kind) {
  const owner = (sheet) => tree.numbers.get(sheet.ownerNode) ?? -1;
  const hanger = hangerOf(tree, root);
  const row = (sheet, number) => {
    tree.sheets.push(sheet);
    return [sheet.media.mediaText, sheet.disabled, number, rulesOf(sheet) !== null, hanger];
  };
  const linked = Array.from(kind.styleSheets(root), (sheet) => row(sheet, owner(sheet)));
  return linked.concat(Array.from(kind.adoptedStyleSheets(root), (sheet) => row(sheet, -1)));
}

// Number of the element that a tree hangs on: the host of a shadow root, the frame of an inner document.
function hangerOf(tree, root) {
  const hanger = root === document ? null : isShadowRoot(root) ? shadowHost(root) : frameOf(root);
  return hanger === null ? -1 : (tree.numbers.get(hanger) ?? -1);
}

// ---- Walk ------------------------------------------------------------------------------------------------------

function newTree() {
  overlays = [];
  const estimate = documentElements(document, '*').length;
  const tree = {
    tokens: [], closing: 0, elements: 0, nodes: 0, text: 0, repaired: 0, cut: false, full: false,
    style: [], palette: new Map(), styling: estimate <= STYLES_MAX, secure: false, scrolls: false,
    box: [], boxing: OPTIONS.boxes && estimate <= BOXES_MAX,
    numbers: new WeakMap(), gone: new Set(), roots: [], sheets: [], hosts: new Set(), templates: new Set(), scope: null, inShadow: false,
    maskRoots: new Set(), below: new Set(), masked: new Set(), secrets: [], found: [],
    focused: new Set(), frames: [], changed: [], fields: [], swaps: false, overflows: false,
  };
  tree.onCut = () => void (tree.cut = true);
  return tree;
}

// Depth lives in an array, not on the call stack: pages nest thousands of levels deep.
function readTree() {
  const tree = newTree();
  const levels = [];
  enterDocument(tree, document, [], { dx: scrollX, dy: scrollY });
  let place = { node: firstChild(document), owner: -1, scope: tree.scope, inShadow: false };
  for (;;) {
    while (place.node === null) {
      if (levels.length === 0) return finish(tree);
      place = levels.pop();
      tree.closing += 1;
    }
    place = visit(tree, place, levels);
  }
}

function emit(tree, token) {
  if (tree.closing > 0) tree.tokens.push(tree.closing);
  tree.closing = 0;
  tree.tokens.push(token);
}

function finish(tree) {
  if (tree.closing > 0) tree.tokens.push(tree.closing);
  return tree;
}

// A level is pushed for everything that a later token closes; it is taken up again where its end leads to.
function visit(tree, place, levels) {
  const { node, owner } = place;
  tree.scope = place.scope;
  tree.inShadow = place.inShadow;
  tree.full ||= tree.elements >= ELEMENTS_MAX || tree.text > TEXT_MAX || tree.nodes >= NODES_MAX;
  if (tree.full) return leaveOut(tree, place);
  place.node = nextSibling(node);
  const type = nodeType(node);
  if (type !== ELEMENT) {
    leaf(tree, node, type, owner);
    return place;
  }
  levels.push(place);
  return openElement(tree, node, owner, levels);
}

function leaveOut(tree, place) {
  let count = 0;
  for (let node = place.node; node !== null; node = nextSibling(node)) {
    if (nodeType(node) === ELEMENT) count += 1 + descendants(node, '*').length;
  }
  if (count > 0) {
    emit(tree, '~');
    tree.tokens.push(count);
  }
  tree.cut = true;
  return { ...place, node: null };
}

function leaf(tree, node, type, owner) {
  const mark = LEAVES[type];
  if (mark === undefined && type !== INSTRUCTION) return;
  const read = characterData(node);
  const data = cutText(tree.masked.has(owner) ? maskText(read) : read, STRING_MAX, tree.onCut);
  tree.nodes += 1;
  tree.text += data.length;
  emit(tree, mark === undefined ? `?${instructionTarget(node)} ${data}` : mark + data);
}

function openElement(tree, element, owner, levels) {
  const number = tree.elements;
  const tag = localName(element);
  const uri = namespaceURI(element);
  const html = uri === XHTML ? tag : '';
  tree.elements += 1;
  tree.nodes += 1;
  tree.numbers.set(element, number);
  tree.found.push(element);
  takeColumns(tree, element, number, owner);
  const mask = takeMask(tree, element, html, number, owner);
  emit(tree, html === '' ? foreignStart(uri ?? '', tag) : `<${tag}`);
  takeAttributes(tree, element, html, mask);
  takeState(tree, element, html, number, mask !== null);
  return enter(tree, element, html, number, levels);
}

function foreignStart(uri, tag) {
  const mark = STARTS.get(uri);
  return mark === undefined ? `^${uri} ${tag}` : mark + tag;
}

// Where to go on after the start of an element.
function enter(tree, element, html, number, levels) {
  const inside = { node: firstChild(element), owner: number, scope: tree.scope, inShadow: false };
  const shadow = shadowRoot(element) ?? closedRoots.get(element) ?? null;
  if (shadow !== null) return enterShadow(tree, shadow, inside, levels);
  if (html === 'template') return enterTemplate(tree, element, inside);
  const inner = frameDocuments[html]?.(element) ?? null;
  return inner === null ? inside : enterFrame(tree, element, inner, inside, levels);
}

function enterShadow(tree, shadow, inside, levels) {
  tree.hosts.add(inside.owner);
  takeRoot(tree, shadow, SHADOW_ROOT);
  watchShadow(shadow);
  emit(tree, closedRoots.has(shadowHost(shadow)) ? '#closed' : '#open');
  levels.push(inside);
  return { ...inside, node: firstChild(shadow), inShadow: true };
}

// By host: what the browser has shown of roots that no script can find.
const closedRoots = new WeakMap();

function reveal(root) {
  closedRoots.set(shadowHost(root), root);
}

// How many elements there are, and how many of them may hide a closed root.
function sealed() {
  const elements = documentElements(document, '*');
  return [elements.length, Array.from(elements).filter((element) => mayBeClosed(element)).length];
}

function enterTemplate(tree, element, inside) {
  tree.templates.add(inside.owner);
  return { ...inside, node: firstChild(templateContent(element)) };
}

function enterFrame(tree, element, inner, inside, levels) {
  enterDocument(tree, inner, [...tree.scope.path, tree.scope.frames - 1], contentOrigin(element, tree));
  emit(tree, '@');
  const charset = documentCharset(inner);
  tree.tokens.push({ ...documentFacts(inner), ...(charset !== documentCharset(document) && { charset }) });
  levels.push(inside);
  return { ...inside, node: firstChild(inner), scope: tree.scope };
}

function enterDocument(tree, inner, path, origin) {
  tree.scope = { root: documentElement(inner), body: documentBody(inner), path, frames: 0, ...origin };
  takeRoot(tree, inner, DOCUMENT_ROOT);
  watchDocument(inner, path);
}

function takeRoot(tree, root, kind) {
  tree.roots.push([root, kind]);
  if (tree.styling) tree.swaps ||= swapsTexts(root, kind);
  const focused = kind.activeElement(root);
  if (focused !== null && focused !== tree.scope.body && focused !== tree.scope.root) tree.focused.add(focused);
  if (MASK !== '') for (const element of kind.query(root, MASK)) tree.maskRoots.add(element);
}

// ---- Styles and boxes ------------------------------------------------------------------------------------------

// Properties that each value of `display` allows: pages have a dozen values.
const NO_SCROLLER = /^(?:contents|inline|ruby|table|inline-table|table-(?!caption).*)$/;
const NEVER_OUT = /^(?:contents|inline|ruby|table-)/;
const allowances = new Map();

function allowed(display) {
  let found = allowances.get(display);
  if (found === undefined) {
    found = { scrolling: !NO_SCROLLER.test(display), leaving: !NEVER_OUT.test(display) };
    allowances.set(display, found);
  }
  return found;
}

// Beyond a limit a column is dropped whole, so that what is taken depends on the page only.
function takeColumns(tree, element, number, owner) {
  if (tree.elements > BOXES_MAX) tree.boxing = false;
  if (tree.elements > STYLES_MAX) tree.styling = false;
  tree.scrolls = false;
  tree.secure = false;
  if (tree.styling) takeStyle(tree, element, number, isHidden(tree, element, owner));
  else if (FIELDS.has(localName(element))) tree.secure = hasTextSecurity(element);
  if (tree.boxing) takeBox(tree, element, number);
}

// Text security is also read for hidden elements, because the snapshot holds their values.
function takeStyle(tree, element, number, hidden) {
  const style = styleOf(element);
  tree.secure = isSecurity(propertyValue(style, '-webkit-text-security'));
  tree.style.push(hidden ? hiddenIndex(tree, style, number) : paletteIndex(tree, readStyle(tree, style, element)));
}

// Without a box there, an element of display `contents` reads as empty, any other as its text content.
function hiddenIndex(tree, style, number) {
  if (propertyValue(style, 'display') !== 'contents') return HIDDEN;
  tree.gone.add(number);
  return paletteIndex(tree, 'contents|visible|collapse|none');
}

function readStyle(tree, style, element) {
  const display = propertyValue(style, 'display');
  if (display === 'none' || display === '') return display;
  if (isUnchosen(element)) return 'none';
  const allows = allowed(display);
  tree.scrolls = allows.scrolling && isScroller(propertyValue(style, 'overflow-y'));
  if (allows.leaving && propertyValue(style, 'pointer-events') === 'none') noteOverlay(element, style);
  const wraps = propertyValue(style, 'white-space-collapse');
  const cases = propertyValue(style, 'text-transform');
  const letters = styleLetters(tree, style, element) + (allows.leaving && isOutOfFlow(style) ? 'f' : '');
  return `${display}|${propertyValue(style, 'visibility')}|${wraps}|${cases}${letters === '' ? '' : `|${letters}`}`;
}

// Letters for styles that hide or mask an element.
function styleLetters(tree, style, element) {
  const skipping = propertyValue(style, 'content-visibility');
  const isFar = skipping === 'auto' && isSkipped(element);
  const clear = propertyValue(style, 'opacity') === '0';
  return (skipping === 'hidden' ? 'c' : isFar ? 'ca' : '') + (clear ? 'o' : '') + (tree.secure ? 's' : '');
}

// With `content-visibility: auto` a child that would be rendered shows it; without such a child, the text does.
const AUTO = { contentVisibilityAuto: true };

function isSkipped(element) {
  for (let child = firstElement(element); child !== null; child = nextElement(child)) {
    if (isDisplayed(child)) return !isDisplayed(child, AUTO);
  }
  return isHTML(element) && innerText(element) === '' && (firstChild(element) !== null || !isNear(element));
}

function isOutOfFlow(style) {
  if (propertyValue(style, 'float') !== 'none') return true;
  const position = propertyValue(style, 'position');
  return position === 'absolute' || position === 'fixed';
}

// Of a drawing, what is for other languages or features has no box, whatever its display is.
function isUnchosen(element) {
  if (namespaceURI(element) !== DRAWING) return false;
  const isChoice = hasAttribute(element, 'systemLanguage') || hasAttribute(element, 'requiredExtensions');
  return (isChoice || matches(element, 'switch > *')) && !isDisplayed(element);
}

const isScroller = (overflow) => overflow !== 'visible' && overflow !== 'clip';

// An empty element shows no sign of that: browsers skip those more than one and a half viewports away.
function isNear(element) {
  const { top, bottom } = clientRect(element);
  return bottom > -1.5 * innerHeight && top < 2.5 * innerHeight;
}

// An empty display is that of an element without a place in the flat tree: no slot takes it.
function paletteIndex(tree, entry) {
  if (entry === '') return HIDDEN;
  const index = tree.palette.get(entry);
  if (index !== undefined) return index;
  tree.palette.set(entry, tree.palette.size);
  return tree.palette.size - 1;
}

function isGone(tree, number) {
  const index = tree.style[number];
  return index === HIDDEN || index === tree.palette.get('none') || tree.gone.has(number);
}

// Light children of a shadow host are rendered where their slot is, or nowhere.
function isHidden(tree, element, owner) {
  if (owner < 0) return false;
  if (isGone(tree, owner) || tree.templates.has(owner)) return true;
  if (tree.inShadow || !tree.hosts.has(owner)) return false;
  const slot = assignedSlot(element);
  return slot === null || isGone(tree, tree.numbers.get(slot));
}

function takeBox(tree, element, number) {
  const { x, y, width, height } = isGone(tree, number) ? NO_BOX : clientRect(element);
  // All zeros: not rendered, or without a box of its own (`display: contents`).
  const { dx, dy } = x === 0 && y === 0 && width === 0 && height === 0 ? NO_SCROLL : tree.scope;
  tree.box.push(Math.round(x + dx), Math.round(y + dy), Math.round(width), Math.round(height));
}

const NO_BOX = { x: 0, y: 0, width: 0, height: 0 };
const NO_SCROLL = { dx: 0, dy: 0 };

// Boxes of an inner document are in the coordinates of the outermost one, as if the frame were a scroller.
function contentOrigin(element, { scope }) {
  const { x, y } = clientRect(element);
  const style = styleOf(element);
  const padding = (side) => parseFloat(propertyValue(style, `padding-${side}`)) || 0;
  return {
    dx: scope.dx + x + clientLeft(element) + padding('left'),
    dy: scope.dy + y + clientTop(element) + padding('top'),
  };
}

// ---- Attributes, masks, state ----------------------------------------------------------------------------------

function takeMask(tree, element, html, number, owner) {
  const below = tree.below.has(owner) || tree.maskRoots.has(element);
  if (below) tree.below.add(number);
  const isField = FIELDS.has(html);
  const isMuted = below || (tree.secure && !isField);
  if (!isMuted && !tree.secure && !isSecretField(element, html)) return null;
  tree.masked.add(number);
  tree.secrets.push(element);
  return { isMuted };
}

function takeAttributes(tree, element, html, mask) {
  const names = attributeNames(element);
  if (names.length === 0) return;
  const pairs = plainAttributes(element, names, html) ?? spelledAttributes(element, html);
  if (mask !== null) maskAttributes(element, html, pairs, mask.isMuted);
  for (let index = 1; index < pairs.length; index += 2) {
    if (pairs[index].length > STRING_MAX) pairs[index] = cutText(pairs[index], STRING_MAX, tree.onCut);
    tree.text += pairs[index].length;
  }
  emit(tree, pairs);
}

// Null where one has a namespace, or looks so, or two have one name.
function plainAttributes(element, names, html) {
  const pairs = [];
  for (let index = 0; index < names.length; index += 1) {
    const content = plainAttribute(element, null, names[index]);
    if (content === null || names.indexOf(names[index]) !== index) return null;
    if (html === '' && (names[index] === 'xmlns' || names[index].includes(':'))) return null;
    pairs.push(names[index], content);
  }
  return pairs;
}

function spelledAttributes(element, html) {
  return Array.from(attributeNodes(element)).flatMap((node) => [spelledName(node, html), node.value]);
}

const XML_PREFIXES = {
  __proto__: null, xlink: 'http://www.w3.org/1999/xlink', xml: 'http://www.w3.org/XML/1998/namespace',
  xmlns: 'http://www.w3.org/2000/xmlns/',
};

// The namespace is spelled out where the name does not give it: foreign elements have the usual prefixes.
function spelledName({ name, namespaceURI: uri }, html) {
  const [prefix, local] = name.split(':');
  const usual = html === '' && (local !== undefined || name === 'xmlns') ? XML_PREFIXES[prefix] : undefined;
  return (uri ?? '') === (usual ?? '') ? name : `^${uri ?? ''} ${name}`;
}

const namedAttributes = (element) => Array.from(attributeNodes(element)).flatMap((node) => [serializedName(node), node.value]);

// As page source has it.
function serializedName({ name, localName: local, namespaceURI: uri }) {
  const [prefix] = Object.keys(XML_PREFIXES).filter((known) => XML_PREFIXES[known] === uri);
  return prefix === undefined || (prefix === 'xmlns' && local === 'xmlns') ? name : `${prefix}:${local}`;
}

// Frameworks copy values into attributes, and texts into links: such attributes are masked as well.
function maskAttributes(element, html, pairs, isMuted) {
  const values = new Set(html === 'input' ? [inputValue(element), attribute(element, 'value')] : []);
  const longest = pairs.reduce((most, { length }) => Math.max(most, length), 0);
  const text = isMuted ? textUpTo(element, longest).trim() : '';
  for (let index = 1; index < pairs.length; index += 2) {
    const name = pairs[index - 1].replace(/^.*[ :]/, '');
    const isText = name === 'value' || (isMuted && TEXT_ATTRIBUTES.has(name));
    if (values.has(pairs[index])) pairs[index] = maskField(pairs[index]);
    else if (isText || holdsCopy(pairs[index], text)) pairs[index] = maskValue(pairs[index]);
  }
}

// Of short texts only an equal one is a copy.
const holdsCopy = (value, text) => text !== '' && (value === text || (text.length >= 4 && value.includes(text)));

// Text content; what is longer than `most` is cut somewhere behind it, for nothing as short can hold it.
function textUpTo(element, most) {
  let text = '';
  for (let node = firstChild(element); node !== null && text.length <= most; node = nextSibling(node)) {
    if (nodeType(node) === ELEMENT) text += textUpTo(node, most - text.length);
    else if (nodeType(node) === TEXT) text += characterData(node);
  }
  return text;
}

function takeState(tree, element, html, number, masked) {
  draft = null;
  FIELD_STATES[html]?.(element, tree, masked);
  if (mayScroll(tree, element)) noteScroll(element);
  if (tree.focused.has(element)) note('focus', true);
  if (html.includes('-') && matches(element, ':enabled,:disabled')) note('control', true);
  if (html === 'dialog' && matches(element, ':modal')) note('modal', true);
  if (html !== '' && hasAttribute(element, 'popover') && matches(element, ':popover-open')) note('popover', true);
  IMAGE_STATES[html]?.(element);
  if (frameDocuments[html] !== undefined) noteFrame(tree, element, html, number);
  if (masked) note('masked', true);
  if (draft !== null) emit(tree, draft);
}

function mayScroll(tree, element) {
  if (element === tree.scope.root || element === tree.scope.body) return true;
  return tree.styling ? tree.scrolls : scrolledElements.has(element);
}

// By owner element: the browser's id of the frame in it, as the recorder sent it.
const frameIds = new WeakMap();

// A frame element outside of any document (in a template) holds no document that could be missed.
function noteFrame(tree, element, html, number) {
  if (!isConnected(element)) return;
  const path = [...tree.scope.path, tree.scope.frames];
  tree.scope.frames += 1;
  if (frameDocuments[html](element) !== null) return;
  const { dx, dy } = contentOrigin(element, tree);
  const id = frameIds.get(element) ?? '';
  note('frame', tree.frames.length);
  tree.frames.push({ number, path, url: attribute(element, 'src') ?? '', id, origin: [dx, dy].map(Math.round) });
}
