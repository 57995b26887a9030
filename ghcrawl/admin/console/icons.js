// The few icons there are, drawn here.

import { s } from "./dom.js";

function icon(...shapes) {
  return s("svg", { class: "icon", viewBox: "0 0 20 20", "aria-hidden": "true" }, shapes);
}

const path = (d, props = {}) => s("path", { d, ...props });

export const icons = {
  halves: () => icon(s("circle", { cx: 10, cy: 10, r: 6.5 }), path("M10 3.5a6.5 6.5 0 0 1 0 13z", { class: "filled" })),
  question: () => icon(path("M7.4 7.6a2.6 2.6 0 1 1 3.9 2.25c-.9.5-1.3 1-1.3 2.05"), s("circle", { cx: 10, cy: 14.8, r: 0.9, class: "filled" })),
  leave: () => icon(path("M8 3.5H5.5a1 1 0 0 0-1 1v11a1 1 0 0 0 1 1H8M12.5 6.5l3.5 3.5-3.5 3.5M16 10H8")),
  cross: () => icon(path("M5.5 5.5l9 9M14.5 5.5l-9 9")),
};
