// Messages out, pushes, and the page's own notice of rest.

// ---- Messages --------------------------------------------------------------------------------------------------

// A page can create events faster than they can be read. Actions of a user cannot come in floods, so each adds room for
// its own messages. Events of scripts have a separate share, so that the browser's events and reports about the page
// keep theirs.
const FLOOD = { messages: 200, units: 64 * 1024 * 1024, window: 1000 };
const ACTION_CREDIT = 6;
const PART = 4 * 1024 * 1024;

const flood = { since: 0, messages: { browser: 0, script: 0 }, units: 0, dropped: 0 };
let sequence = 0;
let parts = 0;
let retired = false;

// `maker`: user, browser or script.
function post(message, maker) {
  const text = toJSON(message);
  if (admit(text.length, maker)) return transmit(text);
  // After a flood there may be no further message.
  if (flood.dropped === 0) later(guarded(reportDropped), FLOOD.window);
  flood.dropped += 1;
}

function admit(units, maker) {
  if (now() - flood.since >= FLOOD.window) openWindow();
  const share = maker === 'script' ? 'script' : 'browser';
  if (maker === 'user') flood.messages.browser -= ACTION_CREDIT;
  if (flood.messages[share] >= FLOOD.messages || flood.units + units > FLOOD.units) return false;
  flood.messages[share] += 1;
  flood.units += units;
  return true;
}

function openWindow() {
  Object.assign(flood, { since: now(), messages: { browser: 0, script: 0 }, units: 0 });
  reportDropped();
}

function reportDropped() {
  if (flood.dropped > 0) gap('flood', flood.dropped);
  flood.dropped = 0;
}

const isFlooded = () => now() - flood.since < FLOOD.window && flood.messages.browser >= FLOOD.messages;

function gap(why, count, detail = '') {
  transmit(toJSON({ k: 'gap', seq: sequence++, why, count, detail }));
}

// Taken once: a script that replaces it later has no effect. What is sent is numbered, so that a loss is seen.
const binding = globalThis[OPTIONS.binding];
let sent = 0;

function transmit(text) {
  if (!canSend()) return;
  if (text.length <= PART) return sendWithClosing(text);
  const pieces = splitText(text);
  const id = parts++;
  pieces.forEach((piece, i) => sendWithClosing(JSON.stringify({ k: 'part', id, i, of: pieces.length, text: piece })));
}

const canSend = () => !retired && typeof binding === 'function';
const callBinding = (lines) => void binding(`${sent++} ${lines.join('\n')}`);

// All results of one event are sent in one message, before any handler of the page. Sent one by one, each would pass
// through the browser and its driver.
const outgoing = { isHeld: false, lines: [] };

function send(text) {
  if (outgoing.isHeld && text.length < PART / 2) return void outgoing.lines.push(text);
  sendHeld();
  callBinding([text]);
}

function sendHeld() {
  const lines = outgoing.lines.splice(0);
  if (lines.length > 0) callBinding(lines);
}

function inOneMessage(action) {
  return (...values) => {
    outgoing.isHeld = true;
    try {
      return action(...values);
    } finally {
      outgoing.isHeld = false;
      sendHeld();
    }
  };
}

// In one message, so that both parts arrive together.
function sendWithClosing(text) {
  send(departure.isLeaving ? `${text}\n${closing()}` : text);
}

function splitText(text) {
  const pieces = [];
  for (let start = 0; start < text.length; ) {
    const end = start + PART < text.length && endsInPair(text, start + PART) ? start + PART - 1 : start + PART;
    pieces.push(text.slice(start, end));
    start = end;
  }
  return pieces;
}

let failures = 0;

// An error of ours is a gap, never an exception in the page; of many the first few are enough.
function guarded(action) {
  return (...values) => {
    try {
      return retired ? undefined : action(...values);
    } catch (error) {
      failures += 1;
      if (failures <= 10) gap('failed', 1, String(error).slice(0, 200));
      return undefined;
    }
  };
}

// ---- Pushes ----------------------------------------------------------------------------------------------------

const epoch = () => performance.timeOrigin + now();

const latest = { seq: -1, at: 0, cost: 0, elements: 0, pace: Infinity, expected: 0, total: 0, text: '', numbers: new WeakMap(), frames: [], secrets: [] };
const seen = { changes: 0, total: 0, active: now(), pointer: null, hasLoaded: false, isPainted: false };

function takePush(purpose, at = epoch()) {
  takeMutations();
  audit();
  armEditors([DOCUMENT_ROOT.activeElement(document)].filter((element) => element !== null));
  const settled = isQuiet();
  const { tree, text, cost } = serialize();
  trackEditors(tree);
  const changed = tree.changed.map(([field, before, after]) => changeOf(field, before, after));
  fieldsSeen = tree.fields;
  const { numbers, frames, secrets } = tree;
  keepNames(tree);
  notePace(cost, tree.elements);
  Object.assign(latest, { seq: sequence++, at, cost, total: seen.total, text, numbers, frames, secrets });
  seen.changes = 0;
  const sheets = newSheets(tree, purpose);
  return pushMessage(purpose, at, { cost, settled, repaired: tree.repaired, changed, sheets });
}

function takeMutations() {
  const pending = observer.takeRecords();
  if (pending.length > 0) noteMutations(pending);
}

function pushMessage(purpose, at, facts) {
  return {
    k: 'push', seq: latest.seq, at, purpose, stale: null, url: documentURL(document), title: documentTitle(document),
    viewport: [innerWidth, innerHeight], scroll: [scrollX, scrollY].map(Math.round), pointer: seen.pointer,
    painted: isPainted(), listened: isListened(),
    frames: latest.frames, changed: [], repaired: 0,
    ...facts, snapshot: latest.text,
  };
}

// A document that has drawn once goes on being what the browser shows.
function isPainted() {
  seen.isPainted ||= performance.getEntriesByType('paint').length > 0;
  return seen.isPainted;
}

function changeOf(field, before, after) {
  const masked = isMasked(field);
  const path = ownerDocument(field) === document ? cssPath(field) : `iframe >>> ${cssPath(field)}`;
  const shown = (value) => (masked ? maskField(value) : cutText(isEditable(field) ? withoutMasked(value, maskedTexts()) : value));
  return [path, ...changedPart(before, after).map(shown)];
}

// Of long texts the part that changed, and what is around it.
const WHOLE_MAX = 1000;
const AROUND = 100;

function changedPart(before, after) {
  const most = Math.min(before.length, after.length);
  if (Math.max(before.length, after.length) <= WHOLE_MAX) return [before, after];
  let [start, end] = [0, 0];
  while (start < most && before[start] === after[start]) start += 1;
  while (end < most - start && before.at(-1 - end) === after.at(-1 - end)) end += 1;
  const [first, last] = [Math.max(0, start - AROUND), Math.max(0, end - AROUND)];
  return [before, after].map((text) => text.slice(first, text.length - last));
}

// Inside an event the page waits for us: where a serialization takes longer, the latest push stands in. That of a
// small page takes longer only where the machine is busy: it is taken all the same.
const HOT_COST = 50;
const SMALL = 500;

// One that was held up is no measure: of the last two the faster one counts, ms per element.
function notePace(cost, elements) {
  const pace = cost / Math.max(1, elements);
  Object.assign(latest, { elements, pace, expected: Math.min(pace, latest.pace) * elements });
}

const isQuick = () => latest.seq < 0 || latest.expected <= HOT_COST || latest.elements <= SMALL;

function pushBefore(at) {
  if (isQuick()) return post(takePush('before', at), 'user');
  const stale = { ms: Math.max(0, Math.round(at - latest.at)), mutations: seen.changes };
  latest.seq = sequence++;
  return post(pushMessage('before', at, { cost: 0, settled: false, stale }), 'user');
}

// ---- Rest ------------------------------------------------------------------------------------------------------

const QUIET = 100;
const CAP = 1500;
// Four looks at most for one action, further and further apart: a page may never rest.
const EARLIEST = [0, 500, 2000, 8000];
// Reading a page that never rests takes at most one part in this many of its time.
const SHARE = 20;

const rest = { actedAt: now(), taken: 0, owed: true, dirtySince: now(), notBefore: 0, timer: 0, due: Infinity };

const isQuiet = () => readyState(document) !== 'loading' && now() - seen.active >= QUIET;

function activity(changes = 1) {
  const at = now();
  seen.active = at;
  seen.changes += changes;
  seen.total += changes;
  rest.dirtySince ??= at;
  wake(at + QUIET);
}

// An action owes one look at what it led to, whether anything changed or not; an agent's, without delay.
function noteAction(trusted) {
  Object.assign(rest, { actedAt: now(), taken: 0, owed: true, dirtySince: now() });
  if (trusted) rest.notBefore = 0;
  activity(0);
}

// An action in another frame of the page: what it leads to here is not owed, but is looked at as often.
function noteActionElsewhere() {
  Object.assign(rest, { actedAt: now(), taken: 0 });
  if (rest.dirtySince !== null) wake(now() + QUIET);
}

function wake(due) {
  if (rest.due <= due) return;
  clearTimeout(rest.timer);
  rest.due = due;
  rest.timer = later(guarded(considerRest), Math.max(0, due - now()));
}

function considerRest() {
  rest.due = Infinity;
  if (rest.taken >= EARLIEST.length || (!rest.owed && rest.dirtySince === null)) return;
  const { due, quiet } = nextRest();
  if (due > now()) wake(due);
  else pushRest(now() >= quiet);
}

function nextRest() {
  const earliest = Math.max(rest.actedAt + EARLIEST[rest.taken], rest.notBefore);
  const quiet = readyState(document) === 'loading' ? Infinity : Math.max(earliest, seen.active + QUIET);
  return { quiet, due: Math.min(quiet, Math.max(earliest, rest.dirtySince ?? rest.actedAt) + CAP) };
}

function pushRest(settled) {
  const message = takePush('rest');
  Object.assign(rest, { taken: rest.taken + 1, owed: false, dirtySince: null });
  rest.notBefore = now() + SHARE * latest.cost;
  post({ ...message, settled }, 'browser');
}

// A page that is left before it is at rest has also shown something. Except for huge pages, the first snapshot is taken
// as soon as the page exists, and at the latest when it is left. Nothing waits for it.
const EARLY_MAX = 3000;

function pushEarly() {
  if (latest.seq < 0 && documentElements(document, '*').length <= EARLY_MAX) post(takePush('early'), 'browser');
}

// An action of which no look has shown what it changed.
function hasUnseenEffect() {
  takeMutations();
  return rest.owed && seen.total !== latest.total && latest.elements <= EARLY_MAX;
}

// While it is left: if nothing has happened since, the latest snapshot still holds.
function takeLast(purpose) {
  takeMutations();
  if (latest.seq < 0 || seen.total !== latest.total || hasUnreportedField()) return takePush(purpose);
  latest.seq = sequence++;
  return pushMessage(purpose, epoch(), { cost: 0, settled: false });
}

// ---- What is watched -------------------------------------------------------------------------------------------

const observer = new MutationObserver(guarded(noteMutations));
const watchedRoots = new WeakSet();
const framePaths = new WeakMap();
const EVERYTHING = {
  subtree: true, childList: true, attributes: true, characterData: true, attributeOldValue: true, characterDataOldValue: true,
};

// `document.open()` drops the listeners of the window but not this observer: they come back with the first nodes.
function noteMutations(records) {
  for (const { target, type } of records) if (type === 'childList' && isDocument(target)) listen(target);
  noteEmptied(records);
  noteRenamed(records);
  activity(records.length);
}

function watchDocument(inner, path) {
  framePaths.set(inner, path);
  if (watchedRoots.has(inner) || hasOwnScript(inner)) return;
  watchRoot(inner);
  listen(inner);
  activity();
}

function watchShadow(root) {
  if (watchedRoots.has(root)) return;
  watchRoot(root);
  listenInShadow(root);
}

function watchRoot(root) {
  watchedRoots.add(root);
  observer.observe(root, EVERYTHING);
  watchTypes(root);
}

// Frames that the page can read are part of it: this script, in the outermost of them, watches all.
function watchFrames(outer, path) {
  queryDocument(outer, 'iframe,frame').forEach((element, ordinal) => {
    const inner = isFrame(element) ? frameDocuments[localName(element)](element) : null;
    if (inner === null) return;
    watchDocument(inner, [...path, ordinal]);
    watchFrames(inner, [...path, ordinal]);
  });
}

// ---- Questions -------------------------------------------------------------------------------------------------

const HITS_MAX = 1000;
const DEPTH_MAX = 32;
const VISITS_MAX = 100000;

const api = {
  document,
  close: leaveAndCount,
  count: () => canSend() && (send(closing(false)), true),
  push: (purpose) => {
    reportDropped();
    return toJSON(purpose === 'left' ? takeLast(purpose) : takePush(purpose));
  },
  send: (purpose) => transmit(toJSON(takePush(purpose))),
  noteAction: noteActionElsewhere,
  contents: fileContents,
  own: (element, id) => toJSON(claim(element, id)),
  classify: (read) => classified(read),
  hits: (css) => toJSON([...queryDocument(document, css)].slice(0, HITS_MAX).flatMap(hitOf)),
  property: (css, name) => classified(() => readProperty(queryDocument(document, css)[0], name)),
  quiet: () => JSON.stringify({ quiet_ms: Math.round(now() - seen.active), mutations: seen.changes }),
  hasMasked: () => maskedTexts().texts.length > 0,
  reveal,
  sealed,
};

// The latest snapshot was taken without knowing whose frame it is.
function claim(element, id) {
  frameIds.set(element, id);
  const number = latest.numbers.get(element) ?? null;
  const entry = latest.frames.find((frame) => frame.number === number);
  if (entry === undefined) return null;
  entry.id = id;
  return { push: latest.seq, number };
}

function hitOf(element) {
  const number = latest.numbers.get(element);
  return number === undefined ? [] : [{ number, attributes: Object.fromEntries(attributePairs(element)) }];
}

const LIVE_PROPERTIES = new Set(['checked', 'value', 'selectedIndex']);

// No element: undefined; no attribute: null.
function readProperty(element, name) {
  if (element === undefined) return undefined;
  if (name === 'text') return isHTML(element) ? innerText(element) : undefined;
  return LIVE_PROPERTIES.has(name) ? element[name] : attribute(element, name);
}

// One field of the answer is written by hand: JSON.stringify loses the sign of -0.
function classified(read) {
  try {
    const value = read();
    if (Object.is(value, -0)) return '{"kind":"number","value":-0.0}';
    return toJSON(classOf(value));
  } catch (error) {
    const { name, message } = Object(error);
    const threw = { name: cutText(String(name ?? 'Error'), 200), message: cutText(String(message ?? error), 4096) };
    return toJSON({ kind: 'exception', threw });
  }
}

const SPECIALS = new Map([[NaN, 'nan'], [Infinity, 'inf'], [-Infinity, '-inf']]);
const SCALARS = { __proto__: null, string: 'string', boolean: 'bool', number: 'number', bigint: 'number' };

function classOf(value) {
  if (value === null) return { kind: 'null' };
  if (SPECIALS.has(value)) return { kind: 'number', special: SPECIALS.get(value) };
  if (SCALARS[typeof value] !== undefined) return { kind: SCALARS[typeof value], value: plain(value) };
  if (typeof value === 'function') return { kind: 'function' };
  if (typeof value !== 'object') return { kind: 'undefined' };
  if (isNode(value)) return { kind: 'node' };
  return { kind: Array.isArray(value) ? 'array' : 'object', value: capped(plain(value)) };
}

// Nodes of other windows fail `instanceof`.
const isNode = (value) => value instanceof Node || /^\[object (?:HTML|SVG).*Element\]$/.test(brand(value));

// As a driver returns values: nodes as a word; values that JSON lacks, and cycles, as null.
function plain(value, secrets = maskedTexts(), inside = []) {
  if (typeof value === 'string') return cutText(withoutMasked(value, secrets));
  if (typeof value === 'bigint') return Number(value);
  if (value === null || typeof value === 'function' || typeof value === 'symbol') return null;
  if (typeof value !== 'object') return value;
  if (isNode(value)) return 'ref: <Node>';
  if (inside.length > DEPTH_MAX || inside.includes(value) || secrets.visited++ > VISITS_MAX) return null;
  const item = (part) => plain(part, secrets, [...inside, value]) ?? null;
  if (Array.isArray(value)) return value.map(item);
  return Object.fromEntries(Object.entries(value).map(([key, part]) => [key, item(part)]));
}

function capped(value) {
  const { length } = JSON.stringify(value);
  return length <= STRING_MAX ? value : `⟦cut:${length}⟧`;
}

// A read must not carry out what a masked field or subtree holds. Of short texts only an equal one is meant.
function withoutMasked(text, { texts }) {
  const hide = (shown, secret) => (secret.length < 4 ? shown : shown.replaceAll(secret, () => maskValue(secret)));
  return texts.includes(text) ? maskValue(text) : texts.reduce(hide, text);
}

function maskedTexts() {
  const fields = [...queryDocument(document, 'input,textarea')].filter((field) => isMasked(field));
  const regions = MASK === '' ? [] : queryDocument(document, `:is(${MASK}), :is(${MASK}) *`);
  const texts = [...new Set([...latest.secrets, ...fields, ...regions])].flatMap(textsOf);
  // The longest first: a secret inside of a longer one would break that one up.
  const longestFirst = [...new Set(texts)].filter((text) => text.trim() !== '').sort((a, b) => b.length - a.length);
  return { texts: longestFirst, visited: 0 };
}

const textsOf = (element) => [...heldTexts(element), ...textAttributeValues(element)];

const textAttributeValues = (element) => (isMuted(element) ? [...TEXT_ATTRIBUTES].map((name) => attribute(element, name) ?? '') : []);

function heldTexts(element) {
  const tag = isHTML(element) ? localName(element) : '';
  if (tag === 'input') return UNTYPED.has(inputType(element)) ? [] : [inputValue(element)];
  const typed = tag === 'textarea' ? [areaValue(element)] : [];
  const shown = tag === '' ? [] : [innerText(element)];
  return [textContent(element), ...shown, ...typed].flatMap((text) => [text, text.trim()]);
}
