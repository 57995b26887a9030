// Elements from code. Data becomes text nodes and attributes only; nothing here, or anywhere, parses markup.

const SVG = "http://www.w3.org/2000/svg";

/** An element. props: attributes; `on`: listeners by event; `data`: data attributes. Children: nodes, text, null. */
export function h(tag, props, ...children) {
  return filled(document.createElement(tag), props, children);
}

/** An element of SVG. */
export function s(tag, props, ...children) {
  return filled(document.createElementNS(SVG, tag), props, children);
}

function filled(element, props, children) {
  for (const [name, value] of Object.entries(props ?? {})) set(element, name, value);
  element.append(...nodes(children));
  return element;
}

function set(element, name, value) {
  if (value === null || value === undefined || value === false) return;
  if (name === "on") {
    for (const [event, listener] of Object.entries(value)) element.addEventListener(event, listener);
  } else if (name === "data") {
    Object.assign(element.dataset, value);
  } else {
    element.setAttribute(name, value === true ? "" : String(value));
  }
}

function nodes(children) {
  return children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false);
}

/** `element` holds these and nothing else. */
export function fill(element, ...children) {
  element.replaceChildren(...nodes(children));
  return element;
}

/** Set text only where it differs, so that nothing is read out or selected anew without need. */
export function say(element, text) {
  const wanted = String(text);
  if (element.textContent !== wanted) element.textContent = wanted;
}

/**
 * Children that follow a list and stay the same elements while their key stays: focus and selection survive.
 * make(item) → element; update(element, item).
 */
export function keyed(parent, items, key, make, update) {
  const known = new Map([...parent.children].map((child) => [child.dataset.key, child]));
  let place = parent.firstElementChild;
  for (const item of items) {
    const name = String(key(item));
    let element = known.get(name);
    known.delete(name);
    if (!element) {
      element = make(item);
      element.dataset.key = name;
    }
    update(element, item);
    if (element === place) place = place.nextElementSibling;
    else parent.insertBefore(element, place);
  }
  for (const gone of known.values()) gone.remove();
}

let serial = 0;

/** An id that nothing else on the page has. */
export function uid(prefix = "n") {
  serial += 1;
  return `${prefix}-${serial}`;
}

/** A button. */
export function button(text, act, props = {}) {
  return h("button", { type: "button", class: "button", ...props, on: { click: act } }, text);
}

/** A field under its label, with room for what is wrong with it. Returns {box, input, complain}. */
export function field(label, input, hint = "") {
  const id = input.id || uid("field");
  input.id = id;
  const wrong = h("p", { class: "field-wrong", id: `${id}-wrong`, hidden: true });
  const about = hint ? h("p", { class: "field-hint", id: `${id}-hint` }, hint) : null;
  if (about) input.setAttribute("aria-describedby", about.id);
  const box = h("div", { class: "field" }, h("label", { for: id }, label), input, about, wrong);
  const complain = (text) => {
    wrong.hidden = !text;
    wrong.textContent = text ?? "";
    input.toggleAttribute("aria-invalid", Boolean(text));
    if (text) input.setAttribute("aria-invalid", "true");
    const described = [about?.id, text ? wrong.id : ""].filter(Boolean).join(" ");
    if (described) input.setAttribute("aria-describedby", described);
    else input.removeAttribute("aria-describedby");
  };
  return { box, input, complain };
}

/** A choice among [value, text] pairs. */
export function select(options, value, props = {}) {
  const element = h(
    "select",
    props,
    options.map(([key, text]) => h("option", { value: key, selected: key === value }, text)),
  );
  return element;
}
