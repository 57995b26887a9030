// Whoever the platform is asked as: budgets, benches, and never a secret.

import { meter } from "../chart.js";
import { fill, h } from "../dom.js";
import { count, plural, until, when } from "../format.js";
import { empty, loading, panel, table } from "../parts.js";
import { share, stateOf } from "./quotas.js";

export function principals({ app }) {
  const el = h("div", {}, loading());
  const update = (status) => {
    if (!status.principals.length) {
      fill(el, empty("No credentials: requests are unauthenticated, with a low rate limit."));
      return;
    }
    const columns = [{ name: "Principal" }, { name: "Quota" }, { name: "Calls", kind: "number wide-only" }, { name: "In flight", kind: "number wide-only" }, { name: "State", kind: "wide-only" }];
    const used = status.principals.filter(({ retired }) => !retired).length;
    const summary = `${plural(status.principals.length, "principal")} of ${status.worker}, ${count(used)} in use`;
    fill(el, panel(summary, {}, table("Principals", columns, status.principals.map((one) => row(one, app.now))).el));
  };
  return { title: "Principals", el, update };
}

function row(principal, now) {
  const state = stateOf(principal, now);
  return h(
    "tr",
    {},
    h("th", { scope: "row" }, h("div", {}, principal.label), state.text ? h("div", { class: `narrow-only row-sub ${state.tone}` }, state.text) : null, principal.traits.map((trait) => h("span", { class: "tag trait" }, trait))),
    h("td", { class: "main" }, principal.budgets.length ? principal.budgets.map((budget) => left(principal, budget, now)) : h("span", { class: "quiet" }, "not known yet")),
    h("td", { class: "number wide-only" }, count(principal.calls)),
    h("td", { class: "number wide-only" }, count(principal.in_flight)),
    h("td", { class: `wide-only ${state.tone}` }, state.text || "in use"),
  );
}

function left(principal, budget, now) {
  const label = `${principal.label}, ${budget.resource}: remaining of ${count(budget.limit)}`;
  return h(
    "div",
    { class: "budget" },
    h("div", { class: "bar-row" }, h("span", {}, budget.resource), h("b", {}, `${count(budget.remaining)} of ${count(budget.limit)}`)),
    meter(share(budget), label, share(budget) < 0.1 ? "low" : ""),
    h("div", { class: "row-sub", title: when(budget.reset_at) }, `resets ${until(budget.reset_at, now)}`),
  );
}
