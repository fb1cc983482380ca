// The ledger: what the browser counted of each input event, against what this script has heard. The browser counts
// an event before its first listener, whether anybody listens or not.

const ACCOUNTS = [
  'pointerdown', 'pointerup', 'click', 'dblclick', 'auxclick', 'contextmenu', 'keydown', 'beforeinput', 'input',
  'dragstart', 'drop',
];
const WINDOWS_MAX = 2000;
const AUDIT_MS = 250;

// By window. A frame that is removed takes its counts with it, unless they were taken before.
const accounts = new Map();
const accountOf = new WeakMap();
const ledger = { windows: 0, counted: 0, heard: 0, isFull: false };

function openAccount(view, isOwn) {
  const inner = view.document;
  if (accounts.has(view)) return void accountOf.set(inner, accounts.get(view));
  if (accounts.size >= WINDOWS_MAX) return void tellFull();
  const counts = view.performance.eventCounts;
  const account = { counts, heard: {} };
  // What came before the first script is told as `touched`; what came before a later window was met was not heard.
  for (const type of ACCOUNTS) account.heard[type] = isOwn ? countOf(counts, type) : 0;
  accounts.set(view, account);
  accountOf.set(inner, account);
  ledger.windows += 1;
}

function tellFull() {
  if (!ledger.isFull) gap('ledger.full', 1);
  ledger.isFull = true;
}

const countOf = (counts, type) => (counts === undefined ? 0 : (readCount(counts, type) ?? 0));

// Before anything else is done with an event. A box's `input` is none of a user's, and is not counted.
function enterInLedger(event, inner) {
  const account = accountOf.get(inner);
  if (account === undefined || !event.isTrusted || !('view' in event)) return;
  if (account.heard[event.type] !== undefined) account.heard[event.type] += 1;
  ledger.heard += 1;
}

// More heard than counted must not make up for what is not heard later.
function audit() {
  for (const [view, account] of accounts) {
    for (const type of ACCOUNTS) {
      const counted = countOf(account.counts, type);
      const missed = counted - account.heard[type];
      if (missed === 0) continue;
      account.heard[type] = counted;
      if (missed > 0) gap('events.unheard', missed, type);
    }
    if (view.closed && view !== globalThis) accounts.delete(view);
  }
}
