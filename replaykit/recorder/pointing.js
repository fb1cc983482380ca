// What a pointer did between its first and its last event: which click a change belongs to, what was dragged where.

// ---- Clicks ----------------------------------------------------------------------------------------------------

// A box changes in the task of its click, however long handlers of the page take. A message to ourselves comes
// after that task, and before whatever the page does later.
const task = { isClick: false, isOfUser: false };
const channel = new MessageChannel();
channel.port1.onmessage = () => void Object.assign(task, { isClick: false, isOfUser: false });

function enterTask(event) {
  if (!task.isClick) channel.port2.postMessage(null);
  task.isClick = true;
  task.isOfUser ||= event.isTrusted;
}

// ---- Drags -----------------------------------------------------------------------------------------------------

const DRAG_MIN = 10;
const NO_POINT = [0, 0];
const pressed = { control: null, point: NO_POINT, corner: NO_POINT, isDragged: false };

function press(event, control) {
  const [point, corner] = [pointOf(event), cornerOf(control)];
  if (event.isTrusted) Object.assign(pressed, { control, point, corner, isDragged: false });
}

const cornerOf = (control) => boxOf(control).slice(0, 2);

// What was dragged lies under the pointer still: the drop is on what is below.
function released(event, control, innermost) {
  pressed.isDragged = event.isTrusted && pressed.control !== null && isDrag(event, innermost);
  if (!pressed.isDragged) return [control, innermost];
  const inner = ownerDocument(pressed.control);
  const under = elementsAt(inner, event.clientX, event.clientY);
  const below = under.find((element) => !contains(pressed.control, element) && !contains(element, pressed.control));
  return below === undefined ? [control, innermost] : [closest(below, CONTROL) ?? below, below];
}

// The page keeps the pointer to itself, or moves what was pressed along with it; pictures are drawn and panned.
function isDrag(event, innermost) {
  const way = minus(pointOf(event), pressed.point);
  if (Math.hypot(...way) < DRAG_MIN || !isConnected(pressed.control)) return false;
  if (holdsPointer(innermost, event.pointerId) || isHTML(pressed.control, 'canvas')) return true;
  const shift = minus(cornerOf(pressed.control), pressed.corner);
  return Math.hypot(...shift) >= DRAG_MIN / 2 && shift[0] * way[0] + shift[1] * way[1] > 0;
}

const minus = (a, b) => [a[0] - b[0], a[1] - b[1]];

function droppedFiles(event) {
  const files = event.dataTransfer?.files ?? [];
  return files.length > 0 ? filesData(files) : undefined;
}
