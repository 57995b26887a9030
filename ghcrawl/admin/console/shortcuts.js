// Keys. All of them are listed under `?`, and can be switched off there.

import { open } from "./dialog.js";
import { h } from "./dom.js";
import { keys, theme } from "./session.js";

const GO = { o: "overview", d: "deadletters", q: "queues", c: "documents", w: "sources", s: "settings", p: "principals" };
const CHORD_MS = 1200;

const typing = (target) => target.closest?.("input, textarea, select, [contenteditable], dialog");

export function shortcuts(app) {
  let chord = 0;
  addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || typing(event.target) || !app.view) return;
    if (event.key === "?") {
      event.preventDefault();
      help(app);
      return;
    }
    if (!keys.on) return;
    if (event.timeStamp - chord < CHORD_MS && GO[event.key]) {
      chord = 0;
      event.preventDefault();
      app.go(GO[event.key]);
      return;
    }
    chord = event.key === "g" ? event.timeStamp : 0;
    const act = actions(app)[event.key];
    if (act) {
      event.preventDefault();
      act();
    }
  });
}

function actions(app) {
  const own = Object.fromEntries((app.view.keys ?? []).map(([key, , act]) => [key, act]));
  return {
    "/": () => document.querySelector("[data-search]")?.focus(),
    r: () => app.refresh(),
    t: () => theme.toggle(),
    ...own,
  };
}

/** The list of all of them. */
export function help(app) {
  const row = (shown, text) => h("div", {}, h("dt", {}, shown.split(" ").map((key) => h("kbd", {}, key))), h("dd", {}, text));
  const list = (rows) => h("dl", { class: "keys" }, rows.map(([shown, text]) => row(shown, text)));
  const own = (app.view.keys ?? []).map(([key, text]) => [key, text]);
  const toggle = h("input", { type: "checkbox", id: "keys-on", checked: keys.on, on: { change: () => (keys.on = toggle.checked) } });
  open("Keyboard shortcuts", [
    h("h3", {}, "Go to"),
    list(Object.entries(GO).map(([key, name]) => [`g ${key}`, name.charAt(0).toUpperCase() + name.slice(1)])),
    h("h3", {}, "All views"),
    list([["/", "Search or filter"], ["r", "Refresh now"], ["t", "Toggle theme"], ["?", "Show shortcuts"], ["Esc", "Close a dialog"]]),
    own.length ? [h("h3", {}, "In this view"), list(own)] : null,
    h("div", { class: "check" }, toggle, h("label", { for: "keys-on" }, "Enable single-key shortcuts")),
  ]);
}
