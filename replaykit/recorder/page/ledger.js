// The ledger: what the browser counted of each input event, against the events that this script received. The browser
// counts an event before its first listener, with or without listeners.

const COUNTER_TYPES = [
  'pointerdown', 'pointerup', 'click', 'dblclick', 'auxclick', 'contextmenu', 'keydown', 'beforeinput', 'input',
  'dragstart', 'drop',
];
const WINDOWS_MAX = 2000;
const AUDIT_MS = 250;

// By the counts of a window: one that navigates has others afterwards, though it is the same object. A frame that
// is removed takes its counts with it, unless they were taken before.
const counters = new Map();
const documentCounters = new WeakMap();
const ledger = { windows: 0, received: 0, missed: 0, isFull: false, isArriving: false };
let touchesBelow = { __proto__: null };

function addCounter(view) {
  const inner = view.document;
  const counts = view.performance.eventCounts;
  const counter = counters.get(counts) ?? newCounter(counts);
  if (counter === null) return void reportFull();
  counter.inner = inner;
  documentCounters.set(inner, counter);
}

// Events before the first script are reported as `touched`; events before a later window was found were not received.
function newCounter(counts) {
  if (counters.size >= WINDOWS_MAX) return null;
  const counter = { counts, received: {}, clicked: null, keyed: null };
  for (const type of COUNTER_TYPES) counter.received[type] = ledger.isArriving ? countOf(counts, type) : 0;
  counters.set(counts, counter);
  ledger.windows += 1;
  return counter;
}

// Whether somebody acted in a window that was there before this script.
const hasHistory = () => [...counters.values()].some(({ received }) => COUNTED.some((type) => received[type] > 0));

function reportFull() {
  if (!ledger.isFull) gap('ledger.full', 1);
  ledger.isFull = true;
}

const countOf = (counts, type) => (counts === undefined ? 0 : (readCount(counts, type) ?? 0));

// Before anything else is done with an event. The `input` event of a checkbox or radio is not a user event, and is not
// counted.
function countReceived(event, inner) {
  const counter = documentCounters.get(inner);
  if (counter === undefined || !event.isTrusted || !('view' in event)) return;
  if (counter.received[event.type] === undefined) return;
  counter.received[event.type] += 1;
  ledger.received += 1;
  if (event.type === 'click') counter.clicked = event.composedPath()[0];
  if (event.type === 'keydown') counter.keyed = event.composedPath()[0];
  if (event.type === 'pointerdown') settleKey(counter);
  // The browser counts a touch twice: in its frame, and in the outermost window of that process.
  if (inner !== document && event.pointerType === 'touch') touchesBelow[event.type] = (touchesBelow[event.type] ?? 0) + 1;
}

// Before the mouse can make the next click.
function settleKey(counter) {
  const missed = countOf(counter.counts, 'click') - counter.received.click;
  if (missed > 0 && isOnRemoved('click', counter)) counter.received.click += 1;
  counter.keyed = null;
}

// Two clicks make a double click, also on an element that the second one removed, and a key makes a click on a button
// that the handler of the key removed: then no window receives it. A click by the mouse has a pointerdown.
const MADE_OF = { dblclick: 'clicked', click: 'keyed' };
function isOnRemoved(type, counter) {
  const target = counter[MADE_OF[type]] ?? null;
  if (type === 'click') counter.keyed = null;
  return target !== null && !isConnected(target);
}

// A surplus of received events must not hide events that are missed later.
function audit() {
  for (const [key, counter] of counters) {
    for (const type of COUNTER_TYPES) {
      const counted = countOf(counter.counts, type);
      if (counted === counter.received[type]) continue;
      const missed = counted - counter.received[type] - (counter.inner === document ? touchesBelow[type] ?? 0 : 0);
      counter.received[type] = counted;
      const made = missed > 0 && isOnRemoved(type, counter) ? 1 : 0;
      if (missed > made) reportMissed(missed - made, type, counter.inner);
    }
    if (documentWindow(counter.inner) === null) counters.delete(key);
  }
  touchesBelow = { __proto__: null };
}

// Without most of its address, which may hold a secret.
const SCHEME = /^(?:about:(?:blank|srcdoc)|[a-z]+)/;
const schemeOf = (inner) => SCHEME.exec(documentURL(inner))?.[0];
const whereabouts = (inner) => [schemeOf(inner), readyState(inner), ...(framePaths.get(inner) ?? [])].join(' ');

function reportMissed(count, type, inner) {
  ledger.missed += count;
  gap('events.missed', count, `${type} in ${whereabouts(inner)}`);
}
