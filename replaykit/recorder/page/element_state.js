// Live state of elements: what is not in their attributes.

// Values as of the latest serialization or event of a field: what differs later has changed without an event.
const knownValues = new WeakMap();
// Values before the next event of a field: also those that the page itself entered since, and reported.
const latestValues = new WeakMap();
const scrolledElements = new WeakSet();
let fieldsSeen = [];
const UNTYPED = new Set(['checkbox', 'radio', 'file', 'hidden', 'submit', 'button', 'reset', 'image']);

let draft = null;

function note(key, value) {
  draft ??= {};
  draft[key] = value;
}

function fieldValue(field, tag) {
  if (tag === 'select') return selectValue(field);
  if (tag === 'textarea') return areaValue(field);
  return isToggle(field) ? String(isChecked(field)) : inputValue(field);
}

// An editor (without a tag) holds its text itself.
const heldValue = (field, tag) => (tag === '' ? textContent(field) : fieldValue(field, tag));

const isToggle = (field) => inputType(field) === 'checkbox' || inputType(field) === 'radio';

function trackField(field, tag, tree) {
  const value = heldValue(field, tag);
  tree.fields.push([field, tag]);
  const before = knownValues.get(field);
  rememberValue(field, value);
  if (before === undefined || before === value || isUncheckedRadio(field, tag, value)) return;
  tree.changed.push([field, before, value]);
}

function rememberValue(field, value, isReaction = false) {
  latestValues.set(field, value);
  if (!isReaction) knownValues.set(field, value);
}

// Only `input` events report all that a user entered into a field of text: a page may put another text there since.
function reportsValue({ type, isTrusted }, field) {
  const isText = isHTML(field, 'textarea') || (isHTML(field, 'input') && !UNTYPED.has(inputType(field)));
  return type === 'input' || (type === 'change' && !(isTrusted && isText));
}

const EDITORS = '[contenteditable]:not([contenteditable="false" i])';
const EDITORS_MAX = 50;

function trackEditors(tree) {
  for (const editor of [...queryDocument(document, EDITORS)].slice(0, EDITORS_MAX)) trackField(editor, '', tree);
}

// Setting a value triggers no mutation observer of the document.
const hasUnreportedField = () => fieldsSeen.some(([field, tag]) => {
  const value = heldValue(field, tag);
  return knownValues.get(field) !== value && !isUncheckedRadio(field, tag, value);
});

// Checking one radio unchecks another without an event of its own.
const isUncheckedRadio = (field, tag, value) => tag === 'input' && value === 'false' && inputType(field) === 'radio';

function noteText(live, initial, masked, tree) {
  tree.text += live.length;
  if (live !== initial) note('value', masked ? maskField(live) : cutText(live, STRING_MAX, tree.onCut));
}

const FIELD_STATES = {
  __proto__: null,
  input(element, tree, masked) {
    trackField(element, 'input', tree);
    const type = inputType(element);
    noteChecked(element);
    if (type === 'file') noteFiles(element);
    else if (!UNTYPED.has(type)) noteText(inputValue(element), attribute(element, 'value') ?? '', masked, tree);
  },
  textarea(element, tree, masked) {
    trackField(element, 'textarea', tree);
    noteText(areaValue(element), textContent(element), masked, tree);
  },
  select(element, tree) {
    trackField(element, 'select', tree);
    note('selected', selectedIndices(element));
  },
  option(element) {
    const isChosen = isSelected(element);
    if (isChosen !== hasAttribute(element, 'selected') && closest(element, 'select') === null) note('selected', isChosen ? [0] : []);
  },
  slot(element) {
    const root = rootNode(element);
    if (isShadowRoot(root) && slotAssignment(root) === 'manual') note('assigned', assignedPlaces(element, shadowHost(root)));
  },
};

function assignedPlaces(slot, host) {
  const places = [];
  const held = new Set(assignedNodes(slot));
  for (let node = firstChild(host), place = 0; node !== null; node = nextSibling(node), place += 1) {
    if (held.has(node)) places.push(place);
  }
  return places;
}

// Scripts may set it whatever the type is, and change the type later.
function noteChecked(element) {
  if (isChecked(element) !== hasAttribute(element, 'checked')) note('checked', isChecked(element));
  if (isIndeterminate(element)) note('indeterminate', true);
}

function noteFiles(element) {
  const chosen = [...(inputFiles(element) ?? [])];
  if (chosen.length > 0) note('files', chosen.map((file) => [file.name, file.size, file.type]));
}

function selectedIndices(element) {
  const indices = [];
  const options = selectOptions(element);
  for (let index = 0; index < options.length; index += 1) if (isSelected(options[index])) indices.push(index);
  return indices;
}

const IMAGE_STATES = {
  __proto__: null,
  img(element) {
    if (!element.complete) return;
    if (element.naturalWidth > 0) note('image', [element.naturalWidth, element.naturalHeight]);
    else if (hasAttribute(element, 'src') || hasAttribute(element, 'srcset')) note('image', null);
  },
  canvas: (element) => note('canvas', [element.width, element.height]),
  video: (element) => note('video', [element.videoWidth, element.videoHeight]),
};

function noteScroll(element) {
  const [top, left] = [Math.round(scrollTop(element)), Math.round(scrollLeft(element))];
  if (top !== 0 || left !== 0) note('scroll', [top, left]);
}
