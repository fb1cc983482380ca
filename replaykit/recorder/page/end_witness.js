// The only part of the recorder in the page's own world, before any script of the page: whether something there
// listens for the document's end. No other world sees that. It answers questions with secret names, and stops them from
// reaching other listeners. It takes the functions that it needs at once, because the page may replace them.

(isSilent, isListening, types) => {
  if (typeof getEventListeners !== 'function') return;
  const listenersOf = getEventListeners;
  const { apply } = Reflect;
  const { hasOwnProperty } = Object.prototype;
  const { preventDefault, stopImmediatePropagation } = Event.prototype;
  const [view, page] = [window, document];

  // No iteration: the page may have made it another one.
  const hasListener = (target) => {
    const found = listenersOf(target);
    for (let i = 0; i < types.length; i += 1) if (apply(hasOwnProperty, found, [types[i]])) return true;
    return false;
  };

  const answer = (name, expected) => {
    view.addEventListener(name, (question) => {
      apply(stopImmediatePropagation, question, []);
      if ((hasListener(view) || hasListener(page)) === expected) apply(preventDefault, question, []);
    }, { capture: true });
  };
  answer(isSilent, false);
  answer(isListening, true);
}
