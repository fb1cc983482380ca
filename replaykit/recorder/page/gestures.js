// Reports of trusted events: listeners in the capture phase, before any handler of the page.

const PASSIVE = { capture: true, passive: true };
const ANSWERING = { capture: true, passive: false };
const REPORTED = [
  'pointerdown', 'pointerup', 'click', 'dblclick', 'auxclick', 'contextmenu', 'keydown', 'keypress',
  'beforeinput', 'input', 'change', 'submit', 'focusin', 'compositionend', 'dragstart', 'drop', 'wheel', 'scroll', 'toggle',
  'pageshow', 'beforeunload', 'pagehide',
];
const OF_DOCUMENT = new Set(['pageshow', 'beforeunload', 'pagehide']);
// These do not leave a shadow tree.
const CONFINED = ['change', 'submit', 'scroll', 'toggle'];
// These events have no visible effect by themselves.
const WITHOUT_EFFECT = new Set(['focusin', 'compositionend', 'beforeunload']);
const ACTIVITY_EVENTS = ['load', 'transitionend', 'animationend', 'hashchange', 'popstate', 'readystatechange'];

const GESTURES = new Set(['pointerdown', 'keydown', 'beforeinput', 'dragstart']);
const ACTIONS = new Set([...BY_USER, 'beforeinput', 'change', 'pageshow']);
// A script run for an agent dispatches these; other untrusted events give no information.
const BY_SCRIPT = new Set(['click', 'input', 'change', 'dragstart', 'drop']);
// A script may dispatch these in place of a click or a key. They begin no gesture.
const DISPATCHED = new Set([
  'pointerdown', 'pointerup', 'mousedown', 'mouseup', 'touchstart', 'touchend', 'dblclick', 'auxclick', 'contextmenu',
  'keydown', 'keypress', 'keyup',
]);
const GESTURE_MS = 1000;

// ---- Installing ------------------------------------------------------------------------------------------------

const reported = guarded(inOneMessage(onEvent));
const reportDispatched = guarded(inOneMessage(onDispatched));
const dispatched = (event) => void (event.isTrusted || reportDispatched(event));
const wasActive = guarded(() => activity());
const moved = guarded((event) => void (seen.pointer = pointOf(event)));
const approached = guarded(approach);
const early = guarded(pushEarly);
const adopted = guarded(adopt);
const pasted = guarded(paste);
const submitted = guarded(submitting);
const collected = guarded(collecting);
const left = guarded(inOneMessage(leave));
const cameBack = guarded(comeBack);
const travelled = guarded(inOneMessage(travel));
const keyFollowed = guarded(followKey);
const pointerFollowed = guarded(followPointer);
const loaded = guarded(({ target }) => void (isFrame(target) && watchFrames(document, [])));
const armed = [];

function listen(inner) {
  const view = documentWindow(inner);
  if (view === null) return;
  addCounter(view);
  for (const name of REPORTED) on(view, name, reported);
  for (const name of DISPATCHED) on(view, name, dispatched);
  for (const name of ACTIVITY_EVENTS) on(view, name, wasActive);
  for (const name of ['keydown', 'keypress', 'keyup']) on(view, name, keyFollowed);
  for (const name of ['pointerdown', 'pointerup', 'pointercancel']) on(view, name, pointerFollowed);
  on(view, 'pointermove', moved);
  on(view, 'paste', pasted);
  listenToForms(view);
  for (const name of ['pointerover', 'focusin']) on(view, name, approached);
  if (inner === document) listenToOwn(view);
  // Events of a document itself and `load` of its elements pass no window.
  for (const name of ['load', 'readystatechange']) on(inner, name, wasActive);
  on(inner, 'load', loaded);
  on(inner, OPTIONS.nonce, adopted, ANSWERING);
}

function listenToOwn(view) {
  on(view, 'load', () => {
    seen.hasLoaded = true;
    later(early);
  });
  if (globalThis.navigation) on(globalThis.navigation, 'navigate', travelled);
  for (const name of ['beforeunload', 'pagehide']) on(view, name, left);
}

function listenInShadow(root) {
  for (const name of CONFINED) on(root, name, reported);
  for (const name of ['load', 'transitionend', 'animationend']) on(root, name, wasActive);
  listenToForms(root);
}

function listenToForms(from) {
  on(from, 'submit', submitted);
  on(from, 'formdata', collected);
}

function on(from, name, listener, how = PASSIVE) {
  addListener(from, name, listener, how);
  if (armed.length < 10000) armed.push([from, name, listener]);
}

function retire() {
  reportClosing();
  retired = true;
  cancelRepeat(auditing);
  observer.disconnect();
  typeObserver.disconnect();
  for (const [from, name, listener] of armed) removeListener(from, name, listener, PASSIVE);
}

let auditing = 0;

// Only a script that knows the secret of this recording takes the place of another: that of the window's first,
// empty document.
function publish() {
  const next = { api, retire, nonce: OPTIONS.nonce };
  auditing = repeat(guarded(reportCounts), AUDIT_MS);
  if (globalThis[OPTIONS.api] !== undefined) return void (globalThis[OPTIONS.api] = next);
  let current = api;
  let retireIt = retire;
  Object.defineProperty(globalThis, OPTIONS.api, {
    get: () => current,
    set: (given) => {
      if (given?.nonce !== OPTIONS.nonce) return;
      retireIt();
      current = given.api;
      retireIt = given.retire;
    },
  });
}

// A window outlives its first, empty document.
function install() {
  if (globalThis[OPTIONS.api]?.document === document) return;
  addListener(globalThis, 'pageshow', cameBack, PASSIVE);
  const owner = globalThis.frameElement;
  if (owner !== null && isReadable(owner)) return void openPart(owner);
  meetWitness();
  // The script of its first document has received all that happened in it before.
  const isKnown = globalThis[OPTIONS.api] !== undefined;
  publish();
  ledger.isArriving = true;
  watchDocument(document, []);
  watchFrames(document, []);
  ledger.isArriving = false;
  reportOpen(globalThis.parent === globalThis ? 'main' : 'frame', !isKnown && wasTouched());
  if (role === 'main') arrive();
}

// ---- Events ----------------------------------------------------------------------------------------------------

const handled = new WeakSet();
const gesture = { control: null, last: -Infinity, typing: false, keyed: false, changes: 0 };
const entering = { control: null, total: 0 };
const described = { control: null, innermost: null, at: -Infinity, descriptor: null };
let trustedAt = -Infinity;

function onEvent(received) {
  // Listeners of frames, shadow roots and the document receive the same event.
  if (handled.has(received) || (!received.isTrusted && !BY_SCRIPT.has(received.type))) return;
  handled.add(received);
  if (received.type === 'keypress' && isOfKey()) return;
  const [first] = received.composedPath();
  countReceived(received, first === undefined || first === first.window ? document : ownerDocument(first) ?? first);
  audit();
  const isNested = nest(received);
  endNameless(received.type === 'keypress');
  const event = received.type === 'keypress' ? pressOf(received) : received;
  enterTask(event);
  const path = pathOf(event);
  armShadows(path);
  armEditors(path);
  const [control, innermost] = targetOf(event, path);
  const at = timeOf(event, path[0]);
  if (event.isTrusted && (BY_USER.has(event.type) || event.type === 'beforeinput')) trustedAt = now();
  if (event.type === 'scroll') scrolledElements.add(path[0]);
  if (event.type === 'beforeinput') clipboard.event = null;
  if (GESTURES.has(event.type) && event.isTrusted) begin(event, control, at);
  const lag = lagOf(event, control, at);
  noteActivity(event);
  const about = { at, lag, cause: causeOf(event, isNested) };
  if (isNameless(received)) reportNameless = () => report(event, control, innermost, about);
  else report(event, control, innermost, about);
  stayInTask(event);
}

function onDispatched(event) {
  if (handled.has(event)) return;
  handled.add(event);
  const [path, { type: name, key }] = [pathOf(event), event];
  if (path.length === 0) return;
  const element = elementOf(controlOn(path), path[0], event);
  const isText = element.masked && [...(key ?? '')].length === 1;
  postDispatched(name, timeOf(event, path[0]), element, { key: isText ? MASKED : key });
}

function postDispatched(name, at, element, data) {
  const about = { at, name, trusted: false, task: task.number };
  post({ k: 'event', seq: sequence++, ...about, element, data }, 'script');
}

function targetOf(event, path) {
  if (path.length === 0) return [null, undefined];
  const control = controlOn(path);
  if (event.type === 'pointerdown') press(event, control);
  return event.type === 'pointerup' ? released(event, control, path[0]) : [control, path[0]];
}

// Elements from the innermost target outwards. A document scrolls as its root element; a window is no element, nor is
// the text that is dragged where it is selected.
function pathOf(event) {
  const path = event.composedPath().filter((node) => node !== node.window && nodeType(node) !== TEXT);
  if (path.length === 0 || OF_DOCUMENT.has(event.type)) return [];
  const root = isDocument(path[0]) ? documentElement(path[0]) : undefined;
  return root === undefined ? path : [root].filter((element) => element !== null);
}

function armShadows(path) {
  for (const node of path) if (nodeType(node) === 11) watchShadow(node);
}

// Editors that draw their text themselves receive it through their own object, which no other event passes.
const armedEditors = new WeakSet();

function armEditors(path) {
  for (const node of path) if (nodeType(node) === ELEMENT && isHTML(node)) armEditor(editContext(node));
}

function armEditor(editor) {
  if (editor === null || armedEditors.has(editor)) return;
  armedEditors.add(editor);
  on(editor, 'compositionstart', guarded(() => void composing.add(editor)));
  on(editor, 'compositionend', guarded(() => void composing.delete(editor)));
  on(editor, 'textupdate', guarded((event) => edited(editor, event)));
}

const composing = new WeakSet();

function edited(editor, { isTrusted, text, timeStamp }) {
  const field = attachedElements(editor)[0];
  if (field === undefined) return;
  const inputType = composing.has(editor) ? 'insertCompositionText' : 'insertText';
  const event = { type: 'input', isTrusted, data: text, inputType, timeStamp };
  enterTask(event);
  noteAction(isTrusted);
  report(event, controlOn([field]), field, { at: timeOf(event, field), cause: causeOf(event, false) });
}

// Editors that insert a pasted text themselves cancel the event: no edit of the browser follows that would report it.
const clipboard = { event: null, text: '', control: null, innermost: null, cause: '' };

function paste(event) {
  const text = event.isTrusted && !handled.has(event) ? event.clipboardData?.getData('text/plain') : '';
  handled.add(event);
  if (!text) return;
  enterTask({ type: 'beforeinput', isTrusted: true });
  const path = pathOf(event);
  Object.assign(clipboard, { event, text, control: controlOn(path), innermost: path[0], cause: causeOf(PASTED, false) });
}

const PASTED = { type: 'beforeinput', isTrusted: true, inputType: 'insertFromPaste' };

function reportPasted() {
  const { event, text, control, innermost, cause } = clipboard;
  clipboard.event = null;
  if (event === null || !event.defaultPrevented || innermost === undefined) return;
  const edit = { ...PASTED, isPasted: true, data: text, timeStamp: event.timeStamp };
  noteAction(true);
  report(edit, control, innermost, { at: timeOf(event, innermost), cause });
}

// Page time; a frame's events count from the frame's own time origin.
function timeOf(event, node) {
  const view = node === undefined ? globalThis : documentWindow(ownerDocument(node));
  return (view ?? globalThis).performance.timeOrigin + event.timeStamp;
}

function noteActivity(event) {
  if (ACTIONS.has(event.type) && (event.isTrusted || isLonely())) noteAction(event.isTrusted);
  else if (!WITHOUT_EFFECT.has(event.type)) activity();
}

// Without a trusted event just before, a script of an agent did it.
const isLonely = () => !task.isOfUser && now() - trustedAt > GESTURE_MS;

function begin(event, control, at) {
  if (event.type !== 'beforeinput' && !isOnward(event)) entry.field = keyed.field = null;
  const typing = isTyping(event);
  const goesOn = control === gesture.control && now() - gesture.last <= GESTURE_MS && continues(event, typing);
  Object.assign(gesture, { last: now(), keyed: event.type === 'keydown' });
  // Scripts can make `beforeinput`, and so floods of it; of the others only a user can.
  if (goesOn || (event.type === 'beforeinput' && isFlooded())) return;
  Object.assign(gesture, { control, typing, changes: seen.total });
  described.control = null;
  pushBefore(at);
}

// How far the page has gone since its latest snapshot, should an action begin here. The input event that goes before
// a change is part of it.
function lagOf({ type }, control, at) {
  if (!GESTURES.has(type) && !BY_SCRIPT.has(type)) return undefined;
  const isEntered = type === 'change' && entering.control === control;
  const mutations = (isEntered ? entering.total : seen.total) - latest.total;
  if (type === 'input') Object.assign(entering, { control, total: seen.total });
  return mutations <= 0 ? undefined : { ms: Math.max(0, Math.round(at - latest.at)), mutations };
}

// The same action goes on; or it is the same element again, and still as it was.
function continues(event, typing) {
  if (event.type === 'dragstart') return true;
  if (event.type === 'beforeinput') return gesture.keyed || isComposed(event) || (gesture.typing && isCharacter(event));
  return (typing && gesture.typing && !isPressed(event)) || seen.total === gesture.changes;
}

// A letter that looks for an entry moves a mark, and Space presses: each is an action of its own.
function isPressed(event) {
  const place = pathOf(event)[0];
  if (place === undefined || !isHTML(place) || isEditable(place) || FIELDS.has(localName(place))) return false;
  const role = roleOf(place) ?? localName(place);
  return FIELDLESS.has(role) || LISTS.has(role);
}

const LISTS = new Set([
  'combobox', 'link', 'listbox', 'menu', 'menubar', 'menuitem', 'radiogroup', 'summary', 'tablist', 'tree', 'treeitem',
]);

const ONWARD = new Set(['Enter', 'Process', 'Shift', 'AltGraph']);
const isOnward = (event) => event.type === 'keydown' && (isPrintable(event) || ONWARD.has(keyOf(event)));
const isTyping = (event) => (event.type === 'keydown' ? isPrintable(event) : gesture.keyed && gesture.typing);
const isComposed = (event) => (event.inputType ?? '').includes('Composition');
// Drivers type a character that no key has without one.
const isCharacter = (event) => event.inputType === 'insertText' && [...(event.data ?? '')].length === 1;

function report(event, control, innermost, { at, lag, cause }) {
  const { type: name, isTrusted: trusted } = event;
  const element = control === null ? null : elementOf(control, innermost, event);
  const below = element !== null && TYPED.has(name) && typesBelow(innermost);
  const masked = below || (element !== null && (element.masked || (innermost !== control && isMasked(innermost))));
  const reaction = (!trusted && task.isOfUser && cause !== 'driver') || undefined;
  const data = { ...DATA[name]?.(event, innermost, masked), lag, reaction };
  const maker = makerOf(event);
  const activated = maker === 'user' ? activeOrigin() : undefined;
  post({ k: 'event', seq: sequence++, at, name, trusted, activated, cause, task: task.number, element, data }, maker);
  // A page that enters something in reply to a gesture does not report it by an event of its own, nor by one of a timer.
  const isReply = !trusted && cause !== 'driver' && !isLonely();
  if (element !== null && reportsValue(event, innermost)) noteValue(innermost, isReply);
  if (name === 'change') described.control = null;
}

function makerOf({ type, isTrusted }) {
  if (!isTrusted) return 'script';
  return BY_USER.has(type) ? 'user' : 'browser';
}

const TYPED = new Set(['keydown', 'beforeinput', 'input']);

// Roles whose elements have no fields in them (WAI-ARIA, children presentational).
const FIELDLESS = new Set([
  'button', 'checkbox', 'img', 'menuitemcheckbox', 'menuitemradio', 'meter', 'option', 'progressbar', 'radio',
  'scrollbar', 'separator', 'slider', 'switch', 'tab',
]);

// Text that goes into something that takes none goes into a field of a closed shadow root, perhaps a password.
function typesBelow(node) {
  if (!mayHost(node) || isHTML(node, 'body') || isEditable(node) || editContext(node) !== null) return false;
  if (localName(node).includes('-')) return true;
  if (FIELDLESS.has(attribute(node, 'role')?.trim().toLowerCase())) return false;
  return attribute(node, 'tabindex') === null || childElements(node) === 0;
}

// As it was before the action: the events of one gesture share a descriptor.
function elementOf(control, innermost, event) {
  const isSame = described.control === control && described.innermost === innermost;
  if (!isSame || now() - described.at > GESTURE_MS) {
    Object.assign(described, { control, innermost, descriptor: describe(control, innermost, event) });
  }
  described.at = now();
  const number = latest.numbers.get(control);
  const node = number === undefined ? undefined : { push: latest.seq, number };
  const point = POINTER.has(event.type) ? pointOf(event) : undefined;
  return { ...described.descriptor, node, point };
}

function noteValue(field, isReaction) {
  const tag = isHTML(field) ? localName(field) : '';
  if (FIELDS.has(tag)) rememberValue(field, fieldValue(field, tag), isReaction);
  else if (knownValues.has(field)) rememberValue(field, textContent(field), isReaction);
}

// ---- What each type of event adds ------------------------------------------------------------------------------

const DATA = { __proto__: null, keydown: keyData, beforeinput: intentData, input: inputData, change: changeData };
for (const name of POINTER) DATA[name] = pointerData;
DATA.pointerup = (event) => {
  const stray = !held.pointers.has(event.pointerId) || undefined;
  return { ...pointerData(event), dragged: pressed.isDragged || undefined, stray };
};
DATA.dragstart = (event) => ({ point: pointOf(event) });
DATA.drop = (event) => ({ point: pointOf(event), files: droppedFiles(event) });
DATA.wheel = (event) => ({ dx: Math.round(event.deltaX), dy: Math.round(event.deltaY) });
DATA.scroll = (event, node) => scrollData(node);
DATA.toggle = (event) => ({ open: event.newState === 'open' });

// In quirks mode the body has the scroll position of a document; the window has it in either mode.
function scrollData(node) {
  const inner = ownerDocument(node);
  const view = node === documentElement(inner) ? documentWindow(inner) : null;
  const [left, top] = view === null ? [scrollLeft(node), scrollTop(node)] : [view.scrollX, view.scrollY];
  return { left: Math.round(left), top: Math.round(top) };
}

function pointOf(event) {
  const inner = event.view?.document ?? document;
  const { dx, dy } = viewportOrigin(inner);
  return [Math.floor((event.clientX ?? 0) + dx), Math.floor((event.clientY ?? 0) + dy)];
}

function pointerData(event) {
  const point = pointOf(event);
  if (event.isTrusted && (event.detail > 0 || event.type === 'pointerdown')) seen.pointer = point;
  return { point, button: event.button ?? 0, modifiers: modifiersOf(event), detail: event.detail ?? 0 };
}

const MODIFIERS = ['Control', 'Alt', 'Shift', 'Meta'];
// Scripts dispatch a bare `Event` of any name, and autofill a keydown without a key.
const isHeld = (event, name) => event.getModifierState?.(name) ?? false;
const modifiersOf = (event) => MODIFIERS.filter((name) => isHeld(event, name)).sort();
const keyOf = (event) => event.key ?? 'Unidentified';

function isPrintable(event) {
  if ([...keyOf(event)].length !== 1) return false;
  return isHeld(event, 'AltGraph') || !(event.ctrlKey || event.metaKey || event.altKey);
}

function keyData(event, node, masked) {
  const printable = isPrintable(event);
  const isText = masked && [...keyOf(event)].length === 1 && !event.ctrlKey && !event.metaKey;
  const key = isText ? MASKED : keyOf(event);
  noteKey(key === 'Enter' ? null : node, isText ? keyOf(event) : '');
  const held = printable ? [] : MODIFIERS.filter((name) => name !== key && isHeld(event, name));
  const [chord, modifiers] = [[...held, key].join('+'), modifiersOf(event)];
  return { key, chord, printable, repeat: event.repeat ?? false, modifiers };
}

function textData(event, node, masked) {
  const text = event.data ?? event.dataTransfer?.getData('text/plain') ?? null;
  // The keys of a secret would reveal it one by one.
  const shown = masked && text?.length === 1 ? MASKED : text && shownValue(text, masked);
  return { input_type: event.inputType ?? null, text: shown };
}

// No input event reports a text that the page inserts itself.
function intentData(event, node, masked) {
  const value = !event.isPasted || masked || holdsText(node) ? undefined : remainder(event, node);
  return { ...textData(event, node, masked), value };
}

function inputData(event, node, masked) {
  const value = typesBelow(node) ? MASKED : valueAfter(event, node, masked);
  // For a key or a person this event comes before the change; for a script's editing command, after it.
  const isCommand = event.isTrusted && !task.isEdit && editContext(node) === null;
  const commanded = (isCommand && Boolean(event.inputType)) || undefined;
  return { ...textData(event, node, masked), value, commanded };
}

// Characters that were entered into a masked field one by one, since anything else was.
const keyed = { field: null, text: '' };

function noteKey(field, text) {
  if (keyed.field !== field) Object.assign(keyed, { field, text: '' });
  keyed.text += text;
}

// Whether a field holds what was typed into it: a page may take keys for itself, and show something else.
function holdsKeys({ data }, node) {
  const isCharacter = [...(data ?? '')].length === 1;
  noteKey(isCharacter ? node : null, isCharacter && !keyed.text.endsWith(data) ? data : '');
  return !isCharacter || editedText(node).includes(keyed.text);
}

function valueAfter(event, node, masked) {
  if (masked && !holdsKeys(event, node)) return MASKED;
  return masked || holdsText(node) ? shownValue(editedText(node), masked) : remainder(event, node);
}

// Code editors draw their text elsewhere: the node that receives the keys holds a part of it, or nothing.
function holdsText(node) {
  if (editContext(node) !== null) return false;
  if (!isHTML(node, 'textarea')) return true;
  return clientRect(node).width >= SEEN_PX && isDisplayed(node, { opacityProperty: true });
}

const SEEN_PX = 16;
const entry = { field: null, at: -Infinity, before: 0, composed: false };
const enteredLengths = new WeakMap();

// Text that was entered there earlier is a part of the text, at an unknown place.
function remainder({ inputType, data, dataTransfer }, node) {
  const text = data ?? dataTransfer?.getData('text/plain') ?? '';
  const composed = isComposed({ inputType });
  const isWhole = !composed && !entry.composed && [...text].length > 1;
  const total = enteredLengths.get(node) ?? 0;
  if (isWhole || entry.field !== node || now() - entry.at > GESTURE_MS) entry.before = total;
  Object.assign(entry, { field: node, at: now(), composed });
  enteredLengths.set(node, total + text.length);
  return entry.before > 0 ? `⟦cut:${entry.before}⟧` : undefined;
}

const shownValue = (text, masked) => (masked ? maskField(text) : cutText(text));

function editedText(node) {
  const tag = isHTML(node) ? localName(node) : '';
  if (FIELDS.has(tag)) return fieldValue(node, tag);
  return withoutMasked(tag === '' ? textContent(node) : innerText(node), maskedTexts());
}

function changeData(event, node, masked) {
  const tag = isHTML(node) ? localName(node) : '';
  if (tag === 'select') return { control: 'select', ...selectedData(node, masked) };
  if (tag === 'input' && isToggle(node)) return { control: 'check', checked: isChecked(node), clicked: task.isClick };
  if (tag === 'input' && inputType(node) === 'file') return { control: 'file', files: filesData(inputFiles(node)) };
  return FIELDS.has(tag) ? { control: 'text', value: shownValue(fieldValue(node, tag), masked) } : {};
}

function selectedData(select, masked) {
  const chosen = selectedIndices(select).map((index) => selectOptions(select)[index]);
  const shown = (text) => shownValue(text, masked);
  return { values: chosen.map((option) => shown(option.value)), labels: chosen.map((option) => shown(option.label)) };
}

const filesData = (files) => [...files].map((file) => {
  const { name, size, type } = file;
  return { name, size, mime: type, key: size <= FILE_MAX ? hold(file) : undefined };
});

const FILE_MAX = 8 * 1024 * 1024;
const FILES_MAX = 16;
const heldFiles = new Map();
let filesHeld = 0;

// It is read at once: the page may release it, and the file may be deleted.
function hold(file) {
  filesHeld += 1;
  heldFiles.set(filesHeld, fileBytes(file).catch(() => null));
  if (heldFiles.size > FILES_MAX) heldFiles.delete(heldFiles.keys().next().value);
  return filesHeld;
}

async function fileContents(key) {
  const bytes = await heldFiles.get(key);
  heldFiles.delete(key);
  if (!bytes) return null;
  let text = '';
  // `String.fromCharCode` takes each byte as an argument, and a call takes only so many.
  for (let at = 0; at < bytes.byteLength; at += 0x8000) {
    text += String.fromCharCode(...new Uint8Array(bytes, at, Math.min(0x8000, bytes.byteLength - at)));
  }
  return btoa(text);
}
