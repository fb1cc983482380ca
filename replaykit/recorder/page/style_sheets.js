// Style sheets as text, so that the page can be rendered again: adopted and linked ones, imports inlined.

const SHEET_MAX = 1024 * 1024;
const SHEETS_MAX = 4 * SHEET_MAX;
const IMPORTS_MAX = 8;

function rulesOf(sheet) {
  try {
    return sheet.cssRules;
  } catch {
    return null;
  }
}

// In the order of the head, for the last snapshot of a page. An unreadable or too long sheet is null; a sheet that was
// sent before (components share theirs) is the position of its text.
function newSheets(tree, purpose) {
  if (globalThis.parent !== globalThis || purpose !== 'final') return null;
  const places = new Map();
  let left = SHEETS_MAX;
  return tree.sheets.map((sheet, place) => {
    if (places.has(sheet)) return places.get(sheet);
    const text = sheetText(sheet, 0);
    const isIncluded = text !== null && text.length <= Math.min(left, SHEET_MAX);
    places.set(sheet, isIncluded ? place : null);
    left -= isIncluded ? text.length : 0;
    return isIncluded ? text : null;
  });
}

function sheetText(sheet, depth) {
  const rules = rulesOf(sheet);
  return rules === null ? null : Array.from(rules, (rule) => ruleText(rule, depth)).join('\n');
}

function ruleText(rule, depth) {
  const imported = brand(rule) === '[object CSSImportRule]' && rule.styleSheet && depth < IMPORTS_MAX;
  const inner = imported ? sheetText(rule.styleSheet, depth + 1) : null;
  return inner === null ? rule.cssText : within(rule, inner);
}

// The conditions of an import hold for all that it brings.
function within({ media, supportsText, layerName }, text) {
  const conditions = [
    ['@supports', supportsText ? `(${supportsText})` : null], ['@media', media.mediaText || null], ['@layer', layerName],
  ];
  const wrap = (inner, [name, condition]) => (condition === null ? inner : `${name} ${condition} {\n${inner}\n}`);
  return conditions.reduceRight(wrap, text);
}
