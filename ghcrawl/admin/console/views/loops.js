// What the loops do now, replica by replica.

import { fill, h, keyed, say } from "../dom.js";
import { idleReason } from "../idle.js";
import { count, path, plural, span } from "../format.js";
import { typeOf } from "../types.js";

const SHOWN = 8;

export function loops(app) {
  const head = h("p", { class: "loops-head" });
  const why = h("p", { class: "idle-reason", role: "status" });
  const list = h("ul", { class: "doing" });
  const rest = h("p", { class: "quiet" });
  const workers = h("ul", { class: "workers" });
  const update = (status) => {
    const crew = status.loops;
    const busy = crew.busy ? crew.doing.filter(({ url }) => url) : [];
    fill(head, h("b", {}, count(crew.busy)), ` busy of ${count(crew.running)}`, crew.running === crew.wanted ? "" : `, ${count(crew.wanted)} configured`, crew.restarts ? h("span", { class: "wrong" }, ` · ${plural(crew.restarts, "restart")}`) : "");
    const reason = idleReason(status, app.now);
    why.hidden = !reason;
    say(why, reason);
    busy.sort((one, other) => Date.parse(one.since) - Date.parse(other.since));
    keyed(list, busy.slice(0, SHOWN), ({ loop }) => loop, make, (element, doing) => show(element, doing, app.now));
    const idle = crew.doing.length - busy.length;
    const more = busy.length - SHOWN;
    say(rest, [more > 0 ? `${count(more)} more busy` : "", idle > 0 ? `${plural(idle, "worker", "workers")} idle` : ""].filter(Boolean).join(" · "));
    const replicas = [...app.history.replicas];
    workers.hidden = replicas.length < 2;
    keyed(workers, replicas, ([name]) => name, () => h("li"), (element, [name, replica]) => worker(element, name, replica));
  };
  return { el: h("div", {}, head, why, list, rest, workers), update };
}

function make() {
  return h("li", {}, h("span", { class: "tag" }), h("code", {}), h("time"));
}

function show(element, doing, now) {
  const [type, where, since] = element.children;
  say(type, typeOf(doing));
  say(where, path(doing.url));
  where.title = doing.url;
  say(since, span((now - Date.parse(doing.since)) / 1000));
}

function worker(element, name, { loops: crew, version }) {
  const state = crew.draining ? ", draining" : "";
  say(element, `${name}: ${count(crew.busy)} of ${count(crew.running)} busy${state}, ${version}`);
}
