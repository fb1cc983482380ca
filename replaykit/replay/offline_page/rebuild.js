// A recorded page built again in an empty document of its own address: tokens, live state, style sheets.
//
// Everything is taken from the prototypes before the first recorded node is there: `<img name=createElement>`
// shadows `document.createElement`, `<form><input name=append>` shadows `form.append`. Depth lives in an array.
async ({ tokens: text, sheets, images, styles, style, sized }) => {
  const HTML = 'http://www.w3.org/1999/xhtml';
  const SPACES = {
    '<': HTML, '%': 'http://www.w3.org/2000/svg', '&': 'http://www.w3.org/1998/Math/MathML',
  };
  const PREFIXES = {
    xlink: 'http://www.w3.org/1999/xlink', xml: 'http://www.w3.org/XML/1998/namespace', xmlns: 'http://www.w3.org/2000/xmlns/',
  };
  const RULES_MAX = 4000;
  const LOAD_MAX_MS = 5000;
  const BYTES_MAX = 1 << 20;
  const NO_SIZE = { width: 0, height: 0 };

  const method = (prototype, name) => Function.prototype.call.bind(prototype[name]);
  const field = (prototype, name) => Object.getOwnPropertyDescriptor(prototype, name);
  const getter = (prototype, name) => Function.prototype.call.bind(field(prototype, name).get);
  const setter = (prototype, name) => Function.prototype.call.bind(field(prototype, name).set);
  const append = method(Node.prototype, 'appendChild');
  const remove = method(Node.prototype, 'removeChild');
  const rootOf = method(Node.prototype, 'getRootNode');
  const parentOf = getter(Node.prototype, 'parentNode');
  const lastOf = getter(Node.prototype, 'lastChild');
  const typeOf = getter(Node.prototype, 'nodeType');
  const contentOf = getter(Node.prototype, 'textContent');
  const documentOf = getter(Node.prototype, 'ownerDocument');
  const create = method(Document.prototype, 'createElement');
  const createIn = method(Document.prototype, 'createElementNS');
  const newText = method(Document.prototype, 'createTextNode');
  const newComment = method(Document.prototype, 'createComment');
  const newInstruction = method(Document.prototype, 'createProcessingInstruction');
  const viewOf = getter(Document.prototype, 'defaultView');
  const registryOf = getter(window, 'customElements');
  const modeOf = getter(Document.prototype, 'compatMode');
  const rootElement = getter(Document.prototype, 'documentElement');
  const animationsOf = method(Document.prototype, 'getAnimations');
  const openDocument = method(Document.prototype, 'open');
  const writeTo = method(Document.prototype, 'write');
  const closeDocument = method(Document.prototype, 'close');
  const set = method(Element.prototype, 'setAttribute');
  const setIn = method(Element.prototype, 'setAttributeNS');
  const setNode = method(Element.prototype, 'setAttributeNode');
  const has = method(Element.prototype, 'hasAttribute');
  const drop = method(Element.prototype, 'removeAttribute');
  const attach = method(Element.prototype, 'attachShadow');
  const previous = getter(Element.prototype, 'previousElementSibling');
  const localName = getter(Element.prototype, 'localName');
  const setHTML = setter(Element.prototype, 'innerHTML');
  const boxOf = method(Element.prototype, 'getBoundingClientRect');
  const scrollTo = method(Element.prototype, 'scrollTo');
  const listen = method(EventTarget.prototype, 'addEventListener');
  const focus = method(HTMLElement.prototype, 'focus');
  const showPopover = method(HTMLElement.prototype, 'showPopover');
  const showModal = method(HTMLDialogElement.prototype, 'showModal');
  const templateContent = getter(HTMLTemplateElement.prototype, 'content');
  const frameDocument = {
    iframe: getter(HTMLIFrameElement.prototype, 'contentDocument'),
    frame: getter(HTMLFrameElement.prototype, 'contentDocument'),
  };
  const setInput = setter(HTMLInputElement.prototype, 'value');
  const setArea = setter(HTMLTextAreaElement.prototype, 'value');
  const isChecked = getter(HTMLInputElement.prototype, 'checked');
  const setChecked = setter(HTMLInputElement.prototype, 'checked');
  const setMixed = setter(HTMLInputElement.prototype, 'indeterminate');
  const setFiles = setter(HTMLInputElement.prototype, 'files');
  const optionsOf = getter(HTMLSelectElement.prototype, 'options');
  const selectsMany = getter(HTMLSelectElement.prototype, 'multiple');
  const setSelectedIndex = setter(HTMLSelectElement.prototype, 'selectedIndex');
  const setSelected = setter(HTMLOptionElement.prototype, 'selected');
  const value = method(CSSStyleDeclaration.prototype, 'getPropertyValue');
  const newFragment = method(Document.prototype, 'createDocumentFragment');
  const ofRoot = (one, other) => (root, ...given) => (typeOf(root) === 9 ? one : other)(root, ...given);
  const both = (make, name) => ofRoot(make(Document.prototype, name), make(ShadowRoot.prototype, name));
  const sheetsOf = both(getter, 'styleSheets');
  const adoptedBy = both(getter, 'adoptedStyleSheets');
  const setAdopted = both(setter, 'adoptedStyleSheets');
  const holder = create(document, 'template');
  const main = document;

  const elements = [];
  const states = [];
  const roots = []; // documents and shadow roots, in the order of their tokens
  const trees = new Map(); // by the element that they hang on
  const inners = []; // [document, mode]
  const lost = [];

  // ---- Nodes -----------------------------------------------------------------------------------------------------

  function parsed(markup) {
    setHTML(holder, markup);
    const content = templateContent(holder);
    const node = lastOf(content);
    if (node !== null) remove(content, node);
    return node;
  }

  function element(token, inside) {
    const mark = token[0];
    const name = token.slice(token.lastIndexOf(' ') + 1).replace(/^[<%&^]/, '');
    // A script that a parser of fragments made never runs.
    if (name === 'script' && mark === '<') return parsed('<script></script>');
    if (name === 'script' && mark === '%') return lastOf(parsed('<svg><script></script></svg>'));
    const space = mark === '^' ? token.slice(1, token.lastIndexOf(' ')) || null : SPACES[mark];
    try {
      if (mark === '<' && name === name.toLowerCase()) return inHTML(create(inside, name), inside, name);
      return createIn(inside, space, name);
    } catch {
      return parsed(`<${name}>`) ?? create(main, 'span');
    }
  }

  const inHTML = (made, inside, name) => (made.namespaceURI === HTML ? made : createIn(inside, HTML, name));

  function attributes(node, pairs) {
    for (let at = 0; at < pairs.length; at += 2) attribute(node, pairs[at], pairs[at + 1]);
  }

  function attribute(node, name, content) {
    if (name[0] === '^' && name.includes(' ')) {
      const blank = name.lastIndexOf(' ');
      spelled(node, name.slice(1, blank), name.slice(blank + 1), content);
      return;
    }
    const prefix = name.includes(':') ? name.slice(0, name.indexOf(':')) : name === 'xmlns' ? 'xmlns' : '';
    try {
      if (prefix !== '' && node.namespaceURI !== HTML && PREFIXES[prefix]) setIn(node, PREFIXES[prefix], name, content);
      else if (prefix !== '') set(node, name, content);
      else setIn(node, null, name, content);
    } catch {
      const carrier = parsed(`<i ${name}="">`);
      const [found] = carrier === null ? [] : carrier.attributes;
      if (found === undefined) {
        lost.push(`attribute ${name.slice(0, 40)}`);
        return;
      }
      carrier.removeAttributeNode(found);
      found.value = content;
      setNode(node, found);
    }
  }

  // The namespace is spelled out: with none at all, a name with a colon is one name.
  function spelled(node, space, name, content) {
    try {
      if (space === '') set(node, name, content);
      else setIn(node, space, name, content);
    } catch {
      lost.push(`attribute ${name.slice(0, 40)}`);
    }
  }

  // ---- Tree ------------------------------------------------------------------------------------------------------

  const AWAY = new Set(['src', 'srcdoc']);

  async function build(tokens) {
    const levels = [{ into: document, inside: document }];
    let waiting = null; // an element that its attributes may still follow
    const settle = () => {
      if (waiting !== null) place(waiting);
      waiting = null;
    };
    const place = ({ node, above, pairs }) => {
      // A frame that navigates loses its content: it begins blank, and gets its URL later.
      const isFrame = localName(node) in frameDocument && node.namespaceURI === HTML;
      attributes(node, isFrame ? pairs.filter((_, at) => !AWAY.has(pairs[at - (at % 2)])) : pairs);
      put(above, node);
      if (isFrame) frames.set(node, pairs.flatMap((name, at) => (at % 2 === 0 && AWAY.has(name) ? [[name, pairs[at + 1]]] : [])));
    };
    const frames = new Map();
    for (let at = 0; at < tokens.length; at += 1) {
      const token = tokens[at];
      const top = levels[levels.length - 1];
      if (typeof token === 'object') {
        if (Array.isArray(token)) waiting.pairs = token;
        else states.push([elements[elements.length - 1], token]);
        continue;
      }
      settle();
      if (typeof token === 'number') {
        levels.length -= token;
        continue;
      }
      const data = token.slice(1);
      switch (token[0]) {
        case '=': put(top.into, newText(top.inside, data)); break;
        case '!': put(top.into, newComment(top.inside, data)); break;
        case '?': instruct(top, data); break;
        case '~': at += 1; break;
        case '#': levels.push(shadow(top, data)); break;
        case '@':
          at += 1;
          levels.push(await inner(top.node, tokens[at], frames));
          break;
        default: {
          const node = element(token, top.inside);
          elements.push(node);
          waiting = { node, above: top.into, pairs: [] };
          const isTemplate = token === '<template';
          levels.push({ node, into: isTemplate ? templateContent(node) : node, inside: top.inside });
        }
      }
    }
    settle();
    return frames;
  }

  // A made-up snapshot may hold what no document can, such as a second root.
  function put(above, node) {
    try {
      append(above, node);
    } catch {
      lost.push('a node');
    }
  }

  function instruct(top, data) {
    const blank = data.indexOf(' ');
    const [target, rest] = blank < 0 ? [data, ''] : [data.slice(0, blank), data.slice(blank + 1)];
    try {
      append(top.into, newInstruction(top.inside, target, rest));
    } catch {
      lost.push('an instruction');
    }
  }

  function shadow(top, mode) {
    try {
      const root = attach(top.node, { mode });
      roots.push(root);
      trees.set(top.node, root);
      return { node: null, into: root, inside: top.inside };
    } catch {
      lost.push('a shadow root');
      return { node: null, into: newFragment(main), inside: top.inside };
    }
  }

  async function inner(frame, about, frames) {
    const goes = frames.get(frame) ?? [];
    const source = goes.find(([name]) => name === 'srcdoc');
    if (source !== undefined) {
      await new Promise((done) => {
        listen(frame, 'load', done, { once: true });
        setTimeout(done, LOAD_MAX_MS);
        set(frame, ...source);
      });
      frames.set(frame, goes.filter((one) => one !== source));
    }
    const found = frameDocument[localName(frame)]?.(frame) ?? null;
    if (found === null) {
      lost.push('a frame');
      return { node: null, into: newFragment(main), inside: main };
    }
    if (modeOf(found) !== about.compat) {
      openDocument(found);
      writeTo(found, about.compat === 'CSS1Compat' ? '<!DOCTYPE html><html></html>' : '<html></html>');
      closeDocument(found);
    }
    empty(found);
    roots.push(found);
    trees.set(frame, found);
    inners.push([found, about.compat]);
    return { node: null, into: found, inside: found };
  }

  function empty(tree) {
    for (let node = lastOf(tree); node !== null && typeOf(node) !== 10; node = lastOf(tree)) remove(tree, node);
  }

  // ---- State -----------------------------------------------------------------------------------------------------

  // An element takes part in forms only if its name is defined so: by a class that does nothing else.
  function associate(node) {
    const view = viewOf(documentOf(node));
    const registry = view && registryOf(view);
    if (registry === null || registry.get(localName(node)) !== undefined) return;
    try {
      registry.define(localName(node), class extends view.HTMLElement { static formAssociated = true; });
    } catch {
      lost.push('a custom control');
    }
  }

  function restore(node, state) {
    const tag = node.namespaceURI === HTML ? localName(node) : '';
    if (tag === 'select') select(node, state.selected ?? []);
    if (tag === 'option' && state.selected !== undefined) setSelected(node, state.selected.length > 0);
    if (state.assigned !== undefined) lost.push('what a script put into a slot');
    if (state.control) associate(node);
    if (tag === 'textarea' && state.value !== undefined) setArea(node, state.value);
    if (tag !== 'input') return;
    if (state.value !== undefined) setInput(node, state.value);
    if (state.indeterminate) setMixed(node, true);
    if (state.files) choose(node, state.files);
  }

  function select(node, indices) {
    const options = optionsOf(node);
    if (!selectsMany(node)) {
      setSelectedIndex(node, indices[0] ?? -1);
      return;
    }
    for (let at = 0; at < options.length; at += 1) setSelected(options[at], indices.includes(at));
  }

  function choose(node, files) {
    const transfer = new DataTransfer();
    for (const [name, size, type] of files) {
      transfer.items.add(new File([new Uint8Array(Math.min(size, BYTES_MAX))], name, { type }));
    }
    setFiles(node, transfer.files);
  }

  // All at the end: checking one radio unchecks another.
  function check() {
    const live = new Map(states);
    const inputs = elements.filter((node) => localName(node) === 'input' && node.namespaceURI === HTML);
    const wanted = inputs.map((node) => [node, live.get(node)?.checked ?? has(node, 'checked')]);
    for (const [node, on] of wanted) if (!on && isChecked(node)) setChecked(node, false);
    for (const [node, on] of wanted) if (on && !isChecked(node)) setChecked(node, true);
  }

  function openLayers() {
    for (const [node, state] of states) {
      try {
        if (state.modal) {
          drop(node, 'open');
          showModal(node);
        }
        if (state.popover) showPopover(node);
      } catch {
        lost.push('an open dialog');
      }
    }
  }

  function look() {
    for (const [node, state] of states) {
      if (state.focus) focus(node, { preventScroll: true });
    }
    for (const [node, state] of states) {
      if (!state.scroll) continue;
      const [top, left] = state.scroll;
      const inside = documentOf(node);
      if (node === rootElement(inside)) viewOf(inside).scrollTo({ top, left, behavior: 'instant' });
      else scrollTo(node, { top, left, behavior: 'instant' });
    }
  }

  // ---- Style -----------------------------------------------------------------------------------------------------

  function adopt() {
    if (sheets.length === 0) return;
    for (const root of roots) for (const sheet of sheetsOf(root)) sheet.disabled = true;
    const adopted = new Map(roots.map((root) => [root, []]));
    for (const sheet of sheets) {
      give(adopted, treeOf(sheet), sheet);
    }
    for (const [root, list] of adopted) setAdopted(root, list);
  }

  function treeOf({ owner, tree }) {
    if (owner >= 0) return rootOf(elements[owner]);
    return tree === null || tree < 0 ? main : trees.get(elements[tree]);
  }

  function give(adopted, root, { owner, media, disabled, text: css }) {
    const isInline = owner >= 0 && localName(elements[owner]) === 'style';
    const source = css ?? (isInline ? contentOf(elements[owner]) : null);
    if (source === null || !adopted.has(root)) return;
    adopted.get(root).push(sheetFor(root, source, { media, disabled }));
  }

  function sheetFor(root, source, options) {
    const view = viewOf(typeOf(root) === 9 ? root : documentOf(root));
    const sheet = new view.CSSStyleSheet(options);
    sheet.replaceSync(source);
    return sheet;
  }

  // Selectors that name one element by its place, so that nothing shows in attributes.
  function path(node) {
    const steps = [];
    for (let at = node; ; at = parentOf(at)) {
      let place = 1;
      for (let before = previous(at); before !== null; before = previous(before)) place += 1;
      steps.unshift(`:nth-child(${place})`);
      const above = parentOf(at);
      if (above === null || typeOf(above) === 9) return `:root${steps.slice(1).map((step) => ` > ${step}`).join('')}`;
      if (typeOf(above) === 11) return above.host ? `:host > ${steps.join(' > ')}` : null;
    }
  }

  function rule(found, node, declarations) {
    const selector = path(node);
    const root = rootOf(node);
    if (selector === null || !roots.includes(root)) return;
    if (!found.has(root)) found.set(root, []);
    found.get(root).push(`${selector} { ${declarations} }`);
  }

  function adoptMore(found) {
    for (const [root, rules] of found) {
      setAdopted(root, [...adoptedBy(root), sheetFor(root, rules.join('\n'), {})]);
    }
  }

  const pixels = (width, height) =>
    `data:image/svg+xml,<svg xmlns='http://www.w3.org/2000/svg' width='${width}' height='${height}'/>`;

  function drawImages() {
    const found = new Map();
    for (const [number, width, height] of images.slice(0, RULES_MAX)) {
      rule(found, elements[number], `content: url("${pixels(width, height)}")`);
    }
    adoptMore(found);
  }

  // Elements whose style differs from the recorded one: number and recorded entry.
  function differing() {
    const found = [];
    for (let number = 0; number < style.length; number += 1) {
      if (style[number] < 0) continue;
      const [display, ...recorded] = styles[style[number]].split('|', 4);
      const now = viewOf(documentOf(elements[number]))?.getComputedStyle(elements[number]);
      if (now === undefined) continue;
      const names = ['visibility', 'white-space-collapse', 'text-transform'];
      const isSame = value(now, 'display') === display
        && (display === 'none' || names.every((name, at) => value(now, name) === recorded[at]));
      if (!isSame) found.push([number, display, ...recorded]);
    }
    return found;
  }

  // Elements that had a size and have none now, or the other way round: number, and whether it had one.
  function resized() {
    const found = [];
    for (let number = 0; number < sized.length; number += 1) {
      const { width, height } = style[number] < 0 ? NO_SIZE : boxOf(elements[number]);
      const had = sized[number] === '1';
      if ((Math.round(width) > 0 && Math.round(height) > 0) !== had) found.push([number, had]);
    }
    return found;
  }

  const SIZE = 'min-width: 1px !important; min-height: 1px !important; padding: 1px !important';
  const NOTHING = 'width: 0 !important; min-width: 0 !important; padding: 0 !important; border-width: 0 !important';

  function resize(found) {
    const rules = new Map();
    for (const [number, had] of found.slice(0, RULES_MAX)) rule(rules, elements[number], had ? SIZE : NOTHING);
    adoptMore(rules);
  }

  function repair(found) {
    const rules = new Map();
    for (const [number, display, visibility, wraps, cases] of found.slice(0, RULES_MAX)) {
      const inherited = display === 'none' ? ''
        : ` visibility: ${visibility} !important; white-space-collapse: ${wraps} !important; text-transform: ${cases} !important;`;
      rule(rules, elements[number], `display: ${display} !important;${inherited}`);
    }
    adoptMore(rules);
  }

  function rest() {
    for (const tree of [main, ...inners.map(([found]) => found)]) {
      for (const animation of animationsOf(tree)) {
        try {
          animation.finish();
        } catch {
          // An endless animation cannot be finished.
        }
      }
    }
  }

  const isReadable = (node) => node !== undefined && (frameDocument[localName(node)]?.(node) ?? null) !== null;

  empty(main);
  roots.push(main);
  const frames = await build(JSON.parse(text));
  for (const [node, state] of states) restore(node, state);
  check();
  adopt();
  drawImages();
  for (const [frame, goes] of frames) for (const [name, content] of goes) set(frame, name, content);
  stop(); // a page that wants to be elsewhere in a moment (`<meta http-equiv=refresh>`)
  openLayers();
  look();
  return {
    lost,
    count: elements.length,
    modes: [modeOf(main), ...inners.map(([found, mode]) => (modeOf(found) === mode ? '' : 'inner'))],
    // If the first comparison differs, the recorded style is set; remaining differences are reported.
    settle() {
      rest();
      const found = differing();
      if (found.length > 0) {
        repair(found);
        rest();
      }
      const sizes = resized();
      if (sizes.length > 0) resize(sizes);
      return {
        repaired: found.length, differing: found.length + sizes.length > 0 ? differing().length : 0,
        resized: sizes.length > 0 ? resized().length : 0,
      };
    },
    texts: () => elements.map((node) => [localName(node), node.innerText ?? null, node.value ?? null,
      node.checked ?? null, node.selectedIndex ?? null, node.selected ?? null]),
    element: (number) => elements[number] ?? null,
    // A frame that moved to another process is reported a moment after the call that sent it there.
    async readable(numbers) {
      const until = performance.now() + LOAD_MAX_MS;
      for (;;) {
        const found = numbers.filter((number) => isReadable(elements[number]));
        if (found.length === 0 || performance.now() > until) return found;
        await new Promise((done) => setTimeout(done, 10));
      }
    },
  };
}
