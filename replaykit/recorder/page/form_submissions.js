// Which form a gesture sends. `form.submit()` and `requestSubmit()` of a script ask for it in the same way, and the
// request comes later, so that neither call stack nor order shows it. The browser collects the fields of each form that is
// sent, which the event `formdata` reports, and which nothing prevents any more.

const sending = { submit: null, form: null, submitter: null, handled: null, request: '', isScripted: false };

// Events that no script waits for: microtasks run after their first listener, and not after the last.
const unprompted = new WeakSet();

function submitting(event) {
  if (!event.isTrusted) return;
  Object.assign(sending, { submit: event, form: event.composedPath()[0], submitter: submitterOf(event) });
  const { form, submitter } = sending;
  const isReply = handledGesture() !== undefined;
  soon(guarded(() => {
    if (eventPhase(event) !== 0) unprompted.add(event);
    else if (!isReply) reportPress(form, submitter);
  }));
}

function collecting(event) {
  if (!event.isTrusted) return;
  const form = event.composedPath()[0];
  const gesture = handledGesture();
  const submission = submissionOf(form);
  if (gesture !== undefined) return void reportSending(form, submission, gesture);
  const data = addressee(form, submission?.submitter ?? null);
  soon(guarded(() => (eventPhase(event) === 0 ? reportScripted(data, form) : sendAfter(submission, form))));
}

// A form that a handler sends is a result of its event.
const handledGesture = () => handling.find((event) => eventPhase(event) !== 0 && isOfGesture(event));
const isOfGesture = (event) => event.isTrusted && (BY_USER.has(event.type) || unprompted.has(event));

// A form is sent right after its `submit` event, if there was one.
function submissionOf(form) {
  const { submit, submitter } = sending;
  const isOwn = sending.form === form && !submit.defaultPrevented;
  Object.assign(sending, { submit: null, form: null, submitter: null });
  return isOwn ? { submit, submitter } : null;
}

// The browser collects the fields of a form once more when it leaves for its address.
function sendAfter(submission, form) {
  if (submission !== null && unprompted.has(submission.submit)) reportSending(form, submission, submission.submit);
}

// A handler may collect fields as often as it likes, also of a form that it does not send.
function reportSending(form, submission, gesture) {
  const data = addressee(form, submission?.submitter ?? null);
  const request = `${data.method} ${data.url}`;
  if (sending.handled === gesture && sending.request === request) return;
  Object.assign(sending, { handled: gesture, request, isScripted: false });
  postEvent('sending', data);
}

// From now on a request may be that of a script.
function reportScripted(data, form) {
  const request = `${data.method} ${data.url}`;
  if (!sending.isScripted || sending.request !== request) postEvent('sending', { ...data, sender: 'script' });
  Object.assign(sending, { handled: null, request, isScripted: true });
  reportPress(form, null);
}

// A script sends a form in the place of a press: on the button that it names, or on the first of the form.
function reportPress(form, submitter) {
  const button = submitter ?? [...formControls(form)].find(isSubmit);
  if (button === undefined) return;
  postDispatched('submit', epoch(), elementOf(button, button, { type: 'submit' }), {});
}

const isSubmit = (field) =>
  isHTML(field, 'button') ? buttonType(field) === 'submit' : isHTML(field, 'input') && inputType(field) === 'submit';

const addressee = (form, submitter) => ({
  url: overridden(submitter, 'formaction') ?? formAction(form),
  method: overridden(submitter, 'formmethod') ?? formMethod(form),
});

function overridden(submitter, name) {
  return submitter !== null && hasAttribute(submitter, name) ? OVERRIDES[localName(submitter)][name](submitter) : undefined;
}
