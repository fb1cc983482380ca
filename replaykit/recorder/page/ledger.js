// The ledger: what the browser counted of each input event, against the events that this script received. The browser
// counts an event before its first listener, with or without listeners.

const ACCOUNTS = [
  'pointerdown', 'pointerup', 'click', 'dblclick', 'auxclick', 'contextmenu', 'keydown', 'beforeinput', 'input',
  'dragstart', 'drop',
];
const WINDOWS_MAX = 2000;
const AUDIT_MS = 250;

// By the counts of a window: one that goes elsewhere has others afterwards, though it is the same object. A frame that
// is removed takes its counts with it, unless they were taken before.
const accounts = new Map();
const accountOf = new WeakMap();
const ledger = { windows: 0, received: 0, missed: 0, isFull: false, isArriving: false };

function openAccount(view) {
  const inner = view.document;
  const counts = view.performance.eventCounts;
  const account = accounts.get(counts) ?? newAccount(counts);
  if (account === null) return void tellFull();
  account.inner = inner;
  accountOf.set(inner, account);
}

// Events before the first script are reported as `touched`; events before a later window was found were not received.
function newAccount(counts) {
  if (accounts.size >= WINDOWS_MAX) return null;
  const account = { counts, received: {} };
  for (const type of ACCOUNTS) account.received[type] = ledger.isArriving ? countOf(counts, type) : 0;
  accounts.set(counts, account);
  ledger.windows += 1;
  return account;
}

// Whether somebody acted in a window that was there before this script.
const hasHistory = () => [...accounts.values()].some(({ received }) => COUNTED.some((type) => received[type] > 0));

function tellFull() {
  if (!ledger.isFull) gap('ledger.full', 1);
  ledger.isFull = true;
}

const countOf = (counts, type) => (counts === undefined ? 0 : (readCount(counts, type) ?? 0));

// Before anything else is done with an event. The `input` event of a checkbox or radio is not a user event, and is not
// counted.
function enterInLedger(event, inner) {
  const account = accountOf.get(inner);
  if (account === undefined || !event.isTrusted || !('view' in event)) return;
  if (account.received[event.type] === undefined) return;
  account.received[event.type] += 1;
  ledger.received += 1;
}

// A surplus of received events must not hide events that are missed later.
function audit() {
  for (const [key, account] of accounts) {
    for (const type of ACCOUNTS) {
      const counted = countOf(account.counts, type);
      const missed = counted - account.received[type];
      if (missed === 0) continue;
      account.received[type] = counted;
      if (missed > 0) tellMissed(missed, type);
    }
    if (documentWindow(account.inner) === null) accounts.delete(key);
  }
}

function tellMissed(count, type) {
  ledger.missed += count;
  gap('events.missed', count, type);
}
