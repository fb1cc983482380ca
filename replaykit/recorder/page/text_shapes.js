// Shapes of texts: what the browser itself gives as rendered text, without its letters. A reader that works out the
// same text without a browser sees from them where it errs: what this costs is a hundredth of a snapshot.

// By number of the element: `innerText` of each body, and of what stands outermost in each shadow tree.
function shapesOf(tree) {
  if (!tree.styling || tree.cut) return undefined;
  const veiled = tree.secrets.filter((element) => !UNSHAPED.has(localName(element)));
  const above = new Set(veiled.flatMap(ancestry));
  const shapes = tree.roots.flatMap(([root, kind]) => topsOf(root, kind)).flatMap((top) => shapesIn(tree, top, above));
  return shapes.length === 0 ? undefined : shapes;
}

// What these hold shows in no text, masked or not.
const UNSHAPED = new Set(['input', 'textarea']);

function topsOf(root, kind) {
  if (kind === DOCUMENT_ROOT) return [documentBody(root)].filter((body) => body !== null);
  const tops = [];
  for (let node = firstChild(root); node !== null; node = nextSibling(node)) if (nodeType(node) === ELEMENT) tops.push(node);
  return tops;
}

function ancestry(element) {
  const path = [];
  for (let at = element; at !== null; at = parentNode(at)) path.push(at);
  return path;
}

// Of a masked text not even the length is told: then there are shapes of all that stands beside it.
function shapesIn(tree, top, above) {
  const found = [];
  const waiting = [top];
  while (waiting.length > 0) {
    const element = waiting.pop();
    const number = tree.numbers.get(element);
    if (number === undefined || isGone(tree, number) || tree.masked.has(number)) continue;
    if (above.has(element)) for (let at = lastElement(element); at !== null; at = previousElement(at)) waiting.push(at);
    else if (isHTML(element)) found.push([number, shapeOf(innerText(element))]);
  }
  return found.filter(([, shape]) => shape.length <= STRING_MAX);
}

const shapeOf = (text) => text.replace(/[^ \t\n\p{Lu}\p{Lt}]/gu, '.').replace(/[^ \t\n.]/gu, '^');
