// One setting that can be changed: the right control for its kind, where its value comes from, what is wrong with it.

import { button, field, h, say, select } from "../dom.js";
import { session } from "../session.js";

const LEVELS = ["debug", "info", "warning", "error", "critical"];

/** What each means. One that is not here is shown by its name. */
const ABOUT = {
  "crawl.loops": ["Loops", "Requests in hand at a time, in each replica."],
  "crawl.paused": ["Paused", "Begin nothing new, in all replicas."],
  "crawl.max_attempts": ["Attempts", "Real failures before a request becomes a deadletter."],
  "crawl.retry_base_s": ["First retry after", "Seconds; doubled with each failure."],
  "crawl.retry_cap_s": ["Longest wait for a retry", "Seconds."],
  "crawl.timeout_s": ["Time for one request", "Seconds; whatever takes longer has failed."],
  "crawl.allow": ["Allowed", "One a line: acme, acme/web, acme/*. Empty: everything."],
  "crawl.exclude": ["Excluded", "One a line. Wins over what is allowed."],
  "crawl.scenario": ["Scenario", "What to follow where a request names nothing: everything, issues, code … Empty: default."],
  "crawl.weights.event": ["Weight of event", "How often a turn begins with this queue."],
  "crawl.weights.immediate": ["Weight of immediate", ""],
  "crawl.weights.soon": ["Weight of soon", ""],
  "crawl.weights.normal": ["Weight of normal", ""],
  "crawl.weights.later": ["Weight of later", ""],
  "github.concurrency": ["Calls at a time", "To GitHub, for each principal."],
  "github.reserve": ["Reserve", "Share of each budget that is left untouched: 0.05 is 5 %."],
  "log.level": ["Log level", "From this level on, things are logged."],
};

const text = (value) => (Array.isArray(value) ? value.join("\n") : String(value));

function inputFor(name, value) {
  const disabled = !session.operates;
  if (typeof value === "boolean") return select([["true", "yes"], ["false", "no"]], String(value), { disabled });
  if (name === "log.level") return select(LEVELS.map((level) => [level, level]), value, { disabled });
  if (Array.isArray(value)) return h("textarea", { rows: 3, spellcheck: "false", disabled }, text(value));
  const number = typeof value === "number";
  return h("input", { value: text(value), inputmode: number ? "decimal" : null, spellcheck: "false", autocomplete: "off", disabled });
}

function parsed(before, typed) {
  if (typeof before === "boolean") return typed === "true";
  if (Array.isArray(before)) return typed.split("\n").map((line) => line.trim()).filter(Boolean);
  if (typeof before === "number") return typed.trim() !== "" && Number.isFinite(Number(typed)) ? Number(typed) : typed;
  return typed;
}

/** {name, el, changed, value, undo(), complain(text), focus(), onchange}. A value of null: no longer set live. */
export function control({ name, value, origin, set }) {
  const [label, hint] = ABOUT[name] ?? [name, ""];
  const input = inputFor(name, value);
  const { box, complain } = field(label, input, hint);
  const from = h("span", { class: set ? "origin set" : "origin" });
  let dropped = false;
  const drop = button("Set no more", () => {
    dropped = true;
    input.disabled = true;
    notice();
  }, { class: "button quiet small", hidden: !set || !session.operates, "aria-label": `Set no more: ${label}` });
  box.append(h("p", { class: "setting-foot" }, h("code", {}, name), from, drop));
  const made = {
    name,
    el: box,
    complain,
    onchange: () => {},
    focus: () => input.focus(),
    get changed() {
      return dropped || input.value !== text(value);
    },
    get value() {
      return dropped ? null : parsed(value, input.value);
    },
    undo() {
      dropped = false;
      input.disabled = !session.operates;
      input.value = text(value);
      complain("");
      notice();
    },
  };
  const notice = () => {
    say(from, dropped ? "will fall back to file, environment or default" : made.changed ? `was ${text(value) || "empty"}` : origin);
    box.classList.toggle("changed", made.changed);
    made.onchange();
  };
  input.addEventListener("input", notice);
  notice();
  return made;
}
