// What the sheets of a page say of pseudo-elements: to ask every element for its own costs as much as all else of it.

// `initials` is 'none', 'known', or 'some' where a sheet cannot be read; so is `all`: any element may have generated
// content. `chosen` are the elements that selectors mean which name neither class nor tag.
const newPseudos = () => ({
  initials: 'none', lines: false, swaps: false, all: documentMode(document) === 'BackCompat', sources: [], chosen: new Set(),
});

function notePseudos({ pseudos }, root, kind) {
  const found = [...kind.styleSheets(root), ...kind.adoptedStyleSheets(root)].map(pseudosIn);
  for (const one of found) addPseudos(pseudos, one);
  const free = found.flatMap((one) => one?.free ?? []);
  if (free.length > 0) choose(pseudos, root, kind, free.join(','));
}

// What a query cannot say (of hosts, slots, parts) may be any element.
function choose(pseudos, root, kind, selector) {
  try {
    for (const element of kind.query(root, selector)) pseudos.chosen.add(element);
  } catch {
    pseudos.all = true;
  }
}

function addPseudos(pseudos, found) {
  pseudos.all ||= found === null || found.all;
  pseudos.swaps ||= found?.swaps ?? false;
  pseudos.lines ||= found !== null && found.lines;
  if (found === null && pseudos.initials === 'none') pseudos.initials = 'some';
  if (found?.initials) pseudos.initials = 'known';
  if (found !== null && found.tags.size + found.classes.size > 0) pseudos.sources.push(found);
}

// Whether a rule that generates content may be meant for the element. Browsers themselves generate quotes.
function mayGenerate({ sources, chosen }, element) {
  const tag = localName(element);
  // What a shadow tree says of its host is read after the host.
  if (tag === 'q' || chosen.has(element) || shadowRoot(element) !== null) return true;
  if (sources.length === 0) return false;
  const classes = attribute(element, 'class')?.split(/[\t\n\f\r ]+/) ?? [];
  return sources.some((source) => source.tags.has(tag) || classes.some((name) => source.classes.has(name)));
}

// ---- Sheets ----------------------------------------------------------------------------------------------------

const pseudosKnown = new WeakMap();

// Null where nobody can tell.
function pseudosIn(sheet) {
  const rules = rulesOf(sheet);
  if (rules === null) return null;
  const before = pseudosKnown.get(sheet);
  if (before !== undefined && isSameRules(before.rules, rules)) return before;
  const found = {
    rules: Array.from(rules), initials: false, lines: false, swaps: false, all: false, free: [], tags: new Set(), classes: new Set(),
  };
  collectPseudos(rules, found, null);
  pseudosKnown.set(sheet, found);
  return found;
}

// A sheet whose text was replaced has other rules, be they as many.
function isSameRules(before, rules) {
  if (before.length !== rules.length) return false;
  for (let at = 0; at < rules.length; at += 1) if (rules[at] !== before[at]) return false;
  return true;
}

function collectPseudos(rules, found, outer) {
  for (const rule of rules) {
    const selector = rule.selectorText ?? outer;
    if (rule.selectorText !== undefined) notePseudo(rule, found, outer);
    const inner = rule.cssRules ?? (rule.styleSheet ? rulesOf(rule.styleSheet) : null);
    if (inner && inner.length > 0) collectPseudos(inner, found, selector);
    else if (rule.styleSheet && inner === null) found.all = true;
  }
}

// What decides which words show.
const SHOWING = ['content', 'display', 'visibility', 'position', 'opacity', 'font-size'];

function notePseudo({ selectorText: selector, style }, found, outer) {
  if (!selector.includes(':')) return;
  found.swaps ||= /:(?:hover|focus|active)/.test(selector) && SHOWING.some((name) => propertyValue(style, name) !== '');
  found.initials ||= selector.includes('first-letter');
  found.lines ||= selector.includes('first-line');
  if (!/:(?:before|after)/.test(selector) || /^(?:|none|normal)$/.test(propertyValue(style, 'content'))) return;
  // Nested, `&` stands for the selector of the rule around it.
  for (const around of partsOf(outer ?? '')) {
    for (const part of partsOf(selector)) noteSubject(part.replaceAll('&', around), found);
  }
}

// Selectors of a list, whose commas stand outside of brackets.
function partsOf(selector) {
  const parts = [''];
  let depth = 0;
  for (const [piece] of selector.matchAll(/\\.|"(?:\\.|[^"\\])*"|./gs)) {
    if (/^[([]/.test(piece)) depth += 1;
    if (/^[)\]]/.test(piece)) depth -= 1;
    if (piece === ',' && depth === 0) parts.push('');
    else parts[parts.length - 1] += piece;
  }
  return parts;
}

function noteSubject(selector, found) {
  const whole = /^(.*?)::?(?:before|after)\s*$/s.exec(selector)?.[1] ?? '::';
  const [subject] = /[^\s>+~]*$/.exec(whole);
  const [, name] = /\.((?:[\w-]|[^\0-\x7f])+)/.exec(subject) ?? [];
  const [tag] = /^[a-z][\w-]*/i.exec(subject) ?? [];
  if (whole.includes('::')) found.all = true;
  else if (/[()[\]\\&]/.test(subject)) found.free.push(whole);
  else if (name !== undefined) found.classes.add(name);
  else if (tag !== undefined) found.tags.add(tag.toLowerCase());
  else found.free.push(subject === '' ? `${whole}*` : whole);
}
