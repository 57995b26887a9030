// One setting that can be changed: the right control for its kind, where its value comes from, what is wrong with it.

import { button, field, h, say, select } from "../dom.js";
import { session } from "../session.js";

const LEVELS = ["debug", "info", "warning", "error", "critical"];

/** What each means; `*` is any platform. One that is not here is shown by its name. */
const ABOUT = {
  "crawl.loops": ["Workers", "Concurrent workers in each replica."],
  "crawl.paused": ["Paused", "Start no new requests, in all replicas."],
  "crawl.max_attempts": ["Attempts", "Failed attempts before a request is dead-lettered."],
  "crawl.retry_base_s": ["Backoff base", "Seconds; doubles with each failure."],
  "crawl.retry_cap_s": ["Maximum backoff", "Seconds."],
  "crawl.timeout_s": ["Request time limit", "Seconds, for fetching and processing one request."],
  "crawl.allow": ["Allowed", "One per line: acme, acme/web, acme/*. Empty: all."],
  "crawl.exclude": ["Excluded", "One per line. Overrides Allowed."],
  "crawl.scenario": ["Scenario", "Default scenario: everything, issues, code … Empty: default."],
  "crawl.weights.event": ["Weight of event", "Relative frequency with which this queue is tried first."],
  "crawl.weights.immediate": ["Weight of immediate", ""],
  "crawl.weights.soon": ["Weight of soon", ""],
  "crawl.weights.normal": ["Weight of normal", ""],
  "crawl.weights.later": ["Weight of later", ""],
  "*.concurrency": ["Concurrent calls", "Per principal of the platform."],
  "*.reserve": ["Reserve", "Fraction of each rate limit to leave unused: 0.05 is 5 %."],
  "log.level": ["Log level", "Minimum level of log messages."],
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
  const [label, hint] = ABOUT[name] ?? ABOUT[`*.${name.split(".").at(-1)}`] ?? [name, ""];
  const input = inputFor(name, value);
  const { box, complain } = field(label, input, hint);
  const from = h("span", { class: set ? "origin set" : "origin" });
  let dropped = false;
  const drop = button("Unset", () => {
    dropped = true;
    input.disabled = true;
    notice();
  }, { class: "button quiet small", hidden: !set || !session.operates, "aria-label": `Unset: ${label}` });
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
    say(from, dropped ? "falls back to file, environment or default" : made.changed ? `was ${text(value) || "empty"}` : origin);
    box.classList.toggle("changed", made.changed);
    made.onchange();
  };
  input.addEventListener("input", notice);
  notice();
  return made;
}
