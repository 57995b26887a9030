// Webhook deliveries that failed, and are requested again from the platform. Empty where redelivery is off.

import { api } from "../api.js";
import { toast } from "../dialog.js";
import { button, fill, h } from "../dom.js";
import { ago, count, plural, until, words } from "../format.js";
import { empty, panel, table } from "../parts.js";
import { session } from "../session.js";

const EVERY_MS = 15_000;

/** {el, close}. */
export function redelivery(app, signal) {
  const el = h("div", {});
  let timer = 0;
  const look = async () => {
    try {
      const state = await api.redelivery(signal);
      fill(el, state.enabled ? shown(app, state, look) : null);
      if (!state.enabled) return;
    } catch {
      // The poll says that the service is away; this is asked again.
    }
    if (!signal.aborted) timer = setTimeout(look, document.hidden ? EVERY_MS * 4 : EVERY_MS);
  };
  look();
  return { el, close: () => clearTimeout(timer) };
}

function shown(app, state, look) {
  const act = async () => {
    try {
      await api.redeliver();
      toast("Checking for failed deliveries within 1 s.");
      setTimeout(look, 2000);
    } catch (trouble) {
      toast(trouble.message);
    }
  };
  const now = session.operates ? button("Check now", act, { class: "button small" }) : null;
  const troubles = (state.last?.troubles ?? []).map((trouble) => h("p", { class: "wrong" }, trouble));
  return panel("Failed webhook deliveries", { actions: now }, h("p", { class: "quiet" }, sentence(state, app.now)), troubles, waiting(state.waiting, app.now));
}

function sentence({ names, last, next_at: next, sweeping }, now) {
  const whose = `Redelivers failed deliveries of ${names.join(", ")}.`;
  const found = last
    ? `Last check ${ago(last.at, now)} by ${last.worker}: ${count(last.lost)} failed, ${count(last.asked)} redeliveries requested, ${count(last.arrived)} arrived, ${count(last.given_up)} too old.`
    : "Not checked yet.";
  const then = sweeping ? `${sweeping} is checking now.` : `Next check: ${next ? until(next, now) : "now"}.`;
  return `${whose} ${found} ${then}`;
}

function waiting(lost, now) {
  if (!lost.length) return empty("No failed deliveries.");
  const columns = [{ name: "Event" }, { name: "Hook", kind: "wide-only" }, { name: "Requested", kind: "number" }, { name: "Failed", kind: "number" }, { name: "Next attempt", kind: "number wide-only" }];
  return table("Failed webhook deliveries", columns, lost.map((one) => row(one, now))).el;
}

function row(one, now) {
  return h(
    "tr",
    {},
    h("td", { class: "main" }, words(one.event), h("div", { class: "row-sub" }, h("code", {}, one.delivery))),
    h("td", { class: "wide-only" }, one.hook),
    h("td", { class: "number" }, plural(one.tries, "time")),
    h("td", { class: "number" }, ago(one.failed_at, now)),
    h("td", { class: "number wide-only" }, until(one.due_at, now)),
  );
}
