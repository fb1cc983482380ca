// Events of one input of a user: a page reacts in the task of the event, however long its handlers take. No
// clock is read, so that a slow machine gives the same result.

const POINTER = new Set(['pointerdown', 'pointerup', 'click', 'dblclick', 'auxclick', 'contextmenu']);
// Made by a user agent from input only: no script can make a trusted one.
const BY_USER = new Set([...POINTER, 'keydown', 'wheel', 'dragstart', 'drop']);
const BY_POINTER = new Set([...POINTER, 'dragstart', 'drop']);

// ---- Tasks -----------------------------------------------------------------------------------------------------

// A message to ourselves comes after the task, and before whatever the page does later.
const FRESH = { isOpen: false, isClick: false, isOfUser: false, isKey: false, isPointer: false, isEdit: false, isAwaited: false };
const task = { number: 0, ...FRESH };
const channel = new MessageChannel();
channel.port1.onmessage = guarded(leaveTask);

// Their tasks are waited for: their results are known when the tasks are over.
const WAITED = new Set([...POINTER, 'keydown', 'beforeinput', 'input', 'change', 'dragstart', 'drop']);

function enterTask({ type, isTrusted }) {
  if (!task.isOpen) {
    task.number += 1;
    channel.port2.postMessage(null);
  }
  task.isOpen = true;
  task.isAwaited ||= WAITED.has(type) && (isTrusted || BY_SCRIPT.has(type));
}

function leaveTask() {
  endNameless(false);
  reportPasted();
  const { number, isAwaited, isPointer } = task;
  Object.assign(task, FRESH);
  // Of a target that a page takes away as the button goes up, the browser reports no click.
  const gone = (isPointer && pressed.control !== null && !isConnected(pressed.control)) || undefined;
  if (isAwaited) postEvent('idle', { task: number, gone });
}

// After an event is reported: everything in its task is caused by it.
function stayInTask({ type, isTrusted }) {
  task.isClick ||= type === 'click';
  task.isOfUser ||= isTrusted && BY_USER.has(type);
  task.isPointer ||= isTrusted && BY_POINTER.has(type);
  task.isEdit ||= isTrusted && type === 'beforeinput';
}

// ---- Causes ----------------------------------------------------------------------------------------------------

const held = { pointers: new Set(), isDown: false, key: null };

// The text of a key follows its keypress, other edits its keydown; a driver's text without a key comes after keyup.
// A busy page gets several inputs at once: the next one ends what a key may cause, whether its task is over or not.
function followKey(event) {
  const { type, isTrusted } = event;
  if (!isTrusted) return;
  held.key = type === 'keydown' ? event : null;
  if (type !== 'keyup') enterTask({ type, isTrusted });
  task.isKey = type !== 'keyup' && !MODIFIERS.includes(keyOf(event));
}

// Whether a character belongs to the last key. A page that cancels a key gets no character of it.
const isOfKey = () => held.key !== null && !held.key.defaultPrevented && !isNameless(held.key) && !MODIFIERS.includes(keyOf(held.key));

// A driver may give a key no name, and a text: its character names it, which comes in the same task if there is one.
const isNameless = (event) => event.type === 'keydown' && event.isTrusted && ['', 'Unidentified'].includes(keyOf(event));
let reportNameless = null;

function endNameless(isNamed) {
  const report = reportNameless;
  reportNameless = null;
  if (!isNamed) report?.();
}

// Some drivers type by characters, which press no key before: each counts as a key of that name.
function pressOf(character) {
  const { charCode, isTrusted, timeStamp, ctrlKey, metaKey, altKey } = character;
  const key = charCode === 13 ? 'Enter' : String.fromCodePoint(charCode);
  const [getModifierState, composedPath] = [(name) => isHeld(character, name), () => character.composedPath()];
  return { type: 'keydown', isTrusted, key, timeStamp, ctrlKey, metaKey, altKey, getModifierState, composedPath };
}

function followPointer({ type, isTrusted, pointerId }) {
  if (!isTrusted) return;
  held.isDown = type === 'pointerdown';
  if (held.isDown) held.pointers.add(pointerId);
  else held.pointers.delete(pointerId);
  if (held.isDown) task.isKey = false;
}

// Text is entered by keys and by drivers, and by no pointer; pasted and dropped text has other types.
const ENTERED = new Set(['insertText', 'insertCompositionText', 'insertLineBreak', 'insertParagraph']);
const isEntered = ({ inputType }) => ENTERED.has(inputType);

// Whose doing an event is: `key` or `pointer` of a user, `driver` (a script of another world than the page's), `page`
// (its own, while it handles another event), `` = a script of the page's world, `unseen` = of whatever world.
function causeOf(event, isNested) {
  if (!event.isTrusted) return isNested ? 'page' : scriptCause();
  const isFocus = event.type === 'focusin';
  if (isFocus && isOfDriver()) return 'driver';
  if (task.isKey) return 'key';
  if (isEntered(event)) return isNested ? 'page' : '';
  if (task.isPointer || held.isDown) return 'pointer';
  return isFocus ? isNested ? 'page' : scriptCause() : '';
}

const scriptCause = () => (hasStack() ? isOfDriver() ? 'driver' : '' : 'unseen');

// Our own script and those of drivers see each other on the call stack, and no page's; where a document has no origin
// of its own, each sees itself only.
const hasStack = () => !OPTIONS.main_world && globalThis.origin !== 'null';

function isOfDriver() {
  if (!hasStack()) return false;
  const calls = new Error().stack.split('\n').slice(1);
  return calls.some((call) => !call.includes(OPTIONS.label));
}

// Events that are being handled. What is dispatched meanwhile, a handler dispatches. The browser leaves the phase of a
// document's own events as it was, so they would never end.
const handling = [];

function nest(event) {
  while (handling.length > 0 && eventPhase(handling.at(-1)) === 0) handling.pop();
  return (OF_DOCUMENT.has(event.type) ? handling.length + 1 : handling.push(event)) > 1;
}

// ---- Drags -----------------------------------------------------------------------------------------------------

const DRAG_MIN = 10;
const NO_POINT = [0, 0];
const pressed = { control: null, point: NO_POINT, corner: NO_POINT, isDragged: false };

function press(event, control) {
  const [point, corner] = [pointOf(event), cornerOf(control)];
  if (event.isTrusted) Object.assign(pressed, { control, point, corner, isDragged: false });
}

const cornerOf = (control) => boxOf(control).slice(0, 2);

// The dragged element is still under the pointer: the drop is on the element below.
function released(event, control, innermost) {
  pressed.isDragged = event.isTrusted && pressed.control !== null && isDrag(event, innermost);
  if (!pressed.isDragged) return [control, innermost];
  const inner = ownerDocument(pressed.control);
  const under = elementsAt(inner, event.clientX, event.clientY);
  const below = under.find((element) => !contains(pressed.control, element) && !contains(element, pressed.control));
  return below === undefined ? [control, innermost] : [closest(below, CONTROL) ?? below, below];
}

// The page keeps the pointer to itself, or moves what was pressed along with it; images are drawn and panned.
function isDrag(event, innermost) {
  const way = minus(pointOf(event), pressed.point);
  if (Math.hypot(...way) < DRAG_MIN || !isConnected(pressed.control)) return false;
  if (holdsPointer(innermost, event.pointerId) || isHTML(pressed.control, 'canvas')) return true;
  const shift = minus(cornerOf(pressed.control), pressed.corner);
  return Math.hypot(...shift) >= DRAG_MIN / 2 && shift[0] * way[0] + shift[1] * way[1] > 0;
}

const minus = (a, b) => [a[0] - b[0], a[1] - b[1]];

function droppedFiles(event) {
  const files = event.dataTransfer?.files ?? [];
  return files.length > 0 ? filesData(files) : undefined;
}
