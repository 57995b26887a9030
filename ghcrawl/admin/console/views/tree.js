// JSON that can be opened and closed, in which names and addresses of other things lead to them.

import { h } from "../dom.js";
import { count, plural } from "../format.js";
import { documentPlace, to, urlPlace } from "../parts.js";

const SHOWN = 200;

/** A value as elements. What is deep is made when it is opened, so that a large document costs nothing at first. */
export function tree(value) {
  return h("div", { class: "tree" }, branch(value));
}

function branch(value) {
  const entries = Object.entries(value);
  const more = entries.length - SHOWN;
  return h("ul", {}, entries.slice(0, SHOWN).map(([name, each]) => h("li", {}, twig(name, each))), more > 0 ? h("li", { class: "quiet" }, `and ${count(more)} more, in the JSON below`) : null);
}

function twig(name, value) {
  if (value === null || typeof value !== "object") return [h("span", { class: "tree-name" }, name), leaf(value)];
  const size = Object.keys(value).length;
  if (!size) return [h("span", { class: "tree-name" }, name), h("span", { class: "quiet" }, Array.isArray(value) ? "empty list" : "empty")];
  const about = Array.isArray(value) ? plural(size, "element") : plural(size, "field");
  const box = h("details", {}, h("summary", {}, h("span", { class: "tree-name" }, name), h("span", { class: "quiet" }, about)));
  box.addEventListener("toggle", () => box.append(branch(value)), { once: true });
  return box;
}

function leaf(value) {
  if (value === null) return h("span", { class: "quiet" }, "null");
  if (typeof value !== "string") return h("span", { class: "tree-number" }, String(value));
  if (/^urn:[\w:.-]+$/.test(value)) return to(documentPlace(value), value, { class: "break" });
  if (/^https?:\/\/[^\s{}]+$/.test(value)) return to(urlPlace(value), value, { class: "break" });
  return h("span", { class: "tree-text" }, value || h("span", { class: "quiet" }, "empty text"));
}
