// Is it keeping up, what fails, and where does the quota go: at a glance, and moving.

import { api } from "../api.js";
import { Chart } from "../chart.js";
import { toast } from "../dialog.js";
import { button, h, keyed, say } from "../dom.js";
import { count, kindName, rate, ratio, span, words } from "../format.js";
import { spanOf } from "../history.js";
import { panel, place, segments, to } from "../parts.js";
import { session } from "../session.js";
import { QUEUES } from "./deadletter-actions.js";
import { loops } from "./loops.js";
import { quotas } from "./quotas.js";

const WINDOWS = [["600000", "10 min"], ["3600000", "1 h"], ["86400000", "24 h"], ["2592000000", "30 d"]];
const GROWTH_MS = 20_000;
const PAST_MS = 20_000;
const ROWS = 7;
const CLASSES = 4;

let chosenWindow = "3600000";

export function overview({ app, signal }) {
  return new Overview(app, signal);
}

class Overview {
  title = "Overview";
  #grew = null;
  #timer = 0;
  #pasts = 0;

  constructor(app, signal) {
    this.app = app;
    this.signal = signal;
    this.charts = [depthChart(), rateChart(), buriedChart(), quotaChart()];
    this.tiles = tiles();
    this.loops = loops(app);
    this.quotas = quotas(app);
    this.kinds = bars("No deadletters.");
    this.types = bars("No documents yet.");
    this.answers = bars("No API calls yet.");
    this.setbacks = bars("No retries, deferrals or skips.");
    this.replicas = h("p", { class: "note" });
    const [depths, rates, buried, left] = this.charts;
    this.el = h(
      "div",
      {},
      this.tiles.el,
      h(
        "div",
        { class: "panels" },
        panel("Queue depth", { wide: true }, depths.el),
        panel("Workers", { actions: this.pause() }, this.loops.el),
        panel("Work per minute", { wide: true, actions: this.replicas }, rates.el),
        panel("Quota", { actions: to("principals", "All principals", { class: "more" }) }, this.quotas.el),
        panel("Deadletters", { wide: true }, buried.el),
        panel("By failure class", { actions: to("deadletters", "Show all", { class: "more" }) }, this.kinds.el),
        panel("Quota left", { wide: true }, left.el),
        panel("Documents by type", { actions: to("documents", "Show all", { class: "more" }) }, this.types.el),
        panel("API responses", { note: "since startup" }, this.answers.el),
        panel("Retries, deferrals, skips", { note: "since startup" }, this.setbacks.el),
      ),
    );
    this.actions = segments("Time range", WINDOWS, chosenWindow, (key) => {
      chosenWindow = key;
      this.#draw();
      this.#past();
    });
    this.#growth();
    this.#past();
  }

  pause() {
    this.pausing = button("Pause", () => this.#turn(), { class: "button small", disabled: true });
    this.pausing.hidden = !session.operates;
    return this.pausing;
  }

  async #turn() {
    try {
      await (this.app.status.loops.paused ? api.resume() : api.pause());
      await this.app.refresh();
    } catch (trouble) {
      toast(trouble.message);
    }
  }

  async #growth() {
    try {
      const then = await api.deadletterCounts({ older_than_s: 3600 }, this.signal);
      this.#grew = then;
      if (this.app.status) this.update(this.app.status);
    } catch {
      // The poll says that the service is away; this is asked again.
    }
    if (!this.signal.aborted) this.#timer = setTimeout(() => this.#growth(), document.hidden ? GROWTH_MS * 3 : GROWTH_MS);
  }

  /** What the service remembers of the chosen window, and of the last minute. */
  async #past() {
    clearTimeout(this.#pasts);
    const spans = new Set(["1h", spanOf(Number(chosenWindow))]);
    try {
      const found = await Promise.all([...spans].map((span) => api.history(span, this.signal)));
      for (const each of found) this.app.history.keep(each);
      if (this.app.status) this.update(this.app.status);
    } catch {
      // The poll says that the service is away; this is asked again.
    }
    if (!this.signal.aborted) this.#pasts = setTimeout(() => this.#past(), document.hidden ? PAST_MS * 3 : PAST_MS);
  }

  close() {
    clearTimeout(this.#timer);
    clearTimeout(this.#pasts);
    for (const chart of this.charts) chart.close();
  }

  #draw() {
    const wanted = Number(chosenWindow);
    const { samples, gap } = this.app.history.seen(wanted);
    for (const chart of this.charts) chart.draw(samples, wanted, gap);
  }

  update(status) {
    const { history } = this.app;
    this.charts[2].follow(classes(status.deadletters.by_kind));
    this.#draw();
    this.tiles.update(status, history, this.#grew);
    this.loops.update(status);
    this.quotas.update(status);
    this.pausing.disabled = false;
    say(this.pausing, status.loops.paused ? "Resume" : "Pause");
    const seen = history.replicas.size;
    say(this.replicas, seen > 1 ? `of ${count(seen)} active replicas` : "of this replica");
    this.kinds.show(kindItems(status, this.#grew));
    this.types.show(typeItems(status, history));
    this.answers.show(answerItems(history));
    this.setbacks.show(setbackItems(history));
  }
}

function depthChart() {
  const series = QUEUES.map((name, index) => ({ key: name, name, tone: `q${index + 1}` }));
  const value = (sample, key) => sample.queues[key] ?? 0;
  return new Chart({ title: "Queue depth", series, value, show: count, stacked: true });
}

function rateChart() {
  const series = [
    { key: "settled", name: "settled", tone: "t1" },
    { key: "saved", name: "saved", tone: "t2" },
    { key: "calls", name: "calls", tone: "t3" },
    { key: "failed", name: "failed", tone: "t4" },
  ];
  const value = (sample, key) => sample.rates?.[key] ?? null;
  return new Chart({ title: "Work per minute", series, value, show: (number) => (number === null ? "–" : rate(number)) });
}

function buriedChart() {
  const value = (sample, key) => {
    if (key) return sample.kinds[key] ?? 0;
    const named = chart.series.reduce((sum, series) => sum + (sample.kinds[series.key] ?? 0), 0);
    return sample.deadletters - named;
  };
  const chart = new Chart({ title: "Deadletters", series: classes({}), value, show: count, stacked: true, height: 228 });
  return chart;
}

function quotaChart() {
  const series = [{ key: "quota", name: "left of the principal that has least", tone: "t3" }];
  const show = (number) => (number === null ? "–" : `${count(number)} %`);
  const value = (sample) => (typeof sample.quota === "number" ? sample.quota * 100 : null);
  return new Chart({ title: "Quota left", series, value, show, most: 100, height: 150 });
}

/** The classes of which there are most, and all others together. */
function classes(kinds) {
  const most = Object.keys(kinds).sort((one, other) => kinds[other] - kinds[one] || one.localeCompare(other));
  const shown = most.slice(0, CLASSES).map((key, index) => ({ key, name: kindName(key), tone: `r${index + 1}` }));
  const rest = { key: "", name: shown.length ? "others" : "deadletters", tone: `r${shown.length + 1}` };
  return most.length > CLASSES || !shown.length ? [...shown, rest] : shown;
}

/** Whether what waits becomes more or less, and when nothing will; empty while that cannot be said. */
function trend(history, waiting) {
  const drift = history.drift();
  if (drift === null || !waiting || Math.abs(drift) < Math.max(1, waiting * 0.01)) return "";
  return drift < 0 ? `done in about ${span((waiting / -drift) * 60)}` : `+${rate(drift)} / min`;
}

// Tiles --------------------------------------------------------------------------------------------------------

function tiles() {
  const tile = (name, href) => {
    const number = h("b", {}, "–");
    const note = h("span", { class: "tile-note" });
    const inner = [h("span", { class: "tile-name" }, name), number, note];
    return { el: href ? h("a", { class: "tile", href }, inner) : h("div", { class: "tile" }, inner), number, note };
  };
  const all = {
    waiting: tile("Waiting", "#/queues"),
    settled: tile("Settled / min"),
    documents: tile("Documents", "#/documents"),
    price: tile("Calls / document"),
    deadletters: tile("Deadletters", "#/deadletters"),
    throttled: tile("Throttled"),
  };
  const set = ({ number, note }, value, text, tone = "") => {
    say(number, value);
    say(note, text);
    note.className = `tile-note ${tone}`;
  };
  const update = (status, history, grew) => {
    const waiting = status.queues.reduce((sum, queue) => sum + queue.total, 0);
    const inHand = status.queues.reduce((sum, queue) => sum + queue.in_flight, 0);
    const rates = history.lastMinute() ?? history.rates();
    const totals = history.summed(({ calls, documents }) => ({ charged: calls.charged, saved: documents.saved, unmodified: calls.not_modified }));
    const throttled = Object.values(history.summed(({ calls }) => calls.throttled)).reduce((sum, each) => sum + each, 0);
    const fresh = grew ? status.deadletters.total - grew.total : 0;
    set(all.waiting, count(waiting), trend(history, waiting) || `${count(inHand)} in flight`);
    set(all.settled, rates ? rate(rates.settled) : "–", rates ? `${rate(rates.calls)} calls` : "measuring …");
    set(all.documents, count(status.documents.total), rates ? `${rate(rates.saved)} saved / min` : "");
    set(all.price, totals.saved ? ratio(totals.charged / totals.saved) : "–", `${count(totals.unmodified)} free by ETag`);
    set(all.deadletters, count(status.deadletters.total), fresh > 0 ? `+${count(fresh)} in the last hour` : "none in the last hour", fresh > 0 ? "wrong" : "");
    set(all.throttled, count(throttled), throttled ? "since startup" : "never since startup", throttled ? "wrong" : "");
  };
  return { el: h("div", { class: "tiles" }, Object.values(all).map(({ el }) => el)), update };
}

// Bars ---------------------------------------------------------------------------------------------------------

/** A short list of names with bars. items: {name, title, number, note, tone, href}. */
function bars(nothing) {
  const list = h("ul", { class: "bar-list" });
  const none = h("p", { class: "quiet" }, nothing);
  const more = h("p", { class: "quiet" });
  const make = ({ href, title }) => {
    const inner = h("i", { class: "bar-fill" });
    const name = href ? h("a", { href }, title) : h("span", {}, title);
    return h("li", {}, h("div", { class: "bar-row" }, name, h("span", { class: "bar-note" }), h("b", {})), h("div", { class: "bar" }, inner));
  };
  const show = (items) => {
    const highest = Math.max(1, ...items.map(({ number }) => number));
    const update = (element, { number, note = "", tone = "" }) => {
      say(element.querySelector("b"), count(number));
      say(element.querySelector(".bar-note"), note);
      element.querySelector(".bar-note").className = `bar-note ${tone}`;
      element.querySelector(".bar-fill").style.setProperty("inline-size", `${(number / highest) * 100}%`);
    };
    keyed(list, items.slice(0, ROWS), ({ name }) => name, make, update);
    none.hidden = items.length > 0;
    more.hidden = items.length <= ROWS;
    say(more, `and ${count(items.length - ROWS)} more`);
  };
  return { el: h("div", {}, list, more, none), show };
}

function kindItems(status, grew) {
  const items = Object.entries(status.deadletters.by_kind).map(([name, number]) => {
    const fresh = grew ? number - (grew.by_kind[name] ?? 0) : 0;
    return { name, title: kindName(name), number, fresh, href: `#/${place("deadletters", { kind: name })}`, note: fresh > 0 ? `+${count(fresh)} in the last hour` : "", tone: "wrong" };
  });
  return items.sort((one, other) => other.number - one.number);
}

function typeItems(status, history) {
  const rates = history.savedByType();
  const items = Object.entries(status.documents.by_type).map(([name, number]) => {
    const perMinute = rates[name] ?? 0;
    return { name, title: words(name), number, href: `#/${place("documents", { type: name })}`, note: perMinute >= 0.05 ? `${rate(perMinute)} / min` : "" };
  });
  return items.sort((one, other) => other.number - one.number);
}

function answerItems(history) {
  const statuses = history.summed(({ calls }) => calls.by_status);
  return sorted(named(statuses, (status) => (status === "0" ? "no response" : `HTTP ${status}`)));
}

function setbackItems(history) {
  const of = (pick, title) => named(history.summed(pick), title);
  return sorted([
    ...of(({ calls }) => calls.throttled, (kind) => `throttled: ${words(kind)}`),
    ...of(({ deadletters }) => deadletters.buried, (cause) => `dead-lettered: ${kindName(cause)}`),
    ...of(({ requests }) => requests.retried, (cause) => `retried: ${kindName(cause)}`),
    ...of(({ requests }) => requests.deferred, (reason) => `deferred: ${words(reason)}`),
    ...of(({ requests }) => requests.skipped, (reason) => `skipped: ${words(reason)}`),
  ]);
}

const named = (found, title) => Object.entries(found).map(([name, number]) => ({ name: title(name), title: title(name), number }));
const sorted = (items) => items.sort((one, other) => other.number - one.number);
