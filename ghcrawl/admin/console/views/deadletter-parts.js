// Parts of the list of deadletters: what is asked for, one row, and how many were given up when.

import { columns } from "../chart.js";
import { button, field, h, select } from "../dom.js";
import { ago, count, kindName, path, plural, span, when } from "../format.js";
import { parted, to } from "../parts.js";
import { AGES } from "./deadletter-filter.js";
import { typeOf } from "../types.js";

/** The form of a filter. go(which): it is asked for; classes and types stay as they are. */
export function filterForm(first, go) {
  const text = (value, more) => h("input", { type: "search", value, spellcheck: "false", ...more });
  const reason = field("Reason contains", text(first.reason, { "data-search": true, maxlength: 300 }));
  const host = field("Host", text(first.host, { placeholder: "api.example.com", maxlength: 300 }));
  const age = field("Dead-lettered", select(AGES, first.older_than_s));
  const inputs = { reason: reason.input, host: host.input, older_than_s: age.input };
  const apply = () => go(Object.fromEntries(Object.entries(inputs).map(([name, input]) => [name, input.value.trim()])));
  const submit = (event) => {
    event.preventDefault();
    apply();
  };
  age.input.addEventListener("change", apply);
  for (const { input } of [reason, host]) input.addEventListener("search", apply);
  const nothing = { kind: [], type: [], platform: [], reason: "", host: "", older_than_s: "" };
  const clear = button("Clear", () => go(nothing), { class: "button quiet" });
  const buttons = h("div", { class: "filters-go" }, h("button", { type: "submit", class: "button" }, "Filter"), clear);
  const el = h("form", { class: "filters", role: "search", on: { submit } }, reason.box, host.box, age.box, buttons);
  return { el, inputs };
}

/** One row. tick(on): it was selected, or no more. */
export function letterRow(letter, now, tick) {
  const about = `Select ${typeOf(letter)} ${path(letter.url)}`;
  const box = h("input", { type: "checkbox", "aria-label": about, on: { change: () => tick(box.checked) } });
  const place = `deadletters/${encodeURIComponent(letter.urn)}`;
  const story = to(place, letter.reason || kindName(letter.kind), { class: "row-link" });
  const where = h("div", { class: "row-sub" }, h("span", { class: "tag" }, typeOf(letter)), h("code", {}, parted(path(letter.url))));
  const kind = h("div", { class: "row-sub narrow-only" }, kindName(letter.kind));
  const tries = h("div", { class: "row-sub" }, plural(letter.failures.length, "attempt"));
  const time = h("time", { datetime: letter.last_at, title: when(letter.last_at) }, ago(letter.last_at, now));
  return h(
    "tr",
    {},
    h("td", { class: "tick" }, box),
    h("td", { class: "main" }, story, where, kind),
    h("td", { class: "wide-only" }, kindName(letter.kind), tries),
    h("td", { class: "number" }, time),
  );
}

/** How many were given up when, in the last `back` seconds. totals: how many are older than each edge, newest first. */
export function bars(totals, back) {
  const steps = totals.length - 1;
  const found = totals.slice(1).map((total, index) => {
    const value = Math.max(0, totals[index] - total);
    return { value, text: `${count(value)} dead-lettered up to ${span((back * (index + 1)) / steps, 2)} ago` };
  });
  const label = `${plural(Math.max(0, totals[0] - totals.at(-1)), "deadletter")} of the last ${span(back)}`;
  const foot = h("div", { class: "bars-foot" }, h("span", {}, `${span(back)} ago`), h("span", {}, label), h("span", {}, "now"));
  return [columns(found.reverse(), label), foot];
}
