// What everybody should know, whatever they look at: one sentence each, and what can be done about it.

import { api } from "./api.js";
import { button, h, keyed, say } from "./dom.js";
import { span, until, when } from "./format.js";
import { session } from "./session.js";

let ticking = 0;

/** Show what holds now. on: whether anything is to be shown at all. */
export function notices(app, on) {
  clearTimeout(ticking);
  keyed(
    document.getElementById("notices"),
    on ? standing(app) : [],
    ({ key }) => key,
    ({ tone, act }) => h("div", { class: `notice ${tone}`, role: "status" }, h("span", {}), act?.()),
    (element, { text }) => say(element.firstElementChild, text),
  );
  if (on && app.trouble) ticking = setTimeout(() => notices(app, true), 1000);
}

/** Whether any principal that is used has more of its main budget than what is usually left to others. */
export function quotaLeft(status) {
  const used = status.principals.filter(({ retired, benched_until: benched }) => !retired && !benched);
  return used.some(({ budgets }) => budgets.some(({ main, limit, remaining }) => main && remaining > limit * 0.1));
}

function standing(app) {
  const found = [];
  if (app.trouble) found.push(away(app));
  const loops = app.status?.loops;
  if (!loops || app.trouble) return found;
  if (loops.trouble) found.push({ key: "trouble", tone: "wrong", text: `Crawling has stopped: ${loops.trouble}.` });
  if (loops.draining) found.push({ key: "draining", tone: "", text: `${loops.worker} is draining: it finishes requests in flight, then stops.` });
  if (loops.paused) found.push(paused(app));
  if (loops.blocked_until) {
    const away = Object.entries(loops.unreachable ?? {}).map(([platform, { since, reason }]) => `${platform} is unreachable since ${when(since)}: ${reason}.`);
    const quota = quotaLeft(app.status) ? "The rate limit per minute is reached, or the API does not respond." : "The quota of all principals is exhausted.";
    const text = `${away.length ? away.join(" ") : quota} Fetching resumes ${until(loops.blocked_until, app.now)}, at ${when(loops.blocked_until)}.`;
    found.push({ key: "blocked", tone: "", text });
  }
  return found;
}

function away(app) {
  const seconds = Math.max(0, (app.again - Date.now()) / 1000);
  const since = app.status ? ` Showing the state of ${when(app.status.at)}.` : "";
  const text = `${app.trouble.message} Retrying in ${span(seconds)}.${since}`;
  return { key: "away", tone: "wrong", text, act: () => button("Retry now", () => app.poll.now(), { class: "button small" }) };
}

function paused(app) {
  const act = async () => {
    await api.resume();
    await app.refresh();
  };
  return {
    key: "paused",
    tone: "",
    text: "Crawling is paused in all replicas. No new requests start; webhooks are still accepted.",
    act: () => (session.operates ? button("Resume", act, { class: "button small" }) : null),
  };
}
