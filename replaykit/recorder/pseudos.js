// What the sheets of a page say of pseudo-elements: to ask every element for its own costs as much as all else of it.

// `initials` is 'none', 'known', or 'some' where a sheet cannot be read; so is `all` (any element may have generated
// content), where a selector is too free to say which elements it means.
const newPseudos = () => ({ initials: 'none', lines: false, all: documentMode(document) === 'BackCompat', sources: [] });

function notePseudos({ pseudos }, root, kind) {
  for (const sheet of [...kind.styleSheets(root), ...kind.adoptedStyleSheets(root)]) addPseudos(pseudos, pseudosIn(sheet));
}

function addPseudos(pseudos, found) {
  pseudos.all ||= found === null || found.all;
  pseudos.lines ||= found !== null && found.lines;
  if (found === null && pseudos.initials === 'none') pseudos.initials = 'some';
  if (found?.initials) pseudos.initials = 'known';
  if (found !== null && found.tags.size + found.classes.size > 0) pseudos.sources.push(found);
}

// Whether a rule that generates content may be meant for the element. Browsers themselves generate quotes.
function mayGenerate({ sources }, element) {
  const tag = localName(element);
  // What a shadow tree says of its host is read after the host.
  if (tag === 'q' || shadowRoot(element) !== null) return true;
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
  if (before?.count === rules.length) return before;
  const found = { count: rules.length, initials: false, lines: false, all: false, tags: new Set(), classes: new Set() };
  collectPseudos(rules, found, null);
  pseudosKnown.set(sheet, found);
  return found;
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

function notePseudo({ selectorText: selector, style }, found, outer) {
  if (!selector.includes(':')) return;
  found.initials ||= selector.includes('first-letter');
  found.lines ||= selector.includes('first-line');
  if (!/:(?:before|after)/.test(selector) || /^(?:|none|normal)$/.test(propertyValue(style, 'content'))) return;
  // Nested, `&` stands for the selector of the rule around it.
  for (const around of partsOf(outer ?? '')) {
    for (const part of partsOf(selector)) noteSubject(part.replaceAll('&', around), found);
  }
}

// Selectors of a list whose commas stand outside of brackets; one part that says nothing where they do not.
const partsOf = (selector) => (/[([].*,/s.test(selector) ? [''] : selector.split(','));

function noteSubject(selector, found) {
  const subject = /([^\s>+~]*?)::?(?:before|after)\s*$/.exec(selector)?.[1] ?? '';
  const [, name] = /\.((?:[\w-]|[^\0-\x7f])+)/.exec(subject) ?? [];
  const [tag] = /^[a-z][\w-]*/i.exec(subject) ?? [];
  if (/[()[\]\\&]/.test(subject)) found.all = true;
  else if (name !== undefined) found.classes.add(name);
  else if (tag !== undefined) found.tags.add(tag.toLowerCase());
  else found.all = true;
}
