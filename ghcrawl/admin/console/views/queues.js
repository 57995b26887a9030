// The five queues: how much each holds, what waits in it, emptying it, and putting more in.

import { api } from "../api.js";
import { sparkline } from "../chart.js";
import { confirm, open, toast } from "../dialog.js";
import { button, field, fill, h, say, select } from "../dom.js";
import { count, path, plural, span, when } from "../format.js";
import { empty, failed, jsonSource, loading, panel, table } from "../parts.js";
import { session } from "../session.js";
import { QUEUES } from "./deadletter-actions.js";
import { pushing } from "./push.js";
import { redelivery } from "./redelivery.js";
import { typeOf } from "../types.js";

const SPARK_MS = 600_000;
const SPARK_POINTS = 60;

export function queues({ app, rest, signal }) {
  const cells = new Map(QUEUES.map((name) => [name, h("tr")]));
  const depths = table(
    "Queues, most urgent first",
    [
      { name: "Queue" },
      { name: "Ready", kind: "number wide-only" },
      { name: "Delayed", kind: "number wide-only" },
      { name: "In flight", kind: "number wide-only" },
      { name: "Total", kind: "number" },
      { name: "Oldest", kind: "number wide-only" },
      { name: "Settled / min", kind: "number wide-only" },
      { name: "Last 10 min", kind: "wide-only" },
      { name: "Actions", hidden: true, kind: "number" },
    ],
    [...cells.values()],
  );
  const shown = h("div", { id: "peeked" });
  const chosen = QUEUES.includes(rest) ? rest : "";
  const parts = { app, signal, shown, cells };
  for (const name of QUEUES) prepare(parts, name);
  const total = h("p", { class: "summary" });
  const lost = redelivery(app, signal);
  const el = h(
    "div",
    { class: "panels one" },
    panel("Waiting", { actions: total }, h("div", { class: "queues" }, depths.el)),
    chosen ? panel(`Requests in ${chosen}`, { actions: limits(parts, chosen) }, shown) : null,
    session.operates ? pushing(app) : null,
    lost.el,
  );
  const refresh = () => chosen && peek(parts, chosen, 20);
  refresh();
  return { title: "Queues", el, refresh, close: lost.close, update: (status) => update(parts, status, total) };
}

function prepare(parts, name) {
  const { app, cells } = parts;
  const number = (kind = "") => h("td", { class: `number ${kind}` }, "–");
  const actions = h("div", { class: "row-actions" }, h("a", { href: `#/queues/${name}`, class: "button small" }, "Peek"));
  if (session.operates) actions.append(button("Remove …", () => removing(app, name), { class: "button small" }));
  for (const each of actions.children) each.setAttribute("aria-label", `${each.textContent.replace(" …", "")}: ${name}`);
  const kinds = ["wide-only", "wide-only", "wide-only", "", "wide-only", "wide-only"];
  const head = h("th", { scope: "row" }, name, h("div", { class: "row-sub narrow-only" }));
  cells.get(name).append(head, ...kinds.map(number), h("td", { class: "wide-only" }), h("td", { class: "number" }, actions));
}

function update({ app, cells }, status, total) {
  const settled = app.history.settledByQueue();
  const since = app.now - SPARK_MS;
  const lately = app.history.samples.filter(({ at }) => at >= since);
  const every = Math.max(1, Math.floor(lately.length / SPARK_POINTS));
  const thin = lately.filter((_, index) => (lately.length - 1 - index) % every === 0);
  for (const queue of status.queues) {
    const [head, ready, delayed, inHand, all, oldest, done, line] = cells.get(queue.name).children;
    const numbers = [queue.ready, queue.delayed, queue.in_flight, queue.total, settled[queue.name] ?? 0];
    [ready, delayed, inHand, all, done].forEach((cell, index) => fill(cell, count(numbers[index])));
    const age = queue.oldest_at ? span((app.now - Date.parse(queue.oldest_at)) / 1000) : "";
    say(oldest, age || "–");
    oldest.title = queue.oldest_at ? `waiting since ${when(queue.oldest_at)}` : queue.total ? "waiting time unknown" : "";
    say(head.lastElementChild, [queue.delayed ? `${count(queue.delayed)} delayed` : "", age ? `oldest ${age}` : ""].filter(Boolean).join(", "));
    fill(line, sparkline(thin.map((sample) => sample.queues[queue.name] ?? 0)));
  }
  fill(total, plural(status.queues.reduce((sum, queue) => sum + queue.total, 0), "request"));
}

// Peek ---------------------------------------------------------------------------------------------------------

function limits(parts, name) {
  const input = select([["20", "20"], ["100", "100"], ["500", "500"]], "20", { "aria-label": "Number of requests" });
  input.addEventListener("change", () => peek(parts, name, Number(input.value)));
  return h("div", { class: "row-actions" }, input, button("Refresh", () => peek(parts, name, Number(input.value)), { class: "button small" }));
}

async function peek({ shown, signal }, name, limit) {
  if (!shown.children.length) fill(shown, loading());
  try {
    const { requests } = await api.peek(name, limit, signal);
    if (!requests.length) {
      fill(shown, empty(`Queue ${name} is empty.`));
      return;
    }
    const columns = [{ name: "Resource" }, { name: "Type", kind: "wide-only" }, { name: "Policy", kind: "wide-only" }, { name: "Attempts", kind: "number wide-only" }];
    fill(shown, table(`Requests in ${name}`, columns, requests.map(row)).el, h("p", { class: "quiet" }, "Peeking does not remove requests. Queues are unordered."));
  } catch (trouble) {
    if (!signal.aborted) fill(shown, failed(trouble));
  }
}

function row(request) {
  const look = () => open("Request", jsonSource(request, "Request"), { wide: true });
  return h(
    "tr",
    {},
    h("td", { class: "main" }, h("button", { type: "button", class: "link", on: { click: look } }, path(request.url)), h("div", { class: "row-sub narrow-only" }, typeOf(request))),
    h("td", { class: "wide-only" }, typeOf(request)),
    h("td", { class: "wide-only" }, h("code", {}, request.policy)),
    h("td", { class: "number wide-only" }, count(request.attempt ?? 0)),
  );
}

// Remove -------------------------------------------------------------------------------------------------------

function removing(app, name) {
  const held = app.status?.queues.find((queue) => queue.name === name)?.total ?? 0;
  const ways = [["all", `all: ${plural(held, "request")} now`], ["some", "some, and show them"]];
  const ask = (event) => {
    event.preventDefault();
    shown.close();
    if (way.input.value === "all") purge(app, name, held);
    else take(app, name, Number(number.input.value));
  };
  const way = field("Remove", select(ways, "all"));
  const number = field("Number", h("input", { type: "number", min: 1, max: 100, value: 1 }));
  number.box.hidden = true;
  way.input.addEventListener("change", () => (number.box.hidden = way.input.value === "all"));
  const go = h("button", { type: "submit", class: "button primary" }, "Continue");
  const shown = open(`Remove from ${name}`, h("form", { on: { submit: ask } }, way.box, number.box, h("div", { class: "dialog-actions" }, button("Cancel", () => shown.close()), go)));
}

function purge(app, name, held) {
  return confirm({
    title: `Purge ${name}?`,
    body: h("p", { class: "lead" }, `Permanently deletes all requests that wait in ${name}: ${plural(held, "request")} now.`),
    verb: `Purge ${name}`,
    danger: true,
    typed: name,
    act: async () => {
      const { purged } = await api.purge(name);
      toast(`${count(purged)} removed from ${name}.`);
      await app.refresh();
    },
  });
}

async function take(app, name, number) {
  try {
    const taken = await api.take(name, number);
    const title = taken.length ? `${count(taken.length)} removed from ${name}` : `Nothing was ready in ${name}`;
    open(title, taken.length ? jsonSource(taken, "Removed requests") : h("p", {}, "Nothing was removed."), { wide: true });
    await app.refresh();
  } catch (trouble) {
    toast(trouble.message);
  }
}
