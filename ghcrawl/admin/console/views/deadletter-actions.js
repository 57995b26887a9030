// Requeue and delete: what will happen is shown first, by the service's own dry run, and that is what is then done.

import { api, Trouble } from "../api.js";
import { confirm, toast } from "../dialog.js";
import { field, h, select } from "../dom.js";
import { count, kindName, plural } from "../format.js";
import { to as link } from "../parts.js";
import { admitsAll, body, sentence } from "./deadletter-filter.js";

export const QUEUES = ["event", "immediate", "soon", "normal", "later"];
const SHOWN_CLASSES = 6;

/**
 * Which deadletters are meant, as a body; only those that were there when it was asked for, so that what was shown
 * first is what is done, whatever is buried meanwhile.
 */
export function meant(app, { filter = null, urns = null }) {
  if (urns) return { urns };
  return { ...body(filter), before: new Date(app.now).toISOString() };
}

/** How many there are of each class: of a filter from the service, of chosen ones from what is shown. */
async function classes(which, chosen) {
  if (chosen.letters) {
    const found = {};
    for (const letter of chosen.letters) found[letter.kind] = (found[letter.kind] ?? 0) + 1;
    return found;
  }
  const { kind, type, reason, host, older_than_s, before } = which;
  return (await api.deadletterCounts({ kind, type, reason, host, older_than_s, before })).by_kind;
}

function breakdown(found) {
  const sorted = Object.entries(found).sort(([, one], [, other]) => other - one);
  const more = sorted.length - SHOWN_CLASSES;
  return h(
    "ul",
    { class: "breakdown" },
    sorted.slice(0, SHOWN_CLASSES).map(([kind, number]) => h("li", {}, h("span", {}, kindName(kind)), h("b", {}, count(number)))),
    more > 0 ? h("li", {}, `and ${plural(more, "other class", "other classes")}`) : null,
  );
}

function subject(chosen, matched) {
  const all = `${plural(matched, "deadletter")}`;
  if (chosen.urns) return all;
  return admitsAll(chosen.filter) ? `${all} (all)` : `${all} ${sentence(chosen.filter)}`;
}

/** What `work` answers; where the answer did not arrive, what became of it, if anything did. */
async function answered(work, dry, which, left) {
  try {
    return await work(which);
  } catch (trouble) {
    if (!(trouble instanceof Trouble) || !trouble.passing) throw trouble;
    const { matched } = await dry(which);
    if (matched >= left) throw trouble;
    return { queued: left - matched, deleted: left - matched, left: matched, before: which.before };
  }
}

/**
 * Everything that `which` means, in as many answers as it takes: each says what is left and by which bound it is found.
 * Ends early once `closed` is aborted; `left` of the result says with how many.
 */
async function throughout(work, dry, which, all, tell, closed) {
  const total = { queued: 0, bounced: 0, unreadable: 0, deleted: 0, left: all };
  let rest = which;
  while (total.left && !closed.aborted) {
    const done = await answered(work, dry, rest, total.left);
    for (const name of ["queued", "bounced", "unreadable", "deleted"]) total[name] += done[name] ?? 0;
    total.left = done.left;
    rest = { ...rest, before: done.before ?? rest.before };
    if (done.left) tell(`${count(all - done.left)} of ${count(all)} processed …`);
  }
  return total;
}

/** chosen: {filter} or {urns, letters}. done(): something changed. */
export async function requeue(app, chosen, done) {
  const which = meant(app, chosen);
  const dry = (meant) => api.requeue({ ...meant, dry_run: true });
  const [{ matched }, found] = await Promise.all([dry(which), classes(which, chosen)]);
  if (!matched) return toast("No deadletters match.");
  const queue = field(
    "Queue",
    select([["", "Original queue of each"], ...QUEUES.map((name) => [name, name])], ""),
    "Resets attempts to 0. Each deadletter is deleted once its request is durably queued.",
  );
  const act = async (tell, closed) => {
    tell(`Requeueing ${count(matched)} …`);
    const to = queue.input.value || null;
    const total = await throughout((meant) => api.requeue({ ...meant, to }), dry, which, matched, tell, closed);
    const also = [
      total.bounced ? `${plural(total.bounced, "was", "were")} already queued` : "",
      total.unreadable ? `${count(total.unreadable)} unreadable and kept` : "",
      total.left ? `${count(total.left)} left` : "",
    ].filter(Boolean);
    toast([`${count(total.queued)} requeued`, ...also].join("; ") + ".", link("queues", "Show queues"));
    done();
  };
  return confirm({
    title: matched === 1 ? "Requeue this deadletter?" : `Requeue ${count(matched)}?`,
    body: [h("p", { class: "lead" }, `${subject(chosen, matched)} will be queued for retry.`), breakdown(found), queue.box],
    verb: `Requeue ${count(matched)}`,
    act,
    stops: true,
  });
}

/** chosen: {filter} or {urns, letters}. done(): something changed. */
export async function remove(app, chosen, done) {
  const which = meant(app, chosen);
  const dry = (meant) => api.remove({ ...meant, dry_run: true });
  const [{ matched }, found] = await Promise.all([dry(which), classes(which, chosen)]);
  if (!matched) return toast("No deadletters match.");
  const act = async (tell, closed) => {
    tell(`Deleting ${count(matched)} …`);
    const total = await throughout(api.remove, dry, which, matched, tell, closed);
    toast(`${count(total.deleted)} deleted${total.left ? `; ${count(total.left)} left` : ""}.`);
    done();
  };
  return confirm({
    title: matched === 1 ? "Delete this deadletter?" : `Delete ${count(matched)}?`,
    body: [
      h("p", { class: "lead" }, `${subject(chosen, matched)} will be permanently deleted and not retried.`),
      breakdown(found),
    ],
    verb: `Delete ${count(matched)}`,
    act,
    stops: true,
    danger: true,
    typed: chosen.filter ? `delete ${matched}` : "",
  });
}
