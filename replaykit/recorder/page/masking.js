// Texts as they leave the page: cut, scalar, and masked before any byte of them is sent.

const STRING_MAX = 1024 * 1024;
const LONE_SURROGATE = /\\ud[89a-f]/;

function cutText(text, limit = STRING_MAX, onCut = undefined) {
  if (text.length <= limit) return text;
  const kept = text.slice(0, endsInPair(text, limit) ? limit - 1 : limit);
  onCut?.();
  return `${kept}⟦cut:${text.length - kept.length}⟧`;
}

// High surrogates are U+D800 to U+DBFF.
const endsInPair = (text, end) => text.charCodeAt(end - 1) >> 10 === 0x36;

// `JSON.stringify` writes a lone surrogate as an escape in lower case: finding none costs one scan.
function toJSON(value, tally) {
  const text = JSON.stringify(value);
  return LONE_SURROGATE.test(text) ? JSON.stringify(repaired(value, tally)) : text;
}

function repaired(value, tally) {
  if (typeof value === 'string') return repairedText(value, tally);
  if (Array.isArray(value)) return value.map((item) => repaired(item, tally));
  if (value === null || typeof value !== 'object') return value;
  const pairs = Object.entries(value);
  return Object.fromEntries(pairs.map(([key, item]) => [repairedText(key, tally), repaired(item, tally)]));
}

function repairedText(text, tally) {
  if (text.isWellFormed()) return text;
  if (tally) tally.repaired += 1;
  return text.toWellFormed();
}

const MASKED = '⟦masked⟧';
const MASK = OPTIONS.mask.join(',');
const SECRET_FILLS = new Set(['current-password', 'new-password', 'one-time-code', 'cc-number', 'cc-csc']);
const FIELDS = new Set(['input', 'textarea', 'select']);
const oncePassword = new WeakSet();
const oncePasswordNames = new Set();

// An empty value hides nothing, and whether a field was filled is evidence.
const maskValue = (value) => (value === '' ? value : MASKED);

// The value of a field goes encrypted to the recorder, which compares it with declared secrets (`masked_fields.py`).
const KEY = OPTIONS.key;
const FIELD_MAX = 256;

function maskField(value) {
  if (value === '' || KEY.length === 0 || value.length > FIELD_MAX) return maskValue(value);
  const blocks = blocksOf(value);
  const tag = blocks.reduce((before, block) => enciphered(mixed(before, block), KEY.slice(0, 4)), [0, 0]);
  const stream = (place) => enciphered([tag[0], (tag[1] + place) >>> 0], KEY.slice(4));
  return `⟦field:${[tag, ...blocks.map((block, place) => mixed(block, stream(place)))].map(hexOf).join('')}⟧`;
}

// Code units, their number first, four a block.
function blocksOf(text) {
  const units = [text.length, ...Array.from({ length: text.length }, (_, at) => text.charCodeAt(at))];
  const word = (at) => (((units[at] ?? 0) << 16) | (units[at + 1] ?? 0)) >>> 0;
  return Array.from({ length: Math.ceil(units.length / 4) }, (_, at) => [word(4 * at), word(4 * at + 2)]);
}

const mixed = (one, other) => [(one[0] ^ other[0]) >>> 0, (one[1] ^ other[1]) >>> 0];

const hexOf = (block) => block.map((word) => word.toString(16).padStart(8, '0')).join('');

// XTEA.
function enciphered([left, right], key) {
  for (let round = 0, total = 0; round < 32; round += 1) {
    left = (left + (((right << 4 ^ right >>> 5) + right) ^ (total + key[total & 3]))) >>> 0;
    total = (total + 0x9e3779b9) >>> 0;
    right = (right + (((left << 4 ^ left >>> 5) + left) ^ (total + key[total >>> 11 & 3]))) >>> 0;
  }
  return [left, right];
}

const maskText = (text) => (text.trim() === '' ? text : MASKED);

function nameAndId(field) {
  const key = `${attribute(field, 'name') ?? ''}\n${attribute(field, 'id') ?? ''}`;
  return key === '\n' ? null : key;
}

// "Show password" turns the field into a plain one, or replaces it by one of the same name and id.
function rememberPassword(field) {
  oncePassword.add(field);
  const key = nameAndId(field);
  if (key !== null) oncePasswordNames.add(key);
}

function isPasswordInput(field) {
  if (inputType(field) === 'password') rememberPassword(field);
  return oncePassword.has(field) || (oncePasswordNames.size > 0 && oncePasswordNames.has(nameAndId(field)));
}

function fillsSecret(field) {
  const hint = attribute(field, 'autocomplete');
  return hint !== null && hint.toLowerCase().split(/\s+/).some((word) => SECRET_FILLS.has(word));
}

// `tag` is that of an HTML element, or empty.
function isSecretField(element, tag) {
  if (!FIELDS.has(tag)) return false;
  return fillsSecret(element) || (tag === 'input' && isPasswordInput(element));
}

// Attributes that may repeat an element's text. Those of a secret field describe its purpose, and stay.
const TEXT_ATTRIBUTES = new Set([
  'alt', 'aria-description', 'aria-label', 'aria-placeholder', 'aria-valuenow', 'aria-valuetext', 'label', 'placeholder',
  'srcdoc', 'title',
]);

const isSecurity = (value) => value !== 'none' && value !== '';
const hasTextSecurity = (element) => isSecurity(propertyValue(styleOf(element), '-webkit-text-security'));

// The serializer's rule for one element: events and reads ask it.
function isMasked(element) {
  const tag = isHTML(element) ? localName(element) : '';
  return isSecretField(element, tag) || hasTextSecurity(element) || isBelowMask(element);
}

// Whether the texts of its attributes are masked too, not only its content.
function isMuted(element) {
  return isBelowMask(element) || (hasTextSecurity(element) && !(isHTML(element) && FIELDS.has(localName(element))));
}

function safeAttribute(element, name) {
  const value = attribute(element, name);
  return value && isMuted(element) ? maskText(value) : value;
}

function isBelowMask(element) {
  if (MASK === '') return false;
  for (let at = element; at !== null; at = hostOf(at)) if (closest(at, MASK) !== null) return true;
  return false;
}

// A field that the page made plain before the first snapshot: the attribute's old value shows it.
const typeObserver = new MutationObserver(guarded(noteTypeChanges));

function watchTypes(root) {
  typeObserver.observe(root, { subtree: true, attributes: true, attributeFilter: ['type'], attributeOldValue: true });
}

function noteTypeChanges(records) {
  for (const { target, oldValue } of records) {
    if (oldValue?.toLowerCase() === 'password' && isHTML(target, 'input')) rememberPassword(target);
  }
}

const takeTypeChanges = () => noteTypeChanges(typeObserver.takeRecords());
