// The whole story of one deadletter: what was asked, how it was come upon, every attempt, and where the last one broke.

import { api } from "../api.js";
import { toast } from "../dialog.js";
import { button, fill, h } from "../dom.js";
import { ago, count, kindName, path, plural, span, when, words } from "../format.js";
import { facts, failed, jsonSource, loading, panel, parted, place, source, to, urlPlace } from "../parts.js";
import { session } from "../session.js";
import { remove, requeue } from "./deadletter-actions.js";
import { typeOf } from "../types.js";

const BUG = "internal_error";

export function oneDeadletter({ app, rest: urn, signal }) {
  const el = h("div", {}, loading());
  const actions = h("div", { class: "page-actions" });
  let letter = null;
  const done = () => app.go("deadletters");
  const act = (work) => letter && work(app, { urns: [urn], letters: [letter] }, done).catch((trouble) => toast(trouble.message));
  const refresh = async () => {
    try {
      letter = await api.deadletter(urn, signal);
      fill(actions, buttons(letter, act));
      fill(el, story(letter, app.now));
    } catch (trouble) {
      if (!signal.aborted) fill(el, failed(trouble, refresh), h("p", {}, to("deadletters", "All deadletters")));
    }
  };
  refresh();
  const keys = session.operates
    ? [
        ["e", "Requeue", () => act(requeue)],
        ["#", "Delete", () => act(remove)],
      ]
    : [];
  return { title: "Deadletter", el, actions, refresh, keys };
}

function buttons(letter, act) {
  const alike = to(place("deadletters", { kind: letter.kind, type: letter.type }), "Similar deadletters", { class: "button" });
  if (!session.operates) return [alike];
  return [button("Requeue …", () => act(requeue), { class: "button primary" }), button("Delete …", () => act(remove)), alike];
}

function story(letter, now) {
  return [
    h("div", { class: "story-head" }, h("span", { class: "tag wrong" }, kindName(letter.kind)), h("p", { class: "story-reason" }, letter.reason)),
    h("div", { class: "story" }, asked(letter, now), h("div", { class: "stack" }, ancestors(letter), attempts(letter), traceback(letter), raw(letter), message(letter))),
  ];
}

function asked(letter, now) {
  const url = h("div", {}, h("code", { class: "break" }, parted(letter.url)), h("div", {}, to(urlPlace(letter.url), "Show documents of this URL")));
  return panel(
    "Request",
    {},
    facts([
      ["Type", typeOf(letter)],
      ["URL", url],
      ["Policy", h("code", {}, letter.policy)],
      ["Queue", letter.queue],
      ["Platform", letter.platform],
      ["First failed", `${when(letter.first_at)} (${ago(letter.first_at, now)})`],
      ["Dead-lettered", `${when(letter.last_at)} (${ago(letter.last_at, now)})`],
      ["Attempts", count(letter.attempts)],
      ["URN", h("code", { class: "break" }, parted(letter.urn))],
    ]),
  );
}

function ancestors(letter) {
  const steps = letter.history.map((each) => {
    const at = each.indexOf("@");
    return at > 0 ? [each.slice(0, at), each.slice(at + 1)] : ["", each];
  });
  const line = ([type, url]) => h("li", {}, h("span", { class: "tag" }, words(type)), to(urlPlace(url), parted(path(url)), { class: "break" }));
  const here = h("li", { class: "here" }, h("span", { class: "tag" }, typeOf(letter)), h("span", { class: "break" }, parted(path(letter.url))));
  const note = steps.length ? "nearest ancestor last" : "requested directly: no ancestors";
  return panel("How it was discovered", { note }, h("ol", { class: "chain" }, steps.map(line), here));
}

function attempts(letter) {
  let before = null;
  const line = (failure, index) => {
    const at = Date.parse(failure.at);
    const gap = before === null ? "" : `after ${span((at - before) / 1000, 2)}`;
    before = at;
    return h(
      "li",
      {},
      h("div", { class: "attempt-head" }, h("b", {}, `${index + 1}`), h("span", { class: "tag wrong" }, kindName(failure.cause)), failure.status ? h("span", {}, `status ${failure.status}`) : null, h("time", { datetime: failure.at }, when(failure.at)), h("span", { class: "quiet" }, gap)),
      h("p", { class: "break" }, failure.message || "No message."),
      failure.worker ? h("p", { class: "quiet" }, `by ${failure.worker}`) : null,
    );
  };
  const list = letter.failures.length ? h("ol", { class: "attempts" }, letter.failures.map(line)) : h("p", {}, "No attempts recorded.");
  return panel("Attempts", { note: plural(letter.failures.length, "recorded", "recorded") }, list);
}

function traceback(letter) {
  if (!letter.traceback) return null;
  const whole = h("details", { open: letter.kind === BUG }, h("summary", {}, "Show traceback"), source(letter.traceback, "Traceback"));
  return panel("Traceback of the last attempt", {}, whole);
}

function raw(letter) {
  if (letter.raw === null) return null;
  const bytes = Uint8Array.from(atob(letter.raw), (each) => each.charCodeAt(0));
  const text = new TextDecoder().decode(bytes);
  const note = `${plural(bytes.length, "byte")} ; not a readable request, cannot be requeued`;
  return panel("Raw message", { note }, source(text, "Raw message"));
}

function message(letter) {
  const whole = h("details", {}, h("summary", {}, "Show JSON"), jsonSource(letter.request, "Request"));
  return panel("Queue message", {}, whole);
}
