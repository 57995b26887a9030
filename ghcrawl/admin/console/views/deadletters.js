// What was given up: which classes, which grew, page by page, and what to do with them.

import { api } from "../api.js";
import { toast } from "../dialog.js";
import { button, fill, h, keyed, say } from "../dom.js";
import { ago, count, kindName, plural, words } from "../format.js";
import { empty, failed, loading, place, segments, table } from "../parts.js";
import { session } from "../session.js";
import { remove, requeue } from "./deadletter-actions.js";
import { admitsAll, read, sentence } from "./deadletter-filter.js";
import { bars, filterForm, letterRow } from "./deadletter-parts.js";
import { byPlatform, facet } from "./facet.js";
import { typeOf } from "../types.js";

const PAGE = 50;
const BUCKETS = 12;
const BARS_MS = 30_000;
const CALM_MS = 4000;
const SPANS = [["3600", "1 h"], ["86400", "24 h"], ["604800", "7 d"]];

export function deadletters(context) {
  return new Deadletters(context);
}

class Deadletters {
  title = "Deadletters";
  #letters = [];
  #chosen = new Map();
  #before = [];
  #after = "";
  #next = null;
  #total = 0;
  #known = -1;
  #span = "3600";
  #lately = 0;
  #hurry = 0;
  #drawn = 0;

  constructor({ app, query, signal }) {
    this.app = app;
    this.signal = signal;
    this.which = read(query);
    this.keys = [
      ["j", "Next row", () => this.#move(1)],
      ["k", "Previous row", () => this.#move(-1)],
      ["x", "Select row", () => this.#tick()],
      ...(session.operates
        ? [
            ["e", "Requeue selected, or all matching", () => this.#act(requeue)],
            ["#", "Delete selected, or all matching", () => this.#act(remove)],
          ]
        : []),
    ];
    this.#build();
    this.refresh();
  }

  // Parts ----------------------------------------------------------------------------------------------------

  #build() {
    this.kinds = facet("Failure class", (kind) => this.#toggle("kind", kind), kindName);
    this.platforms = facet("Platform", (platform) => this.#toggle("platform", platform), (name) => name);
    this.types = facet("Request type", (type) => this.#toggle("type", type), words);
    this.form = filterForm(this.which, (which) => this.#go(which));
    this.summary = h("p", { class: "summary", role: "status" }, "Loading …");
    this.bars = h("div", { class: "bars" });
    this.bulk = h("div", { class: "bulk" });
    this.stale = h("div", { class: "stale", hidden: true }, "The list has changed.", button("Refresh", () => this.refresh(), { class: "button small" }));
    this.all = h("input", { type: "checkbox", "aria-label": "Select this page", on: { change: () => this.#tickAll() } });
    this.rows = table(
      "Deadletters, newest first",
      [{ name: "", kind: "tick" }, { name: "Reason and resource" }, { name: "Class", kind: "wide-only" }, { name: "Dead-lettered", kind: "number" }],
      [],
    );
    this.rows.el.querySelector("th").append(this.all);
    this.pager = h("nav", { class: "pager", "aria-label": "Pages" });
    this.none = h("div");
    const spans = segments("Time range", SPANS, this.#span, (key) => {
      this.#span = key;
      this.refresh();
    });
    const facets = h("details", { class: "facets", open: innerWidth > 720 }, h("summary", {}, "Classes and types"), this.kinds.el, this.platforms.el, this.types.el);
    const head = h("div", { class: "bars-head" }, this.summary, spans);
    this.el = h("div", { class: "split" }, facets, h("div", {}, this.form.el, head, this.bars, this.bulk, this.stale, this.rows.el, this.none, this.pager));
  }

  // Going places ---------------------------------------------------------------------------------------------

  /** What is not named in `changed` stays. */
  #go(changed) {
    const wanted = place("deadletters", { ...this.which, ...changed });
    if (`#/${wanted}` === location.hash) this.refresh();
    else this.app.go(wanted);
  }

  #toggle(name, value) {
    const now = this.which[name];
    this.#go({ [name]: now.includes(value) ? now.filter((each) => each !== value) : [...now, value] });
  }

  /** Another filter in the address: the same view goes on. */
  navigate(query) {
    this.which = read(query);
    for (const [name, input] of Object.entries(this.form.inputs)) input.value = this.which[name];
    this.#chosen.clear();
    this.#before = [];
    this.#after = "";
    this.refresh();
    return true;
  }

  // Asking ---------------------------------------------------------------------------------------------------

  async refresh() {
    this.stale.hidden = true;
    await Promise.all([this.#list(), this.#count()]);
  }

  async #list() {
    const asked = { ...this.which, limit: PAGE, after: this.#after };
    if (!this.#letters.length) fill(this.none, loading());
    try {
      const found = await api.deadletters(asked, this.signal);
      if (asked.after !== this.#after) return;
      this.#letters = found.deadletters;
      this.#next = found.next;
      this.#show();
    } catch (trouble) {
      if (!this.signal.aborted) fill(this.none, failed(trouble, () => this.refresh()));
    }
  }

  /** Each question once, however many parts of the page ask it. */
  #counter() {
    const asked = new Map();
    return (which) => {
      const name = JSON.stringify(which);
      if (!asked.has(name)) asked.set(name, api.deadletterCounts(which, this.signal));
      return asked.get(name);
    };
  }

  async #count(bars = true) {
    const [which, back] = [this.which, Number(this.#span)];
    const ask = this.#counter();
    this.#lately = this.app.now;
    const then = { ...which, older_than_s: String(Math.max(back, Number(which.older_than_s))) };
    try {
      const asked = [which, { ...which, kind: [] }, { ...which, type: [] }, { ...then, kind: [] }, { ...then, type: [] }, { ...which, platform: [] }, { ...then, platform: [] }];
      const [here, byKind, byType, kindsThen, typesThen, platforms, platformsThen] = await Promise.all(asked.map(ask));
      if (which !== this.which) return;
      this.#total = here.total;
      this.#page();
      this.kinds.show(byKind.by_kind, kindsThen.by_kind, which.kind, back);
      this.types.show(byType.by_type, typesThen.by_type, which.type, back);
      this.platforms.show(byPlatform(platforms, which.platform), byPlatform(platformsThen, which.platform), which.platform, back);
      this.#summarize();
      if (bars || this.app.now - this.#drawn > BARS_MS) await this.#bars(which, back, ask);
    } catch (trouble) {
      if (!this.signal.aborted) fill(this.summary, trouble.message);
    }
  }

  /** How many were given up when. All counts are asked at once: the answer takes one round trip, not one per bar. */
  async #bars(which, back, ask) {
    this.#drawn = this.app.now;
    const ages = Array.from({ length: BUCKETS + 1 }, (_, index) => Math.max(Number(which.older_than_s), (back * index) / BUCKETS));
    const found = await Promise.all(ages.map((age) => ask({ ...which, older_than_s: age ? String(age) : "" })));
    if (which !== this.which || back !== Number(this.#span)) return;
    fill(this.bars, bars(found.map(({ total }) => total), back));
  }

  /** The service says something new: the numbers follow; the rows only while nobody works on them. */
  update(status) {
    const total = status.deadletters.total;
    if (this.#known === -1) this.#known = total;
    if (total === this.#known || this.#hurry) return;
    const wait = Math.max(0, CALM_MS - (this.app.now - this.#lately));
    this.#hurry = setTimeout(() => {
      this.#hurry = 0;
      this.#known = this.app.status.deadletters.total;
      this.#count(false);
      if (this.#chosen.size || this.#after) this.stale.hidden = false;
      else this.#list();
    }, wait);
  }

  close() {
    clearTimeout(this.#hurry);
  }

  // Showing --------------------------------------------------------------------------------------------------

  #summarize() {
    const clause = sentence(this.which);
    say(this.summary, clause ? `${plural(this.#total, "deadletter")} ${clause}` : plural(this.#total, "deadletter"));
    this.#offer();
  }

  #show() {
    keyed(
      this.rows.body,
      this.#letters,
      (letter) => `${letter.urn} ${typeOf(letter)}`,
      (letter) => letterRow(letter, this.app.now, (on) => this.#tickOne(letter, on)),
      (row, letter) => {
        row.querySelector("input").checked = this.#chosen.has(letter.urn);
        row.classList.toggle("chosen", this.#chosen.has(letter.urn));
        say(row.querySelector("time"), ago(letter.last_at, this.app.now));
      },
    );
    this.rows.el.hidden = !this.#letters.length;
    const nothing = admitsAll(this.which)
      ? empty("No deadletters.")
      : empty("No deadletters match.", button("Clear filter", () => this.#go(read(new URLSearchParams()))));
    fill(this.none, this.#letters.length ? null : nothing);
    this.#page();
    this.#offer();
  }

  #page() {
    const turn = (text, act, possible) => button(text, act, { disabled: !possible });
    const back = () => this.#turn(() => (this.#after = this.#before.pop() ?? ""));
    const on = () => this.#turn(() => {
      this.#before.push(this.#after);
      this.#after = this.#next;
    });
    const first = this.#before.length * PAGE;
    const shown = this.#letters.length ? `${count(first + 1)}–${count(first + this.#letters.length)} of ${count(Math.max(this.#total, first + this.#letters.length))}` : "";
    fill(this.pager, turn("← Newer", back, this.#before.length > 0), h("span", {}, shown), turn("Older →", on, Boolean(this.#next)));
    this.pager.hidden = !this.#before.length && !this.#next;
  }

  async #turn(change) {
    change();
    await this.#list();
    this.rows.el.scrollIntoView({ block: "start" });
    this.rows.body.querySelector("a")?.focus({ preventScroll: true });
  }

  // Choosing -------------------------------------------------------------------------------------------------

  #tickOne(letter, on) {
    if (on) this.#chosen.set(letter.urn, letter);
    else this.#chosen.delete(letter.urn);
    this.#show();
  }

  #tickAll() {
    for (const letter of this.#letters) {
      if (this.all.checked) this.#chosen.set(letter.urn, letter);
      else this.#chosen.delete(letter.urn);
    }
    this.#show();
  }

  #offer() {
    const here = this.#letters.filter(({ urn }) => this.#chosen.has(urn)).length;
    this.all.checked = here > 0 && here === this.#letters.length;
    this.all.indeterminate = here > 0 && here < this.#letters.length;
    this.bulk.hidden = !session.operates || !this.#total;
    if (this.bulk.hidden) return;
    const number = this.#chosen.size;
    const what = number ? `${count(number)} selected` : admitsAll(this.which) ? `all ${count(this.#total)}` : `${count(this.#total)} matching`;
    const none = button("Clear selection", () => { this.#chosen.clear(); this.#show(); }, { class: "button quiet" });
    const held = this.bulk.contains(document.activeElement) ? [...this.bulk.children].indexOf(document.activeElement) : -1;
    fill(this.bulk, button(`Requeue ${what} …`, () => this.#act(requeue), { class: "button primary" }), button(`Delete ${what} …`, () => this.#act(remove)), number ? none : null);
    if (held >= 0) this.bulk.children[held]?.focus();
  }

  async #act(work) {
    const letters = [...this.#chosen.values()];
    const chosen = letters.length ? { urns: letters.map(({ urn }) => urn), letters } : { filter: this.which };
    const done = () => {
      this.#chosen.clear();
      this.#before = [];
      this.#after = "";
      this.refresh();
      this.app.poll.now();
    };
    try {
      await work(this.app, chosen, done);
    } catch (trouble) {
      toast(trouble.message);
    }
  }

  // Keys -----------------------------------------------------------------------------------------------------

  #move(by) {
    const links = [...this.rows.body.querySelectorAll(".row-link")];
    const row = document.activeElement?.closest?.("tr");
    const at = row ? links.findIndex((link) => row.contains(link)) + by : 0;
    links[Math.max(0, Math.min(links.length - 1, at))]?.focus();
  }

  #tick() {
    document.activeElement?.closest?.("tr")?.querySelector("input")?.click();
  }
}
