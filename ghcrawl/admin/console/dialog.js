// Questions before something happens, and sentences about what did.

import { button, field, fill, h, uid } from "./dom.js";
import { icons } from "./icons.js";

/** A modal dialog. Escape and the close button close it; focus goes back to where it was. Returns {el, close}. */
export function open(title, body, { wide = false, closed = () => {} } = {}) {
  const id = uid("dialog");
  const before = document.activeElement;
  const el = h("dialog", { class: wide ? "dialog wide" : "dialog", "aria-labelledby": id });
  const close = () => el.close();
  const shut = h("button", { type: "button", class: "icon-button", "aria-label": "Close", on: { click: close } }, icons.cross());
  el.append(h("div", { class: "dialog-head" }, h("h2", { id }, title), shut), h("div", { class: "dialog-body" }, body));
  el.addEventListener("close", () => {
    el.remove();
    if (before?.isConnected) before.focus();
    closed();
  });
  document.body.append(el);
  el.showModal();
  el.querySelector("[autofocus]")?.focus();
  return { el, close };
}

/**
 * Ask before `act` is done. typed: text that has to be typed first, for what cannot be undone.
 * act(tell, closed) does it; tell(text) shows how far it is, and `closed` is aborted once nobody looks any more. The
 * dialog closes when it worked and stays, saying why, if not. stops: `act` ends early when it is closed.
 */
export function confirm({ title, body, verb, act, danger = false, typed = "", stops = false }) {
  const said = h("p", { class: "sentence", role: "status" });
  const wrong = h("p", { class: "sentence wrong", role: "alert" });
  const guard = typed ? field(`Type ${typed} to confirm`, h("input", { autocomplete: "off", spellcheck: "false" })) : null;
  const go = h("button", { type: "submit", class: danger ? "button danger" : "button primary", disabled: Boolean(typed) }, verb);
  const no = button("Cancel", () => shown.close());
  const closed = new AbortController();
  guard?.input.addEventListener("input", () => (go.disabled = guard.input.value.trim() !== typed));
  (guard ? guard.input : go).setAttribute("autofocus", "");
  const submit = async (event) => {
    event.preventDefault();
    go.disabled = true;
    fill(wrong);
    if (stops) fill(no, "Stop");
    try {
      await act((text) => fill(said, text), closed.signal);
      shown.close();
    } catch (trouble) {
      if (closed.signal.aborted) return toast(trouble.message);
      fill(no, "Cancel");
      fill(said);
      fill(wrong, trouble.message);
      go.disabled = false;
    }
  };
  const actions = h("div", { class: "dialog-actions" }, no, go);
  const shown = open(title, h("form", { on: { submit } }, body, guard?.box, said, wrong, actions), { closed: () => closed.abort() });
  return shown;
}

/** A sentence that goes away by itself; screen readers say it. */
export function toast(text, link = null) {
  const gone = () => el.remove();
  const close = h("button", { type: "button", class: "icon-button", "aria-label": "Dismiss", on: { click: gone } }, icons.cross());
  const el = h("div", { class: "toast" }, h("span", {}, text, " ", link), close);
  document.getElementById("toasts").append(el);
  setTimeout(gone, 12_000);
}
