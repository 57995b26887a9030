// Parts that several views have.

import { button, fill, h } from "./dom.js";
import { json } from "./format.js";

/** A part of a page under a heading. */
export function panel(title, { note = "", actions = null, wide = false } = {}, ...children) {
  const head = h("div", { class: "panel-head" }, h("h2", {}, title), note ? h("p", { class: "note" }, note) : null, actions);
  return h("section", { class: wide ? "panel wide" : "panel" }, head, children);
}

/** What is said where there is nothing. */
export const empty = (text, more = null) => h("div", { class: "empty" }, h("p", {}, text), more);

/** What is shown while something is on its way; only after a moment, so that nothing flickers. */
export const loading = (text = "Loading …") => h("p", { class: "loading", role: "status" }, text);

/** A trouble as a sentence, and a way to try again. */
export function failed(trouble, again = null) {
  const retry = again ? button("Retry", again) : null;
  return h("div", { class: "empty wrong", role: "alert" }, h("p", {}, trouble.message), retry);
}

/** Names and values. entries: [name, node or text]; those without a value are left out. */
export function facts(entries) {
  const shown = entries.filter(([, value]) => value !== null && value !== undefined && value !== "");
  return h("dl", { class: "facts" }, shown.map(([name, value]) => h("div", {}, h("dt", {}, name), h("dd", {}, value))));
}

/** A link within the console. */
export const to = (place, text, props = {}) => h("a", { href: `#/${place}`, ...props }, text);

/** Where a document is shown. */
export const documentPlace = (urn) => `documents/${encodeURIComponent(urn)}`;

/** Where what is known under a URL is shown. */
export const urlPlace = (url) => `documents?url=${encodeURIComponent(url)}`;

/** A URL or URN that may go on in the next line behind each of its parts. */
export const parted = (text) => text.split(/(?<=[/:?&])/).flatMap((part) => [part, h("wbr")]);

/** A place with a query, leaving out what is empty. */
export function place(name, query) {
  const params = new URLSearchParams();
  for (const [key, value] of Object.entries(query)) {
    for (const each of Array.isArray(value) ? value : [value]) if (each) params.append(key, each);
  }
  const text = params.toString();
  return text ? `${name}?${text}` : name;
}

/** Text as it is, to be read and copied. */
export function source(text, label) {
  const copy = button("Copy", async () => {
    await navigator.clipboard.writeText(text);
    fill(copy, "Copied");
    setTimeout(() => fill(copy, "Copy"), 1500);
  });
  copy.classList.add("small");
  const pre = h("pre", { class: "source", tabindex: "0", role: "region", "aria-label": label }, text);
  return h("div", { class: "source-box" }, navigator.clipboard ? copy : null, pre);
}

/** A value as JSON text. */
export const jsonSource = (value, label) => source(json(value), label);

/** A table. columns: [{name, class}]; rows: elements. */
export function table(label, columns, rows) {
  const heads = columns.map(({ name, kind = "", hidden = false }) =>
    h("th", { scope: "col", class: kind }, hidden ? h("span", { class: "unseen" }, name) : name),
  );
  const body = h("tbody", {}, rows);
  const element = h("table", { class: "table" }, h("caption", { class: "unseen" }, label), h("thead", {}, h("tr", {}, heads)), body);
  return { el: h("div", { class: "table-box" }, element), body };
}

/** Some of a few that exclude one another, as a row of buttons. options: [[value, text]]. */
export function segments(label, options, value, choose) {
  const buttons = options.map(([key, text]) => {
    const pressed = () => {
      for (const [other, element] of buttons) element.setAttribute("aria-pressed", String(other === key));
      choose(key);
    };
    return [key, button(text, pressed, { class: "button segment", "aria-pressed": String(key === value) })];
  });
  return h("div", { class: "segments", role: "group", "aria-label": label }, buttons.map(([, element]) => element));
}
