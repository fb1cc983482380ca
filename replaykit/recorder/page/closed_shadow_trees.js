// Whether a closed shadow tree stands where an action meets a page: no script can read one.

const HOSTS = new Set([
  'article', 'aside', 'blockquote', 'body', 'div', 'footer', 'h1', 'h2', 'h3', 'h4', 'h5', 'h6', 'header', 'main', 'nav',
  'p', 'section', 'span',
]);

const mayHost = (element) => isHTML(element) && shadowRoot(element) === null
  && (HOSTS.has(localName(element)) || localName(element).includes('-'));

// A caret in a closed tree is reported as one outside of its host.
function isSealed(innermost, event) {
  if (innermost === undefined || caretAt === null) return false;
  const host = mayHost(innermost) ? innermost : hostAround(innermost);
  if (host === null) return false;
  const inner = ownerDocument(host);
  const hasPoint = host === innermost && POINTER.has(event.type) && event.clientX !== undefined;  // scripts send plain events
  const points = hasPoint ? [[event.clientX, event.clientY]] : pointsOn(host);
  return points.some(([x, y]) => elementsAt(inner, x, y)[0] === host && isOutside(host, caretAt(inner, x, y, openRoots(host))));
}

const isOutside = (host, caret) => caret !== null && !contains(host, caret.offsetNode);

function openRoots(element) {
  const shadowRoots = [];
  for (let root = rootNode(element); isShadowRoot(root); root = rootNode(shadowHost(root))) shadowRoots.push(root);
  return { shadowRoots };
}

// The pressed element may be the content of a button that only a closed tree shows.
function hostAround(element) {
  for (let at = element; at !== null && nodeType(at) === ELEMENT && !matches(at, CONTROL); at = parentNode(at)) {
    if (at !== element && mayHost(at) && localName(at) !== 'body' && localName(at).includes('-')) return at;
  }
  return null;
}

function pointsOn(element) {
  const { left, top, width, height } = clientRect(element);
  const at = (across, down) => [left + Math.min(Math.max(1, width * across), width - 1), top + Math.min(Math.max(1, height * down), height - 1)];
  return [at(0.5, 0.5), at(0, 0.5), at(1, 0.5), at(0.5, 0), at(0.5, 1)];
}
