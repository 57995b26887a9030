// A list of what there is, how much of each, and how much of that is new: each a switch.

import { fill, h, keyed, say } from "../dom.js";
import { count, span } from "../format.js";

const AT_FIRST = 12;

/** toggle(name): it was pressed; title(name): as a person reads it. */
export function facet(heading, toggle, title) {
  const list = h("ul", { class: "facet-list" });
  const more = h("button", { type: "button", class: "button quiet small", hidden: true });
  const el = h("section", { class: "facet" }, h("h2", {}, heading), list, more);
  let whole = false;
  let shown = () => {};
  more.addEventListener("click", () => {
    whole = !whole;
    shown();
  });
  const make = (item) => {
    const press = h("button", { type: "button", class: "facet-item", on: { click: () => toggle(item.name) } }, h("span", { class: "facet-name" }, title(item.name)), h("span", { class: "grew" }), h("b", {}));
    return h("li", {}, press);
  };
  const update = (element, { number, grew, on, back }) => {
    const press = element.firstElementChild;
    press.setAttribute("aria-pressed", String(on));
    say(press.querySelector("b"), count(number));
    say(press.querySelector(".grew"), grew > 0 ? `+${count(grew)}` : "");
    press.title = grew > 0 ? `${count(grew)} of them in the last ${span(back)}` : "";
  };
  const show = (now, then, chosen, back) => {
    const names = new Set([...Object.keys(now), ...chosen]);
    const items = [...names].map((name) => ({
      name,
      number: now[name] ?? 0,
      grew: (now[name] ?? 0) - (then[name] ?? 0),
      on: chosen.includes(name),
      back: Number(back),
    }));
    items.sort((one, other) => other.number - one.number || one.name.localeCompare(other.name));
    shown = () => {
      keyed(list, whole ? items : items.slice(0, AT_FIRST), ({ name }) => name, make, update);
      more.hidden = items.length <= AT_FIRST;
      fill(more, whole ? "Fewer" : `All ${count(items.length)}`);
    };
    shown();
    el.hidden = !items.length;
  };
  return { el, show };
}

/** Counts of an answer by platform; nothing where there is one platform and none is chosen. */
export function byPlatform(counts, chosen = []) {
  const found = {};
  for (const { platform, count: number } of counts.types ?? []) found[platform] = (found[platform] ?? 0) + number;
  return Object.keys(found).length > 1 || chosen.length ? found : {};
}
