// Ask for something to be crawled: by what a person types, or by whole requests.

import { api } from "../api.js";
import { toast } from "../dialog.js";
import { button, field, fill, h, select } from "../dom.js";
import { count, path, plural } from "../format.js";
import { panel, segments, table } from "../parts.js";
import { QUEUES } from "./deadletter-actions.js";
import { typeOf } from "../types.js";

const HINTS = {
  specs: "One per line: an organisation (acme), a repository (acme/web), a URL, or type:url.",
  requests: "JSON: a request or a list of requests. Required fields: type, url.",
};
const EXAMPLES = {
  specs: "acme\nacme/web",
  requests: '{"type": "repo", "url": "https://api.example.com/repos/acme/web"}',
};

/** Raises SyntaxError, with a sentence, for JSON that is none. */
function bodyOf(way, text) {
  if (way === "specs") return { specs: text.split("\n").map((line) => line.trim()).filter(Boolean) };
  let value;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new SyntaxError(`Invalid JSON: ${error.message}.`);
  }
  const all = Array.isArray(value) ? value : [value];
  if (!all.every((each) => each && typeof each === "object" && !Array.isArray(each))) throw new SyntaxError("Each request must be an object with a type and a url.");
  return { requests: all };
}

export function pushing(app) {
  let way = "specs";
  const text = field("What to crawl", h("textarea", { rows: 3, required: true, spellcheck: "false", placeholder: EXAMPLES.specs }), HINTS.specs);
  const queue = field("Queue", select(QUEUES.map((name) => [name, name]), "normal"));
  const policy = field("Policy", h("input", { placeholder: "from settings", spellcheck: "false", autocomplete: "off" }), "For specs and requests without a policy: default, reload, refresh, reprocess …");
  const result = h("div", { role: "status" });
  const choose = (key) => {
    way = key;
    text.input.placeholder = EXAMPLES[key];
    text.box.querySelector(".field-hint").textContent = HINTS[key];
    text.complain("");
  };
  const run = async (dry) => {
    for (const each of [text, queue, policy]) each.complain("");
    fill(result);
    try {
      const body = { ...bodyOf(way, text.input.value), queue: queue.input.value, policy: policy.input.value.trim() || null, dry_run: dry };
      const done = await api.push(body);
      if (dry) {
        fill(result, preview(done.requests, queue.input.value));
        return;
      }
      const again = done.bounced ? ` ${plural(done.bounced, "was", "were")} already queued.` : "";
      toast(`${count(done.queued)} queued on ${queue.input.value}.${again}`);
      text.input.value = "";
      await app.refresh();
    } catch (trouble) {
      complain({ text, queue, policy }, trouble);
    }
  };
  const submit = (event) => {
    event.preventDefault();
    run(false);
  };
  const actions = h("div", { class: "form-actions" }, button("Check", () => run(true)), h("button", { type: "submit", class: "button primary" }, "Push"));
  const form = h("form", { class: "push", on: { submit } }, segments("Input format", [["specs", "Specs"], ["requests", "Requests"]], way, choose), text.box, h("div", { class: "two" }, queue.box, policy.box), actions, result);
  return panel("Push a request", { note: "Check validates the requests without queueing them." }, form);
}

/** What is wrong, at the field that it is about; whatever names none is about the text. */
function complain({ text, queue, policy }, trouble) {
  const about = trouble.fields?.[0]?.field ?? "";
  const where = about.startsWith("queue") ? queue : about.startsWith("policy") ? policy : text;
  where.complain(trouble.message);
  where.input.focus();
}

function preview(requests, queue) {
  const row = (request) => h("tr", {}, h("td", {}, typeOf(request)), h("td", { class: "main" }, h("code", { class: "break" }, path(request.url))), h("td", {}, h("code", {}, request.policy)));
  return [h("p", {}, `${plural(requests.length, "request")} would be queued on ${queue}:`), table("Requests that would be pushed", [{ name: "Type" }, { name: "Resource" }, { name: "Policy" }], requests.map(row)).el];
}
