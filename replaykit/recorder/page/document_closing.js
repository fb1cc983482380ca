// The first and the last message of a document, each with the state of the ledger. It depends on how a document ends
// which of its events is received last. So every message of a document that may be leaving also holds a closing.

const departure = { isLeaving: false, counted: 0 };

// Which script listens in a document: its own (`main`, or `frame` if its parent cannot read it), that of a document
// around it (`part`), or `none`.
let role = '';

function reportOpen(found, touched = false) {
  role = found;
  transmit(toJSON({ k: 'open', seq: sequence++, at: epoch(), role, touched }));
}

function leave() {
  if (seen.hasLoaded) pushEarly();
  // A script may have put a value into a field just before it sent the form.
  if (hasUnreportedField() || hasUnseenEffect()) post(takePush('left'), 'browser');
  departure.isLeaving = true;
  reportClosing();
}

function reportClosing() {
  if (canSend()) send(closing());
}

function closing(isLeaving = departure.isLeaving) {
  audit();
  departure.counted = ledger.received;
  const leaving = isLeaving || undefined;
  const listened = isListened();
  return toJSON({ k: 'close', at: epoch(), seq: sequence++, leaving, listened, ...totals() });
}

const totals = () => ({ windows: ledger.windows, received: ledger.received, missed: ledger.missed });

// At an interval: a document may end without an event, and then the last closing is all that is known of it.
function reportCounts() {
  audit();
  if (ledger.received !== departure.counted) reportClosing();
}

function leaveAndCount() {
  leave();
  return toJSON({ sent, ...totals() });
}

// A document that comes out of the browser's cache begins again: its world is reported once more.
function comeBack({ persisted }) {
  if (!persisted) return;
  departure.isLeaving = false;
  sent = 0;
  reportOpen(role);
}

// ---- Listeners for the end -------------------------------------------------------------------------------------

// The witness in the page's own world is trusted if it was there before the page: then it receives a question first. It
// may be gone from a window that has shown another document, and from a document that was opened again.
const witness = { isTrusted: false, hasBody: false };

const isAffirmed = (name) => !dispatch(globalThis, new Event(name, { cancelable: true }));

function meetWitness() {
  const isNew = globalThis[OPTIONS.api] === undefined && documentElement(document) === null;
  witness.isTrusted = isNew && !OPTIONS.main_world && isAffirmed(OPTIONS.question);
}

// A document without a body gets no event before it is left, so its answer now is not the last one. Undefined: unknown.
function isListened() {
  takeMutations();
  if (!witness.isTrusted) return undefined;
  if (isAffirmed(`${OPTIONS.question}!`)) return true;
  return documentBody(document) !== null && isAffirmed(OPTIONS.question) ? false : undefined;
}

// A denial that no longer holds is replaced by a question: at once, since the document may be left next.
function noteEmptied(records) {
  if (!witness.isTrusted) return;
  const hadBody = witness.hasBody;
  witness.isTrusted = !records.some(({ target, removedNodes }) => target === document && removedNodes.length > 0);
  witness.hasBody = documentBody(document) !== null;
  if (hadBody && !(witness.isTrusted && witness.hasBody)) reportClosing();
}

// ---- Frames that a parent can read -----------------------------------------------------------------------------

const ASKED_AGAIN = [0, 50, 250];

// The outermost document's script watches; an event with a secret name notifies it. While its page is rewritten, it may
// miss such an event.
function openPart(owner, tries = 0) {
  if (isAnswered(owner)) return void reportOpen('part');
  if (tries === ASKED_AGAIN.length) return void reportOpen('none');
  later(guarded(() => openPart(owner, tries + 1)), ASKED_AGAIN[tries]);
}

function isAnswered(owner) {
  const question = new Event(OPTIONS.nonce, { cancelable: true, composed: true });
  return !dispatch(owner, question);
}

// Whether the script around it finds a frame by itself: it looks for no other elements, nor into closed roots.
function isReadable(owner) {
  if (!isFrame(owner)) return false;
  for (let root = rootNode(owner); isShadowRoot(root); root = rootNode(shadowHost(root))) {
    if (shadowMode(root) === 'closed') return false;
  }
  return true;
}

// Of a document that the browser has shown all the same.
const hasOwnScript = (inner) => inner !== document && !dispatch(inner, new Event(OPTIONS.nonce, { cancelable: true }));

// In the parent: a frame with its own script asks to be watched. In a document that watches itself: whether it does.
function adopt(event) {
  const [element] = event.composedPath();
  if (element === document) return void event.preventDefault();
  watchFrames(document, []);
  if (!isFrame(element)) return;
  const inner = frameDocuments[localName(element)](element);
  if (inner === null) return;
  // One in a shadow tree has its place in the next snapshot.
  if (!watchedRoots.has(inner)) watchDocument(inner, [...(framePaths.get(ownerDocument(element)) ?? []), 0]);
  event.preventDefault();
}
