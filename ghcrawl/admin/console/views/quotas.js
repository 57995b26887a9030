// How much quota is left, principal by principal. Those that share a budget are shown once.

import { meter } from "../chart.js";
import { fill, h } from "../dom.js";
import { count, plural, until } from "../format.js";
import { empty } from "../parts.js";

const SHOWN = 6;

/** The budgets that matter most: those with the least left. */
export function quotas(app) {
  const el = h("div", {});
  const update = (status) => {
    const shown = new Map(status.principals.map((principal) => [principal.id, principal]));
    const lines = [...shown.values()].flatMap((principal) => principal.budgets.map((budget) => ({ principal, budget })));
    lines.sort((one, other) => share(one.budget) - share(other.budget));
    const unknown = [...shown.values()].filter((principal) => !principal.budgets.length && !principal.retired);
    if (!lines.length) {
      fill(el, empty(unknown.length ? "Quota not known yet." : "No credentials: requests are unauthenticated."));
      return;
    }
    const more = lines.length - SHOWN;
    fill(el, h("ul", { class: "quotas" }, lines.slice(0, SHOWN).map((line) => quota(line, app.now))), more > 0 ? h("p", { class: "quiet" }, `and ${plural(more, "quota")} with more remaining`) : null);
  };
  return { el, update };
}

export const share = (budget) => (budget.limit ? budget.remaining / budget.limit : 0);

function quota({ principal, budget }, now) {
  const state = stateOf(principal, now);
  return h(
    "li",
    {},
    h("div", { class: "bar-row" }, h("span", { title: principal.label }, principal.label), h("span", { class: "bar-note" }, resourceOf(budget, principal)), h("b", {}, count(budget.remaining))),
    meter(share(budget), `${principal.label}, ${budget.resource}: remaining of ${count(budget.limit)}`, share(budget) < 0.1 ? "low" : ""),
    h("p", { class: state.tone }, state.text || `of ${count(budget.limit)}, resets ${until(budget.reset_at, now)}`),
  );
}

/** The name of a budget; nothing where it is that of the host, which the label names. */
const resourceOf = ({ resource }, { host }) => (resource === host ? "" : resource);

/** Whether a principal is used, and if not, why, and until when. */
export function stateOf(principal, now) {
  if (principal.retired) return { text: `disabled: ${principal.retired}`, tone: "wrong" };
  if (principal.benched_until) {
    const why = principal.benched_for ? ` (${principal.benched_for})` : "";
    return { text: `rate-limited, resumes ${until(principal.benched_until, now)}${why}`, tone: "held" };
  }
  return { text: "", tone: "quiet" };
}
