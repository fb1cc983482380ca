// Questions to a rebuilt page: values with their kinds, and what they touched that no recording holds.
//
// Boxes come from another layout, clocks and stores from another machine, globals from scripts that never ran:
// an answer that touched them would be a guess.
({ isStyled, isDrawn, isAlike, isSized }) => {
  const touched = new Set();
  const touch = (name) => void touched.add(name);
  const VALUE_MAX = 1 << 20;
  const DEPTH_MAX = 32;

  const FOREIGN = {
    Element: `clientWidth clientHeight clientTop clientLeft scrollWidth scrollHeight scrollTop scrollLeft
      getBoundingClientRect getClientRects getAnimations`,
    // An action on a page whose scripts never run leads nowhere.
    EventTarget: 'dispatchEvent',
    HTMLElement: 'offsetWidth offsetHeight offsetTop offsetLeft offsetParent click',
    HTMLFormElement: 'submit requestSubmit reset',
    HTMLImageElement: 'naturalWidth naturalHeight width height x y complete currentSrc',
    SVGGraphicsElement: 'getBBox getCTM getScreenCTM',
    Range: 'getBoundingClientRect getClientRects',
    Document: `cookie referrer lastModified elementFromPoint elementsFromPoint caretPositionFromPoint
      caretRangeFromPoint defaultView hidden visibilityState hasFocus fonts timeline getAnimations readyState`,
    HTMLCanvasElement: 'getContext toDataURL toBlob',
    HTMLMediaElement: 'currentTime duration paused ended readyState buffered played seekable volume muted currentSrc',
    HTMLVideoElement: 'videoWidth videoHeight',
    Performance: 'now timeOrigin timing getEntries getEntriesByType getEntriesByName',
    Crypto: 'getRandomValues randomUUID',
  };
  const GLOBALS = `localStorage sessionStorage indexedDB caches cookieStore history navigator screen innerWidth innerHeight
    outerWidth outerHeight scrollX scrollY pageXOffset pageYOffset screenX screenY devicePixelRatio visualViewport fetch
    XMLHttpRequest WebSocket EventSource Worker SharedWorker RTCPeerConnection matchMedia name opener open close print
    alert confirm prompt postMessage setTimeout setInterval requestAnimationFrame queueMicrotask Intl`;
  const TEXT = '__replaykit_text';
  let pending = '';
  const WINDOWS = new Set(['window', 'self', 'globalThis', 'top', 'parent', 'frames']);
  const words = (text) => text.split(/\s+/).filter((word) => word !== '');

  function watch(holder, name, label) {
    const found = Object.getOwnPropertyDescriptor(holder, name);
    if (found === undefined || !found.configurable) return;
    const watched = { configurable: true, enumerable: found.enumerable };
    if (found.get === undefined) {
      let { value } = found;
      watched.get = () => { touch(label); return value; };
      watched.set = (given) => { value = given; };
    } else {
      watched.get = function get() { touch(label); return Reflect.apply(found.get, this, []); };
      watched.set = found.set;
    }
    Object.defineProperty(holder, name, watched);
  }

  // The page and the frames that it can read: each has prototypes of its own.
  function* realms(view) {
    yield view;
    for (let at = 0; at < view.length; at += 1) if (documentIn(view[at]) !== null) yield* realms(view[at]);
  }

  function documentIn(view) {
    try {
      return view.document;
    } catch {
      return null;
    }
  }

  // The window of a frame holds what its scripts made: nothing of it is recorded but its document.
  const windowed = (view) => new Proxy(Object.create(null), {
    get(_, name) { if (name !== 'document') touch(`contentWindow.${String(name)}`); return view[name]; },
    has(_, name) { touch('contentWindow'); return name in view; },
    ownKeys() { touch('contentWindow'); return []; },
  });

  function guardWindow(holder) {
    const found = Object.getOwnPropertyDescriptor(holder, 'contentWindow');
    Object.defineProperty(holder, 'contentWindow', {
      ...found,
      get() { const view = Reflect.apply(found.get, this, []); return view === null ? null : windowed(view); },
    });
  }

  for (const view of [...realms(globalThis)]) {
    for (const [owner, names] of Object.entries(FOREIGN)) {
      for (const name of words(names)) watch(view[owner].prototype, name, name);
    }
    for (const owner of ['HTMLIFrameElement', 'HTMLFrameElement', 'HTMLObjectElement']) guardWindow(view[owner].prototype);
  }
  watch(Math, 'random', 'Math.random');
  const clock = Date;
  watch(clock, 'now', 'Date.now');
  globalThis.Date = new Proxy(clock, {
    construct(target, given, made) { if (given.length === 0) touch('Date'); return Reflect.construct(target, given, made); },
    apply(target, self, given) { touch('Date'); return Reflect.apply(target, self, given); },
  });
  for (const name of words(GLOBALS)) watch(globalThis, name, name);
  if (!isStyled) watch(globalThis, 'getComputedStyle', 'getComputedStyle');
  // Where neither styles nor the linked sheets were recorded, or other texts show, it is unknown what does.
  const shows = isAlike && (isDrawn || document.querySelector('link[rel~="stylesheet" i]') === null);
  if (!shows) {
    for (const name of ['innerText', 'outerText']) watch(HTMLElement.prototype, name, name);
    watch(Element.prototype, 'checkVisibility', 'checkVisibility');
  }

  // A name that no browser has is a global of the page's own scripts.
  const isOwn = (name) => typeof name === 'string' && !(name in globalThis);
  const outer = new Proxy(globalThis, {
    has(target, name) { if (isOwn(name)) touch(name); return name in target; },
    get(target, name) {
      if (isOwn(name)) touch(name);
      if (WINDOWS.has(name)) return outer;
      const value = Reflect.get(target, name);
      if (typeof name === 'string' && /^\d+$/.test(name) && value !== undefined) return windowed(value);
      return typeof value === 'function' && /^[a-z]/.test(name) ? value.bind(target) : value;
    },
  });
  const scope = new Proxy(Object.create(null), {
    has: (_, name) => name === TEXT || WINDOWS.has(name) || isOwn(name),
    get(_, name) {
      if (name === Symbol.unscopables) return undefined;
      if (name === TEXT) return pending;
      if (WINDOWS.has(name)) return outer;
      touch(name);
      throw new ReferenceError(`${name} is not defined`);
    },
  });

  // The evaluated text sees the names of every scope around it, so this function declares no name.
  function within(text) {
    pending = text;
    return evaluated();
  }

  function evaluated() {
    with (scope) return eval(__replaykit_text);
  }

  // As drivers evaluate: an expression first, then a script; a function is called.
  async function run(text, ...given) {
    touched.clear();
    try {
      return { value: await called(text, given), touched: take() };
    } catch (error) {
      const names = take();
      if (names.length === 0) throw error;
      return { value: null, touched: names };
    }
  }

  function called(text, given) {
    let value;
    try {
      value = within(`(${text}\n)`);
    } catch (error) {
      if (!(error instanceof SyntaxError)) throw error;
      value = within(text);
    }
    return typeof value === 'function' ? value(...given) : value;
  }

  const SPECIALS = new Map([[NaN, 'nan'], [Infinity, 'inf'], [-Infinity, '-inf']]);
  const SCALARS = { __proto__: null, string: 'string', boolean: 'bool', number: 'number', bigint: 'number' };

  function classOf(value) {
    if (value === null) return { kind: 'null' };
    if (SPECIALS.has(value)) return { kind: 'number', special: SPECIALS.get(value) };
    if (SCALARS[typeof value] !== undefined) return { kind: SCALARS[typeof value], value: plain(value) };
    if (typeof value === 'function') return { kind: 'function' };
    if (typeof value !== 'object') return { kind: 'undefined' };
    if (value instanceof Node) return { kind: 'node' };
    return { kind: Array.isArray(value) ? 'array' : 'object', value: plain(value) };
  }

  // As a driver returns values: nodes as a word; values that JSON lacks, and cycles, as null.
  function plain(value, inside = []) {
    if (typeof value === 'bigint') return Number(value);
    if (value === null || typeof value === 'function' || typeof value === 'symbol') return null;
    if (typeof value !== 'object') return value;
    if (value instanceof Node) return 'ref: <Node>';
    if (inside.length > DEPTH_MAX || inside.includes(value)) return null;
    const item = (part) => plain(part, [...inside, value]) ?? null;
    if (Array.isArray(value)) return value.map(item);
    return Object.fromEntries(Object.entries(value).map(([key, part]) => [key, item(part)]));
  }

  function classified(read) {
    try {
      const value = read();
      return Object.is(value, -0) ? '{"kind":"number","value":-0.0}' : JSON.stringify(classOf(value));
    } catch (error) {
      const { name, message } = Object(error);
      return JSON.stringify({ kind: 'exception', threw: { name: String(name ?? 'Error'), message: String(message ?? error) } });
    }
  }

  const LIVE = new Set(['checked', 'value', 'selectedIndex']);
  const query = Document.prototype.querySelector.bind(document);

  function property(css, name) {
    const element = query(css);
    if (element === null) return undefined;
    if (name === 'text') return element instanceof HTMLElement ? element.innerText : undefined;
    return LIVE.has(name) ? element[name] : element.getAttribute(name);
  }

  // The form value of the first element that a path leads to, as ST-WebAgentBench reads it.
  function path(source) {
    const found = document.evaluate(source, document, null, XPathResult.FIRST_ORDERED_NODE_TYPE, null).singleNodeValue;
    const isControl = found instanceof HTMLInputElement || found instanceof HTMLTextAreaElement || found instanceof HTMLSelectElement;
    return isControl ? found.value : '';
  }

  const take = () => {
    const names = [...touched].sort();
    touched.clear();
    return names;
  };

  function answer(read) {
    touched.clear();
    const text = classified(read);
    return { text: text.length > VALUE_MAX ? null : text, touched: take() };
  }

  const tools = {
    script: (text) => answer(() => within(`(${text}\n)`)),
    property: (css, name) => answer(() => property(css, name)),
    path: (source) => answer(() => path(source)),
    run,
    take,
    isDrawn: shows && isSized,
  };
  Object.defineProperty(globalThis, '__replaykit_ask', { value: Object.freeze(tools) });
}
