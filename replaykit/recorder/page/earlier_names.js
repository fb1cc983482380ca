// Names of a target a moment before an action, and elements over it: a page may change both during the action.

// ---- Earlier names ---------------------------------------------------------------------------------------------

const EARLIER_MS = 1000;
const EARLIER_MAX = 8;
const approaches = [];

// In the capture phase, before the page can change the element that gets the pointer or the focus.
function approach(event) {
  const path = pathOf(event);
  if (!event.isTrusted || path.length === 0) return;
  const control = controlOn(path);
  // Pointer and focus arrive together: one name is enough.
  if (!approaches.some((known) => known.control === control && now() - known.at < 50)) noteName(control);
}

function noteName(control) {
  const text = nameOf(control);
  if (text !== '') approaches.push({ control, box: boxOf(control), text, at: now() });
  if (approaches.length > EARLIER_MAX) approaches.shift();
}

const nameOf = (control) => limited(accessibleName(control, roleOf(control)) || shownText(control));

// A timer changes a label without any event: the earlier label is reported with the change.
const RENAMED_MAX = 32;
const RECORDS_MAX = 64;
const NAMING = new Set(['aria-label', 'title', 'alt']);
const renamed = [];

function noteRenamed(records) {
  for (const record of records.slice(0, RECORDS_MAX)) {
    const text = limited(oldText(record).replace(/\s+/g, ' ').trim());
    const control = text === '' ? null : controlAround(record.target);
    if (control !== null) renamed.push({ control, text, at: now() });
  }
  renamed.splice(0, renamed.length - RENAMED_MAX);
}

function oldText({ type, target, oldValue, attributeName, removedNodes }) {
  if (type === 'characterData') return oldValue;
  if (type === 'attributes') return NAMING.has(attributeName) && oldValue !== null ? oldValue : '';
  // Which parts of a removed element are masked cannot be found out any more.
  return [...removedNodes].filter((node) => MASK === '' || nodeType(node) === TEXT).map((node) => textContent(node) ?? '').join('');
}

function controlAround(node) {
  const element = nodeType(node) === ELEMENT ? node : parentNode(node);
  if (element === null || nodeType(element) !== ELEMENT || isMasked(element)) return null;
  return MASK !== '' && closest(element, MASK) !== null ? null : closest(element, CONTROL);
}

// Names of a control that was pressed are not what the next press is meant for: its page may have renamed it since, or a
// list has closed up where it stood.
const pressTimes = new WeakMap();

// Of the element, or of what stood in its place.
function earlierNames(element, event) {
  const isNew = now() - (pressTimes.get(element) ?? -Infinity) > EARLIER_MS;
  if (event.type === 'pointerdown' || event.type === 'keydown') pressTimes.set(element, now());
  const point = POINTER.has(event.type) ? pointOf(event) : null;
  const own = nameOf(element);
  const read = approaches.filter(({ control, box, at }) => (
    now() - at <= EARLIER_MS && (control === element ? isNew : (point !== null && isTakenAway(control) && holds(box, point)))));
  const changed = renamed.filter(({ control, at }) => isNew && control === element && now() - at <= EARLIER_MS);
  const still = stillNames.has(element) ? [stillNames.get(element)] : [];
  const texts = [...[...read, ...changed].slice(-EARLIER_MAX).map(({ text }) => text), ...still];
  return [...new Set(texts)].filter((text) => text !== own);
}

const isTakenAway = (control) => !isConnected(control) && !pressTimes.has(control);

const holds = ([x, y, width, height], [left, top]) => left >= x && top >= y && left <= x + width && top <= y + height;

// Style sheets may show other texts while the pointer is there: names without pointer or focus are kept with a snapshot.
const stillNames = new WeakMap();
const STILL_MAX = 100;

function keepNames(tree) {
  if (!tree.swaps) return;
  for (const control of [...queryDocument(document, CONTROL)].slice(0, STILL_MAX)) {
    if (!matches(control, ':hover, :focus-within, :active')) stillNames.set(control, nameOf(control));
  }
}

// ---- What lies over a target without being in the way ----------------------------------------------------------

// A pointer goes through it, a person reads it: known from the latest snapshot, which reads every style.
const OVERLAYS_MAX = 32;
let overlays = [];

function noteOverlay(element, style) {
  const position = propertyValue(style, 'position');
  if ((position !== 'absolute' && position !== 'fixed') || overlays.length >= OVERLAYS_MAX) return;
  if (ownerDocument(element) === document) overlays.push(element);
}

function overlayNames(element, event) {
  if (overlays.length === 0 || !POINTER.has(event.type) || event.clientX === undefined) return [];
  const point = pointOf(event);
  const over = overlays.filter((overlay) => isConnected(overlay) && !contains(element, overlay) && !contains(overlay, element)
    && isDisplayed(overlay, { opacityProperty: true, visibilityProperty: true }) && holds(boxOf(overlay), point));
  return [...new Set(over.map((overlay) => limited(shownText(overlay))).filter((text) => text !== ''))];
}
