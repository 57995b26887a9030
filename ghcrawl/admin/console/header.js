// The top of the page: where one can go, whether the service answers, and who one is.

import { fill, h, say } from "./dom.js";
import { count, span } from "./format.js";
import { icons } from "./icons.js";
import { quotaLeft } from "./notices.js";
import { session, theme } from "./session.js";
import { help } from "./shortcuts.js";

const PLACES = [
  ["overview", "Overview"],
  ["deadletters", "Deadletters"],
  ["queues", "Queues"],
  ["documents", "Documents"],
  ["sources", "Sources"],
  ["settings", "Settings"],
  ["principals", "Principals"],
];

export class Header {
  #el = document.getElementById("top");
  #links = new Map();

  constructor(app) {
    this.app = app;
    this.badge = h("span", { class: "badge", hidden: true });
    this.state = h("span", { class: "state-text" });
    this.dot = h("span", { class: "dot", "aria-hidden": "true" });
    this.who = h("span", { class: "who" });
  }

  show() {
    const links = PLACES.map(([name, text]) => {
      const link = h("a", { href: `#/${name}` }, text, name === "deadletters" ? this.badge : null);
      this.#links.set(name, link);
      return h("li", {}, link);
    });
    fill(
      this.#el,
      h("a", { class: "brand", href: "#/overview" }, h("img", { src: "console/icon.svg", alt: "", width: 22, height: 22 }), "ghcrawl"),
      h("nav", { "aria-label": "Views" }, h("ul", {}, links)),
      h("div", { class: "top-right" }, h("span", { class: "state" }, this.dot, this.state), this.who, this.#tools()),
    );
    this.update();
  }

  hide() {
    fill(this.#el);
  }

  /** Which view is shown. */
  mark(name) {
    for (const [other, link] of this.#links) {
      if (other === name) link.setAttribute("aria-current", "page");
      else link.removeAttribute("aria-current");
    }
    this.#links.get(name)?.scrollIntoView({ block: "nearest", inline: "center" });
  }

  update() {
    const { status, trouble } = this.app;
    const late = this.app.late;
    const [tone, text] = trouble ? ["away", "Offline"] : late ? ["held", `No answer for ${span(late)}`] : stateOf(status);
    this.dot.className = `dot ${tone}`;
    say(this.state, text);
    const buried = status?.deadletters.total ?? 0;
    this.badge.hidden = !buried;
    say(this.badge, count(buried));
    say(this.who, session.who.role === "operate" ? session.who.name : `${session.who.name} · read only`);
  }

  #tools() {
    const tool = (icon, label, act) =>
      h("button", { type: "button", class: "icon-button", "aria-label": label, title: label, on: { click: act } }, icon());
    const out = session.token ? tool(icons.leave, "Sign out", () => this.app.leave()) : null;
    return [tool(icons.halves, "Toggle theme", () => theme.toggle()), tool(icons.question, "Keyboard shortcuts", () => help(this.app)), out];
  }
}

function stateOf(status) {
  if (!status) return ["", "Connecting"];
  if (status.loops.trouble) return ["away", "Error"];
  if (status.loops.draining) return ["held", "Draining"];
  if (status.loops.paused) return ["held", "Paused"];
  if (status.loops.blocked_until) return ["held", quotaLeft(status) ? "Waiting" : "No quota"];
  return ["live", "Live"];
}
