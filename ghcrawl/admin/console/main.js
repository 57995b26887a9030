// The console: who sits here, what they look at, and what the service says all the while.

import { api } from "./api.js";
import { fill, h } from "./dom.js";
import { Header } from "./header.js";
import { History } from "./history.js";
import { notices } from "./notices.js";
import { failed } from "./parts.js";
import { Poll } from "./poll.js";
import { loaded, session } from "./session.js";
import { shortcuts } from "./shortcuts.js";
import { signIn } from "./signin.js";
import { learn } from "./types.js";
import { oneDeadletter } from "./views/deadletter.js";
import { deadletters } from "./views/deadletters.js";
import { oneDocument } from "./views/document.js";
import { documents } from "./views/documents.js";
import { overview } from "./views/overview.js";
import { principals } from "./views/principals.js";
import { queues } from "./views/queues.js";
import { settings } from "./views/settings.js";
import { sources } from "./views/sources.js";

const POLL_MS = 3000;
const LATE_S = 5;

/** name → [view of the whole, view of one]. */
const VIEWS = {
  overview: [overview],
  deadletters: [deadletters, oneDeadletter],
  queues: [queues, queues],
  documents: [documents, oneDocument],
  sources: [sources],
  settings: [settings],
  principals: [principals],
};

const main = document.getElementById("main");

/** `#/deadletters/urn%3A…?kind=http_502` → {name, rest, query}. */
function placeOf(hash) {
  const [path, query = ""] = hash.replace(/^#\/?/, "").split("?");
  const [name, ...rest] = path.split("/");
  return { name: VIEWS[name] ? name : "overview", rest: decoded(rest.join("/")), query: new URLSearchParams(query) };
}

function decoded(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

class App {
  history = new History();
  status = null;
  trouble = null;
  again = 0;
  #at = 0;
  #watch = 0;
  #view = null;
  #place = null;
  #leave = new AbortController();

  constructor() {
    this.header = new Header(this);
    this.poll = new Poll((signal) => api.status(signal), POLL_MS, (told) => this.#told(told));
    addEventListener("hashchange", () => this.#navigate());
    shortcuts(this);
  }

  /** The service's clock, in ms. */
  get now() {
    return this.status ? Date.parse(this.status.at) + (performance.now() - this.#at) : Date.now();
  }

  /** For how many seconds the service has not answered, once that is longer than it should take; else 0. */
  get late() {
    const seconds = (performance.now() - this.#at) / 1000;
    return this.status && !document.hidden && seconds > LATE_S ? Math.floor(seconds) : 0;
  }

  get view() {
    return this.#view;
  }

  go(place) {
    location.hash = `#/${place}`;
  }

  /** Ask for everything that is shown again. */
  refresh() {
    this.#view?.refresh?.();
    return this.poll.now();
  }

  async begin() {
    try {
      session.who = await api.whoami();
    } catch (trouble) {
      if (trouble.status === 401 || trouble.status === 403) this.#ask(session.token ? trouble.message : "");
      else fill(main, failed(trouble, () => this.begin()));
      return;
    }
    this.header.show();
    this.poll.start();
    clearInterval(this.#watch);
    this.#watch = setInterval(() => this.header.update(), 1000);
    this.#navigate(true);
  }

  leave() {
    session.leave();
    this.#ask("");
  }

  #ask(sentence) {
    this.poll.stop();
    clearInterval(this.#watch);
    this.#close();
    this.header.hide();
    notices(this, false);
    fill(main, signIn(sentence, () => this.begin()));
    document.title = "Sign in · ghcrawl";
    main.querySelector("input")?.focus();
  }

  #told({ value, trouble, again }) {
    if (trouble?.status === 401) {
      session.leave();
      this.#ask(trouble.message);
      return;
    }
    const back = this.trouble && value;
    this.trouble = trouble ?? null;
    this.again = again ?? 0;
    if (value) {
      this.status = value;
      this.#at = performance.now();
      this.history.add(value);
      const renamed = learn(value);
      this.#view?.update?.(value);
      if (back || renamed) this.#view?.refresh?.();
    }
    this.header.update();
    notices(this, true);
  }

  #close() {
    this.#leave.abort();
    this.#view?.close?.();
    this.#view = null;
    this.#place = null;
  }

  #navigate(first = false) {
    if (!session.who) return;
    const place = placeOf(location.hash);
    const same = this.#place && this.#place.name === place.name && this.#place.rest === place.rest;
    this.#place = place;
    this.header.mark(place.name);
    if (same && this.#view?.navigate?.(place.query)) return;
    this.#leave.abort();
    this.#view?.close?.();
    this.#leave = new AbortController();
    const [whole, one] = VIEWS[place.name];
    const make = place.rest && one ? one : whole;
    this.#view = make({ app: this, rest: place.rest, query: place.query, signal: this.#leave.signal });
    const heading = h("h1", { tabindex: "-1" }, this.#view.title);
    const head = h("div", { class: "page-head" }, heading, this.#view.actions);
    fill(main, head, this.#view.el);
    document.title = `${this.#view.title} · ghcrawl`;
    scrollTo(0, 0);
    if (!first) heading.focus({ preventScroll: true });
    if (this.status) this.#view.update?.(this.status);
  }
}

loaded();
new App().begin();
