// State of a document before the first action that this script can observe.

// Made by a user agent from input only, and counted by the browser whether anybody listens or not.
const COUNTED = ['pointerdown', 'keydown', 'beforeinput', 'input', 'dragstart', 'drop'];

// Drivers choose options without any event that is counted: a choice that is not the document's default shows it.
function wasTouched() {
  return hasHistory() || [...queryDocument(document, 'select,input')].some(isChosen);
}

function isChosen(field) {
  if (!isHTML(field)) return false;
  if (localName(field) === 'input') return inputType(field) === 'file' && inputFiles(field).length > 0;
  const options = [...selectOptions(field)];
  const marked = options.filter((option) => hasAttribute(option, 'selected'));
  const own = field.multiple ? marked : [marked.at(-1) ?? firstChoice(field, options)];
  return options.some((option) => isSelected(option) !== own.includes(option));
}

// The option that a closed select shows; a list box shows no chosen one.
function firstChoice(field, options) {
  return field.size > 1 ? undefined : options.find((option) => !matches(option, ':disabled'));
}

// Somebody acted in it: the browser hands that on to the next document of this origin only where a page moves by
// itself. A document without an origin of its own hands nothing on.
const activeOrigin = () => (isActivated() && globalThis.origin !== 'null' ? globalThis.origin : undefined);

function arrive() {
  const [entry] = performance.getEntriesByType('navigation');
  if (entry?.type === 'back_forward') postEvent('arrived', { active: isActivated(), origin: globalThis.origin });
}

// Before a back or forward navigation: whether it was requested from outside of the page.
function travel(event) {
  const isTravel = event.isTrusted && event.navigationType === 'traverse';
  if (isTravel) postEvent('travelled', { asked: event.userInitiated });
  if (event.isTrusted && !event.destination.sameDocument) leave();
}

function postEvent(name, data) {
  const at = performance.timeOrigin + now();
  post({ k: 'event', seq: sequence++, at, name, trusted: true, element: null, data }, 'browser');
}
