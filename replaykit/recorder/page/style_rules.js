// Effects of style sheets on texts: which elements they give some, and whether they show others while the pointer or the
// focus is on an element.

const rulesKnown = new WeakMap();

const swapsTexts = (root, kind) => sheetsIn(root, kind).some((sheet) => sheetFacts(sheet).swaps);
const sheetsIn = (root, kind) => [...kind.styleSheets(root), ...kind.adoptedStyleSheets(root)];
const UNREADABLE = { swaps: false, generating: rulesGenerate([]) };

// A sheet that cannot be read counts as one without such rules.
function sheetFacts(sheet) {
  const rules = rulesOf(sheet);
  if (rules === null) return UNREADABLE;
  const before = rulesKnown.get(sheet);
  if (before !== undefined && isSameRules(before.rules, rules)) return before;
  const facts = { rules: Array.from(rules), swaps: rulesSwap(rules), generating: rulesGenerate(rules) };
  rulesKnown.set(sheet, facts);
  return facts;
}

// A sheet whose text was replaced has other rules, be they as many.
function isSameRules(before, rules) {
  if (before.length !== rules.length) return false;
  for (let at = 0; at < rules.length; at += 1) if (rules[at] !== before[at]) return false;
  return true;
}

function rulesSwap(rules) {
  return Array.from(rules).some((rule) => ruleSwaps(rule) || rulesSwap(innerRules(rule)));
}

const innerRules = (rule) => rule.cssRules ?? (rule.styleSheet ? rulesOf(rule.styleSheet) : null) ?? [];

// Properties that decide which texts show.
const SHOWING = ['content', 'display', 'visibility', 'position', 'opacity', 'font-size'];

function ruleSwaps({ selectorText: selector, style }) {
  return selector !== undefined && /:(?:hover|focus|active)/.test(selector)
    && SHOWING.some((name) => propertyValue(style, name) !== '');
}
