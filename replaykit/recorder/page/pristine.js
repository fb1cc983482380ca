// Natives, taken once from the prototypes: `<form><input name=attributes>` shadows `form.attributes` in every world,
// `<img name=title>` shadows `document.title`, and in the page's own world scripts patch what they like.
// The files that capture.py joins share one function scope, in which OPTIONS is a constant.

const bindCall = Function.prototype.call;
const method = (prototype, name) => bindCall.bind(prototype[name]);
const getter = (prototype, name) => bindCall.bind(Object.getOwnPropertyDescriptor(prototype, name).get);

const nodeType = getter(Node.prototype, 'nodeType');
const firstChild = getter(Node.prototype, 'firstChild');
const lastChild = getter(Node.prototype, 'lastChild');
const nextSibling = getter(Node.prototype, 'nextSibling');
const previousSibling = getter(Node.prototype, 'previousSibling');
const parentNode = getter(Node.prototype, 'parentNode');
const ownerDocument = getter(Node.prototype, 'ownerDocument');
const textContent = getter(Node.prototype, 'textContent');
const optionalGetter = (prototype, name) => (name in prototype ? getter(prototype, name) : undefined);
const isConnected = getter(Node.prototype, 'isConnected');
const baseURI = getter(Node.prototype, 'baseURI');
const contains = method(Node.prototype, 'contains');
const rootNode = method(Node.prototype, 'getRootNode');
const addListener = method(EventTarget.prototype, 'addEventListener');
const removeListener = method(EventTarget.prototype, 'removeEventListener');
const dispatch = method(EventTarget.prototype, 'dispatchEvent');
const eventPhase = getter(Event.prototype, 'eventPhase');
const characterData = getter(CharacterData.prototype, 'data');
const instructionTarget = getter(ProcessingInstruction.prototype, 'target');

const localName = getter(Element.prototype, 'localName');
const namespaceURI = getter(Element.prototype, 'namespaceURI');
const attributeNames = method(Element.prototype, 'getAttributeNames');
const attribute = method(Element.prototype, 'getAttribute');
const plainAttribute = method(Element.prototype, 'getAttributeNS');
const hasAttribute = method(Element.prototype, 'hasAttribute');
const attributeNodes = getter(Element.prototype, 'attributes');
const matches = method(Element.prototype, 'matches');
const closest = method(Element.prototype, 'closest');
const descendants = method(Element.prototype, 'getElementsByTagName');
const firstElement = getter(Element.prototype, 'firstElementChild');
const lastElement = getter(Element.prototype, 'lastElementChild');
const previousElement = getter(Element.prototype, 'previousElementSibling');
const nextElement = getter(Element.prototype, 'nextElementSibling');
const childElements = getter(Element.prototype, 'childElementCount');
const clientRect = method(Element.prototype, 'getBoundingClientRect');
const clientLeft = getter(Element.prototype, 'clientLeft');
const clientTop = getter(Element.prototype, 'clientTop');
const scrollTop = getter(Element.prototype, 'scrollTop');
const scrollLeft = getter(Element.prototype, 'scrollLeft');
const shadowRoot = getter(Element.prototype, 'shadowRoot');
const assignedSlot = getter(Element.prototype, 'assignedSlot');
const labelElements = optionalGetter(Element.prototype, 'ariaLabelledByElements');
const activeElement = optionalGetter(Element.prototype, 'ariaActiveDescendantElement');
const inShadow = method(DocumentFragment.prototype, 'getElementById');
const isDisplayed = method(Element.prototype, 'checkVisibility');
const shadowHost = getter(ShadowRoot.prototype, 'host');
const delegatesFocus = optionalGetter(ShadowRoot.prototype, 'delegatesFocus');
const innerText = getter(HTMLElement.prototype, 'innerText');
const isEditable = getter(HTMLElement.prototype, 'isContentEditable');
const editContext = 'editContext' in HTMLElement.prototype ? getter(HTMLElement.prototype, 'editContext') : () => null;
const attachedElements = globalThis.EditContext ? method(EditContext.prototype, 'attachedElements') : () => [];
const holdsPointer = method(Element.prototype, 'hasPointerCapture');
const propertyValue = method(CSSStyleDeclaration.prototype, 'getPropertyValue');

const documentElement = getter(Document.prototype, 'documentElement');
const documentBody = getter(Document.prototype, 'body');
const documentTitle = getter(Document.prototype, 'title');
const documentURL = getter(Document.prototype, 'URL');
const documentMode = getter(Document.prototype, 'compatMode');
const documentType = getter(Document.prototype, 'contentType');
const documentCharset = getter(Document.prototype, 'characterSet');
const documentWindow = getter(Document.prototype, 'defaultView');
const documentElements = method(Document.prototype, 'getElementsByTagName');
const elementsAt = method(Document.prototype, 'elementsFromPoint');
const caretAt = 'caretPositionFromPoint' in Document.prototype ? method(Document.prototype, 'caretPositionFromPoint') : null;
const elementById = method(Document.prototype, 'getElementById');
const readyState = getter(Document.prototype, 'readyState');
const doctype = getter(Document.prototype, 'doctype');
const queryDocument = method(Document.prototype, 'querySelectorAll');
const queryShadow = method(DocumentFragment.prototype, 'querySelectorAll');

const inputType = getter(HTMLInputElement.prototype, 'type');
const inputValue = getter(HTMLInputElement.prototype, 'value');
const inputFiles = getter(HTMLInputElement.prototype, 'files');
const fileBytes = method(Blob.prototype, 'arrayBuffer');
const isChecked = getter(HTMLInputElement.prototype, 'checked');
const isIndeterminate = getter(HTMLInputElement.prototype, 'indeterminate');
const areaValue = getter(HTMLTextAreaElement.prototype, 'value');
const selectValue = getter(HTMLSelectElement.prototype, 'value');
const selectOptions = getter(HTMLSelectElement.prototype, 'options');
const isSelected = getter(HTMLOptionElement.prototype, 'selected');
const buttonType = getter(HTMLButtonElement.prototype, 'type');
const formAction = getter(HTMLFormElement.prototype, 'action');
const formMethod = getter(HTMLFormElement.prototype, 'method');
const formControls = getter(HTMLFormElement.prototype, 'elements');
const submitterOf = getter(SubmitEvent.prototype, 'submitter');
const overrides = (prototype) => ({
  __proto__: null,
  formaction: getter(prototype, 'formAction'),
  formmethod: getter(prototype, 'formMethod'),
});
const OVERRIDES = { __proto__: null, button: overrides(HTMLButtonElement.prototype), input: overrides(HTMLInputElement.prototype) };
const shadowMode = getter(ShadowRoot.prototype, 'mode');
const slotAssignment = getter(ShadowRoot.prototype, 'slotAssignment');
const assignedNodes = method(HTMLSlotElement.prototype, 'assignedNodes');
const templateContent = getter(HTMLTemplateElement.prototype, 'content');

const frameDocuments = {
  __proto__: null,
  iframe: getter(HTMLIFrameElement.prototype, 'contentDocument'),
  frame: getter(HTMLFrameElement.prototype, 'contentDocument'),
};

const labelLists = {
  __proto__: null,
  button: getter(HTMLButtonElement.prototype, 'labels'),
  input: getter(HTMLInputElement.prototype, 'labels'),
  meter: getter(HTMLMeterElement.prototype, 'labels'),
  output: getter(HTMLOutputElement.prototype, 'labels'),
  progress: getter(HTMLProgressElement.prototype, 'labels'),
  select: getter(HTMLSelectElement.prototype, 'labels'),
  textarea: getter(HTMLTextAreaElement.prototype, 'labels'),
};

const isFrame = (node) => nodeType(node) === ELEMENT && isHTML(node) && localName(node) in frameDocuments;

// Properties that documents and shadow roots share are defined on each of the two prototypes.
const treeRoot = (prototype, query) => ({
  query,
  activeElement: getter(prototype, 'activeElement'),
  styleSheets: getter(prototype, 'styleSheets'),
  adoptedStyleSheets: getter(prototype, 'adoptedStyleSheets'),
});
const DOCUMENT_ROOT = treeRoot(Document.prototype, queryDocument);
const SHADOW_ROOT = treeRoot(ShadowRoot.prototype, queryShadow);

const activation = navigator.userActivation;
const isActivated = () => activation?.hasBeenActive ?? true;
const readCount = globalThis.EventCounts ? method(EventCounts.prototype, 'get') : () => 0;
const repeat = setInterval.bind(globalThis);
const cancelRepeat = clearInterval.bind(globalThis);
const now = performance.now.bind(performance);
const later = setTimeout.bind(globalThis);
const soon = queueMicrotask.bind(globalThis);
const styleOf = getComputedStyle.bind(globalThis);
const brand = bindCall.bind(Object.prototype.toString);

const ELEMENT = 1;
const TEXT = 3;
const CDATA = 4;
const XHTML = 'http://www.w3.org/1999/xhtml';

const isHTML = (element, tag) => namespaceURI(element) === XHTML && (tag === undefined || localName(element) === tag);

// Nodes of an inner document have the classes of its window: `instanceof` does not recognise them.
const isShadowRoot = (root) => brand(root) === '[object ShadowRoot]';
const isDocument = (root) => nodeType(root) === 9;

// The element that a tree hangs on: shadow host or frame element, or null.
function hostOf(node) {
  const root = rootNode(node);
  if (isShadowRoot(root)) return shadowHost(root);
  return isDocument(root) && root !== document ? frameOf(root) : null;
}

const frameOf = (inner) => documentWindow(inner)?.frameElement ?? null;
