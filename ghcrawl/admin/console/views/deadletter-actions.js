// Requeue and delete: what will happen is shown first, by the service's own dry run, and that is what is then done.

import { api, Trouble } from "../api.js";
import { confirm, toast } from "../dialog.js";
import { field, h, select } from "../dom.js";
import { count, kindName, plural } from "../format.js";
import { to } from "../parts.js";
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
  return admitsAll(chosen.filter) ? `${all}: every one there is` : `${all} ${sentence(chosen.filter)}`;
}

/** Do it again while it only ran out of time and still gets somewhere. again() → {matched} that are left. */
async function throughout(work, left, tell, before) {
  let remaining = before;
  const total = { queued: 0, bounced: 0, unreadable: 0, deleted: 0 };
  for (;;) {
    try {
      const done = await work();
      for (const name of Object.keys(total)) total[name] += done[name] ?? 0;
      return total;
    } catch (trouble) {
      if (!(trouble instanceof Trouble) || !trouble.passing) throw trouble;
      const now = (await left()).matched;
      if (now >= remaining) throw trouble;
      total.queued += remaining - now;
      total.deleted += remaining - now;
      remaining = now;
      tell(`${count(before - remaining)} of ${count(before)} are done …`);
    }
  }
}

/** chosen: {filter} or {urns, letters}. done(): something changed. */
export async function requeue(app, chosen, done) {
  const which = meant(app, chosen);
  const dry = () => api.requeue({ ...which, dry_run: true });
  const [{ matched }, found] = await Promise.all([dry(), classes(which, chosen)]);
  if (!matched) return toast("Nothing matches any more.");
  const queue = field(
    "Queue",
    select([["", "Each where it came from"], ...QUEUES.map((name) => [name, name])], ""),
    "Attempts begin at nought again. A deadletter goes once its request is safely queued.",
  );
  const act = async (tell) => {
    tell(`Requeueing ${count(matched)} …`);
    const total = await throughout(() => api.requeue({ ...which, to: queue.input.value || null }), dry, tell, matched);
    const also = [
      total.bounced ? `${plural(total.bounced, "was", "were")} waiting already` : "",
      total.unreadable ? `${count(total.unreadable)} cannot be read and stay` : "",
    ].filter(Boolean);
    toast([`${count(total.queued)} requeued`, ...also].join("; ") + ".", to("queues", "See the queues"));
    done();
  };
  return confirm({
    title: matched === 1 ? "Requeue this deadletter?" : `Requeue ${count(matched)}?`,
    body: [h("p", { class: "lead" }, `${subject(chosen, matched)} will wait to be tried again.`), breakdown(found), queue.box],
    verb: `Requeue ${count(matched)}`,
    act,
  });
}

/** chosen: {filter} or {urns, letters}. done(): something changed. */
export async function remove(app, chosen, done) {
  const which = meant(app, chosen);
  const dry = () => api.remove({ ...which, dry_run: true });
  const [{ matched }, found] = await Promise.all([dry(), classes(which, chosen)]);
  if (!matched) return toast("Nothing matches any more.");
  const act = async (tell) => {
    tell(`Deleting ${count(matched)} …`);
    const total = await throughout(() => api.remove(which), dry, tell, matched);
    toast(`${count(total.deleted)} deleted.`);
    done();
  };
  return confirm({
    title: matched === 1 ? "Delete this deadletter?" : `Delete ${count(matched)}?`,
    body: [
      h("p", { class: "lead" }, `${subject(chosen, matched)} will be forgotten, and not tried again. Nothing brings them back.`),
      breakdown(found),
    ],
    verb: `Delete ${count(matched)}`,
    act,
    danger: true,
    typed: chosen.filter ? `delete ${matched}` : "",
  });
}
