// Elements from data. Recorded words become text nodes and attribute values of a short list: nothing is parsed.

const SVG = "http://www.w3.org/2000/svg";

// Characters that make a line read otherwise than it is written, or not at all.
const DECEPTIVE = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;

function plain(value) {
  return String(value).replace(DECEPTIVE, "\ufffd");
}

function el(tag, given = {}, ...kids) {
  const node = document.createElement(tag);
  fill(node, given);
  add(node, kids);
  return node;
}

function shape(tag, given = {}, ...kids) {
  const node = document.createElementNS(SVG, tag);
  fill(node, given);
  add(node, kids);
  return node;
}

// `on`: listeners, `css`: custom properties and places; every other key is an attribute of ours.
function fill(node, given) {
  for (const [name, value] of Object.entries(given)) {
    if (value === null || value === undefined || value === false) continue;
    if (name === "on") for (const [event, action] of Object.entries(value)) node.addEventListener(event, action);
    else if (name === "css")
      for (const [key, text] of Object.entries(value)) node.style.setProperty(key, text);
    else node.setAttribute(name, value === true ? "" : plain(value));
  }
}

function add(node, kids) {
  for (const kid of kids.flat(3)) {
    if (kid === null || kid === undefined || kid === false || kid === "") continue;
    node.append(kid instanceof Node ? kid : plain(kid));
  }
}

function replace(node, ...kids) {
  node.replaceChildren();
  add(node, kids);
  return node;
}

function button(label, action, given = {}) {
  return el("button", { type: "button", on: { click: action }, ...given }, label);
}
