// The text that elements show, composed by one rule from the tokens and styles of a snapshot, whatever the browser
// reports. A reader composes it again (replaykit/replay/rendered_text/): change both together. The rule is section 5.1
// of docs/snapshot-format.md.

const [SHOWN, MENU_PART, SKIPPED, UNBOXED] = [0, 1, 2, 3];
const [BOXLESS, INLINE, ATOM, BLOCK_BOX, CELL, ROW, GROUP] = [0, 1, 2, 3, 4, 5, 6];
const [NOTHING, BLANK, SOLID] = [0, 1, 2];
const NO_ITEM = -1;

// Elements that a browser draws itself: what they contain is never laid out.
const DRAWN = new Set([
  'audio', 'canvas', 'embed', 'frame', 'iframe', 'img', 'input', 'meter', 'noscript', 'object', 'option', 'progress',
  'template', 'textarea', 'video',
]);
// One item of a line even where their style is inline.
const ATOMS = new Set([
  'audio', 'button', 'canvas', 'embed', 'fieldset', 'frame', 'iframe', 'img', 'input', 'meter', 'object', 'option', 'progress',
  'select', 'textarea', 'video',
]);
const SVG_BLOCKS = new Set(['text', 'foreignObject']);
const SVG_TEXTS = new Set(['text', 'tspan', 'textPath', 'foreignObject']);
const KINDS = new Map([
  ['', BOXLESS], ['none', BOXLESS], ['inline', INLINE], ['contents', INLINE], ['inline list-item', INLINE], ['table-cell', CELL],
  ['table-row', ROW],
]);
const CASES = /[\u0000-\u019a\u019c-\u024f\u0370-\u052f\u0531-\u0587\u1e00-\u1fff]/g;
const CUT = '⟦cut:';

// ---- Palette ---------------------------------------------------------------------------------------------------

function boxStyle(entry) {
  const [display, visibility = '', collapse = '', transform = '', letters = ''] = entry.split('|');
  return {
    display, isVisible: visibility === 'visible' || visibility === '', collapse: collapse || 'collapse', transform,
    kind: KINDS.get(display) ?? otherKind(display), leaves: letters.includes('f'), isDotted: letters.includes('s'),
    maySkip: letters.includes('c') && (!display.includes('table') || display === 'table-cell'),
  };
}

function otherKind(display) {
  if (display.startsWith('ruby')) return INLINE;
  if (/^(?:inline|-webkit-inline-|math)/.test(display)) return ATOM;
  return /^table-(?!caption|column)/.test(display) ? GROUP : BLOCK_BOX;
}

const TREE_STYLE = boxStyle('block|visible|collapse|none');
const NO_STYLE = boxStyle('none');

// ---- Walk ------------------------------------------------------------------------------------------------------

// Per element number: state, items from `start` to `end` of its tree, the number after all inside, its parent in the
// same tree, whether it is HTML, and whether the browser is worth asking for it though it is not shown (`ASKED`).
function composed(tokens, styles, palette, isCut) {
  const page = {
    state: [], start: [], end: [], last: [], parent: [], items: [], html: [], asked: [], marks: [], isCut,
    styles, palette: palette.map(boxStyle), count: 0,
  };
  let box = treeBox(null, SHOWN);
  for (let at = 0; at < tokens.length; at += 1) {
    const token = tokens[at];
    if (typeof token === 'number') for (let level = 0; level < token; level += 1) box = leaveBox(page, box);
    else if (typeof token === 'string') {
      const mark = token[0];
      if (mark === '=') placeText(page, box, token.slice(1));
      else if (mark === '#') box = shadowBox(page, box);
      else if (mark === '<' || mark === '%' || mark === '&' || mark === '^') box = enterBox(page, box, token, tokens[at + 1]);
      else if (mark === '@' || mark === '~') {
        at += 1;
        if (mark === '@') box = treeBox(box, SHOWN);
        else page.marks.push([box.number, NO_ITEM]);
      }
    }
  }
  leaveBox(page, box);
  return page;
}

const newLines = (table) => {
  const lines = { ends: NOTHING, items: null, item: NO_ITEM, cell: NO_ITEM, row: NO_ITEM, table: null };
  lines.table = table ?? lines;
  return lines;
};

function treeBox(up, inside) {
  return {
    up, number: -1, kind: BLOCK_BOX, style: TREE_STYLE, lines: newLines(null), outer: newLines(null), items: [], inside,
    isRuled: up?.isRuled ?? false, isLocked: up?.isLocked ?? false, isSkipping: false, holdsText: true, isFolded: false, hasSummary: false, isList: false,
    isMenu: false, isSVG: false, breaks: 0, option: null, isOption: false, parent: -1,
  };
}

function shadowBox(page, host) {
  if (host.kind === INLINE && page.state[host.number] <= MENU_PART) {
    host.lines = newLines(null);
    putSolid(host.outer);
  }
  return treeBox(host, host.inside);
}

// Attributes of that very name, without a namespace.
function plainValue(attributes, name) {
  if (!Array.isArray(attributes)) return null;
  for (let at = 0; at < attributes.length; at += 2) if (attributes[at] === name) return attributes[at + 1];
  return null;
}

function isMenuOf(attributes) {
  const found = /^[\t\n\f\r ]*([+-]?[0-9]{1,10})(?![0-9])/.exec(plainValue(attributes, 'size') ?? '');
  const size = found === null || Math.abs(Number(found[1])) > 2 ** 31 - 1 ? 0 : Number(found[1]);
  return plainValue(attributes, 'multiple') === null ? size <= 1 : size === 1;
}

function enterBox(page, up, token, attributes) {
  const number = page.count;
  page.count += 1;
  const html = token[0] === '<' ? token.slice(1) : '';
  const svg = token[0] === '%' ? token.slice(1) : '';
  const style = page.palette[page.styles[number]] ?? NO_STYLE;
  const state = stateOf(up, html, style);
  const box = {
    up, number, kind: kindOf(up, html, svg, style), style, lines: up.lines, outer: up.lines, items: up.items, inside: SHOWN,
    isRuled: false, isSkipping: false, holdsText: true, isFolded: false, hasSummary: false, isList: false, isMenu: false,
    isLocked: up.isLocked || style.maySkip || (html === 'details' && plainValue(attributes, 'open') === null),
    isSVG: svg !== '', breaks: 0, option: html === 'template' ? null : up.option, isOption: false, parent: up.number,
  };
  page.state.push(state);
  page.html.push(html !== '');
  page.parent.push(up.number);
  page.asked.push(askOf(up, state, style));
  page.items.push(box.items);
  page.last.push(0);
  page.end.push(0);
  if (state <= MENU_PART) beginBox(page, box, html);
  page.start.push(box.start ?? box.items.length);
  lookInside(box, html, svg, state, attributes);
  return box;
}

function stateOf(up, html, style) {
  const isNever = html === 'noscript';
  const isSummary = up.isFolded && !up.hasSummary && html === 'summary';
  if (isSummary) up.hasSummary = true;
  if (up.inside !== SHOWN) return up.inside === UNBOXED && style.display === 'contents' && !isNever ? SKIPPED : up.inside;
  if (up.isFolded && !isSummary) return SKIPPED;
  const isListed = html === 'option' || html === 'optgroup';
  if (style.kind === BOXLESS || isNever || (up.isList && !isListed)) return UNBOXED;
  return up.isMenu ? MENU_PART : SHOWN;
}

function kindOf(up, html, svg, style) {
  if (style.kind === BOXLESS) return BOXLESS;
  if (svg !== '' && up.isSVG) return SVG_BLOCKS.has(svg) ? BLOCK_BOX : INLINE;
  if (style.kind !== INLINE || style.display === 'contents') return style.kind;
  return (html === '' ? svg === 'svg' : ATOMS.has(html)) ? ATOM : INLINE;
}

// Effects of an element on its content.
function lookInside(box, html, svg, state, attributes) {
  const { up, style } = box;
  if (up.inside !== SHOWN) [box.inside, box.isRuled] = [up.inside, up.isRuled];
  else if (state >= SKIPPED) [box.inside, box.isRuled] = [state, style.kind !== BOXLESS];
  else if (style.maySkip && box.kind !== INLINE) [box.inside, box.isSkipping] = [SKIPPED, true];
  else if (DRAWN.has(html)) [box.inside, box.isRuled] = [UNBOXED, state === SHOWN && html !== 'template'];
  else if (html === 'select') [box.isList, box.isMenu, box.holdsText] = [true, isMenuOf(attributes), false];
  else if (html === 'optgroup') [box.isList, box.isMenu, box.holdsText] = [true, up.isMenu, false];
  else if (html === 'details' && plainValue(attributes, 'open') === null) [box.isFolded, box.holdsText] = [true, false];
  else if (svg !== '') box.holdsText = SVG_TEXTS.has(svg) || (svg === 'a' && up.holdsText);
}

// Whether the browser has to be asked for an element that is not shown: always, or if it shows what is skipped around
// it.
const [NEVER, ASKED, ASKED_BELOW] = [0, 1, 2];

function askOf(up, state, style) {
  if (state <= MENU_PART) return NEVER;
  if (up.inside === SKIPPED) return style.kind === BOXLESS || up.isSkipping ? ASKED : ASKED_BELOW;
  // Without a box the text is `textContent`, but what is skipped reads as empty, also in the fallback of a canvas.
  if (up.inside === UNBOXED) return up.isRuled && (style.kind !== BOXLESS || up.isLocked) ? ASKED : NEVER;
  return state === SKIPPED || style.kind !== BOXLESS ? ASKED : NEVER;
}

function beginBox(page, box, html) {
  const { style, kind, items } = box;
  if (html === 'br') {
    endLine(box.outer);
    if (style.isVisible) items.push('\n');
  }
  if (kind !== INLINE) placeBox(box, kind);
  box.start = items.length;
  box.breaks = style.isVisible ? breaksOf(box, html) : 0;
  if (box.breaks > 0) items.push(box.breaks);
  // Lists give their options, visible or not.
  if (html === 'option') [box.option, box.isOption] = [[], true];
}

function breaksOf({ kind, style }, html) {
  if (kind === CELL || kind === ROW || style.display === 'contents') return 0;
  return html === 'p' ? 2 : Number(kind === BLOCK_BOX);
}

function placeBox(box, kind) {
  const { outer } = box;
  if (box.style.leaves) ;
  else if (kind === ATOM) putSolid(outer);
  else {
    endLine(outer);
    partLines(box, kind);
  }
  box.lines = newLines(kind === GROUP ? outer.table : null);
}

// Cells are parted by tabs and rows by line breaks, written where the one before ended.
function partLines({ outer, items }, kind) {
  if (kind === CELL && outer.cell !== NO_ITEM) items[outer.cell] = '\t';
  if (kind === ROW && outer.table.row !== NO_ITEM) items[outer.table.row] = '\n';
  outer.cell = NO_ITEM;
  if (kind !== GROUP) outer.table.row = NO_ITEM;
}

function leaveBox(page, box) {
  const { number, items, outer, kind } = box;
  if (number === -1) {
    endLine(box.lines);
    return box.up;
  }
  const state = page.state[number];
  if (state <= MENU_PART) {
    if (box.isOption) putOption(page, box);
    if (box.lines !== outer) endLine(box.lines);
    if (box.breaks > 0) items.push(box.breaks);
  }
  page.end[number] = items.length;
  page.last[number] = page.count;
  if (state <= MENU_PART && (kind === CELL || kind === ROW) && box.style.isVisible && !box.style.leaves) {
    if (kind === CELL) outer.cell = items.length;
    else outer.table.row = items.length;
    items.push('');
  }
  return box.up;
}

// ---- Texts -----------------------------------------------------------------------------------------------------

function placeText(page, box, data) {
  if (box.option !== null) box.option.push(data);
  if (box.inside !== SHOWN || data === '') {
    if (box.option === null) noteMark(page, box, data, NO_ITEM);
    return;
  }
  const { style, lines, items } = box;
  const isIn = box.holdsText && style.isVisible;
  if (box.option === null) noteMark(page, box, data, isIn ? items.length : NO_ITEM);
  if (!box.holdsText) return;
  const text = inCase(data, style.transform);
  lines.items = items;
  const shown = linedText(lines, text, style.collapse, isIn ? items.length : NO_ITEM);
  if (isIn) items.push(shown);
}

function putOption(page, box) {
  const data = box.option.join('');
  const { items } = box;
  items.push(1);
  noteMark(page, box, data, items.length);
  items.push(data.replace(/[\t\n\f\r ]+/g, ' ').replace(/^ | $/g, ''), 1);
}

// Texts that readers refuse, by number of the element and item where they show.
function noteMark(page, box, data, item) {
  const isMarked = data.includes('⟦') && (data.includes(MASKED) || (page.isCut && data.includes(CUT)));
  if (isMarked || (box.style.isDotted && /[^ \t\n\r]/.test(data))) page.marks.push([box.number, item]);
}

function inCase(text, transform) {
  if (transform === 'uppercase') return text.replace(CASES, (letter) => letter.toUpperCase());
  return transform === 'lowercase' ? text.replace(CASES, (letter) => letter.toLowerCase()) : text;
}

function linedText(lines, text, collapse, item) {
  if (collapse === 'collapse') return collapsedText(lines, text, item);
  if (collapse === 'preserve-breaks') return brokenText(lines, text, item);
  lines.ends = text.endsWith('\n') ? NOTHING : SOLID;
  if (/[^ \t\n\r]/.test(text)) partTable(lines);
  return text;
}

function collapsedText(lines, text, item) {
  let shown = text.replace(/[ \t\n\r]+/g, ' ');
  if (lines.ends !== SOLID && shown[0] === ' ') shown = shown.slice(1);
  if (shown === '') return '';
  lines.ends = shown.endsWith(' ') ? BLANK : SOLID;
  lines.item = item;
  if (shown !== ' ') partTable(lines);
  return shown;
}

// Line by line; blanks around a line break go.
function brokenText(lines, text, item) {
  const pieces = [];
  for (const [place, line] of text.split('\n').entries()) {
    if (place > 0) {
      const own = pieces.at(-1);
      if (own === '') endLine(lines);
      else if (lines.ends === BLANK) pieces[pieces.length - 1] = own.slice(0, -1);
      lines.ends = NOTHING;
      pieces.push('\n');
    }
    pieces.push(collapsedText(lines, line, item));
  }
  return pieces.join('');
}

function partTable(lines) {
  lines.cell = NO_ITEM;
  lines.table.row = NO_ITEM;
}

function putSolid(lines) {
  lines.ends = SOLID;
  partTable(lines);
}

// A collapsible blank at its end vanishes.
function endLine(lines) {
  if (lines.ends === BLANK && lines.item !== NO_ITEM) lines.items[lines.item] = lines.items[lines.item].slice(0, -1);
  lines.ends = NOTHING;
}

// Requests at both ends vanish, several between two texts become the largest.
function joinedItems(items, start, end) {
  let text = '';
  let breaks = 0;
  for (let at = start; at < end; at += 1) {
    const item = items[at];
    if (typeof item === 'number') breaks = text === '' ? 0 : Math.max(breaks, item);
    else if (item !== '') {
      text += breaks > 0 ? '\n'.repeat(breaks) + item : item;
      breaks = 0;
    }
  }
  return text;
}

// A text takes the place of all texts of a slice, from the first to the last that is not empty.
function putText(items, start, end, text) {
  let [first, last] = [start, end - 1];
  while (first <= last && !isNonEmpty(items[first])) first += 1;
  while (first < last && !isNonEmpty(items[last])) last -= 1;
  if (first > last) return;
  items.fill('', first, last + 1);
  items[first] = text;
}

const isNonEmpty = (item) => typeof item === 'string' && item !== '';
