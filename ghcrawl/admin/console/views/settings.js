// What is set, where it comes from, what can be changed while everything runs, and who changed what.

import { api } from "../api.js";
import { toast } from "../dialog.js";
import { button, fill, h } from "../dom.js";
import { ago, count, plural, when } from "../format.js";
import { empty, failed, loading, panel, table } from "../parts.js";
import { session } from "../session.js";
import { control } from "./setting-control.js";

export function settings({ app, signal }) {
  const live = h("div", {}, loading());
  const audit = h("div", {}, loading());
  const whole = h("div", {}, loading());
  const refresh = async () => {
    try {
      const [holding, { changes }] = await Promise.all([api.settings(signal), api.audit(signal)]);
      fill(live, editor(holding, refresh));
      fill(audit, history(changes, app.now));
      fill(whole, everything(holding));
    } catch (trouble) {
      if (signal.aborted) return;
      fill(live, failed(trouble, refresh));
      fill(audit);
      fill(whole);
    }
  };
  refresh();
  const note = session.operates ? "Changes apply to all replicas within 2 s, without a restart." : "Your token grants read access only.";
  const el = h("div", { class: "panels one" }, panel("Live settings", { note }, live), panel("History", { note: "the last 200 changes, newest first" }, audit), panel("All settings", { note: "of this replica; other settings require a file or environment change and a restart" }, whole));
  return { title: "Settings", el, refresh };
}

const valueOf = (settings, name) => name.split(".").reduce((found, part) => found?.[part], settings);

/** Where a value comes from, as a person says it. */
function originOf(holding, name) {
  if (name in holding.live) return "set live";
  const origin = holding.origins[name];
  return origin ? `from ${origin === "environment" || origin === "command line" ? `the ${origin}` : origin}` : "default";
}

// Live ---------------------------------------------------------------------------------------------------------

function editor(holding, changed) {
  const controls = holding.may_change.map((name) =>
    control({ name, value: valueOf(holding.settings, name), origin: originOf(holding, name), set: name in holding.live }),
  );
  const wrong = h("p", { class: "sentence wrong", role: "alert" });
  const save = h("button", { type: "submit", class: "button primary" }, "Save");
  const undo = button("Undo", () => controls.forEach((each) => each.undo()));
  const actions = h("div", { class: "form-actions sticky", hidden: true }, undo, save);
  const pending = () => controls.filter((each) => each.changed);
  const changes = () => {
    const number = pending().length;
    actions.hidden = !number;
    fill(save, number > 1 ? `Save ${count(number)} changes` : "Save");
  };
  for (const each of controls) each.onchange = changes;
  const submit = async (event) => {
    event.preventDefault();
    fill(wrong);
    for (const each of controls) each.complain("");
    try {
      const { changes: done } = await api.changeSettings(Object.fromEntries(pending().map((each) => [each.name, each.value])));
      toast(done.length ? `${plural(done.length, "setting")} changed, in all replicas.` : "No changes: the settings already have these values.");
      await changed();
    } catch (trouble) {
      place(trouble, controls, wrong);
    }
  };
  const form = h("form", { class: "settings", on: { submit } }, h("div", { class: "setting-grid" }, controls.map(({ el }) => el)), wrong);
  if (session.operates) form.append(actions);
  return form;
}

/** Each complaint at its field; what belongs to none of them below all. */
function place(trouble, controls, wrong) {
  const homeless = [];
  let first = null;
  for (const { field, detail } of trouble.fields) {
    const home = controls.find(({ name }) => field === name || field.startsWith(`${name}.`));
    if (home) home.complain(detail);
    else homeless.push(field ? `${field}: ${detail}` : detail);
    first ??= home;
  }
  if (!trouble.fields.length) homeless.push(trouble.message);
  fill(wrong, homeless.join(" "));
  first?.focus();
}

// The rest -----------------------------------------------------------------------------------------------------

const shown = (value) => (value === null || value === undefined ? "not set" : typeof value === "string" ? value || "empty" : JSON.stringify(value));

function history(changes, now) {
  if (!changes.length) return empty("No changes yet.");
  const row = (change) =>
    h(
      "tr",
      {},
      h("td", { class: "main" }, h("code", {}, change.name), h("div", { class: "row-sub" }, `${shown(change.before)} → ${shown(change.after)}`)),
      h("td", {}, change.who),
      h("td", { class: "number" }, h("time", { datetime: change.at, title: when(change.at) }, ago(change.at, now))),
    );
  return table("Setting changes", [{ name: "Setting" }, { name: "Who" }, { name: "When", kind: "number" }], changes.map(row)).el;
}

function everything(holding) {
  const section = ([name, values]) => {
    const rows = Object.entries(values).map(([key, value]) => {
      const full = `${name}.${key}`;
      return h("tr", {}, h("th", { scope: "row" }, h("code", {}, full)), h("td", { class: "main" }, h("code", { class: "break" }, shown(value))), h("td", { class: "quiet" }, originOf(holding, full)));
    });
    return h("details", {}, h("summary", {}, name, h("span", { class: "quiet" }, ` ${plural(rows.length, "setting")}`)), table(`Settings of ${name}`, [{ name: "Setting" }, { name: "Value" }, { name: "Origin" }], rows).el);
  };
  return Object.entries(holding.settings).map(section);
}
