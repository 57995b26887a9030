// What is watched: when each source is due, how often it has news, and what the schedule spends.

import { api } from "../api.js";
import { confirm, toast } from "../dialog.js";
import { button, field, fill, h } from "../dom.js";
import { ago, count, path, plural, rate, until, when } from "../format.js";
import { empty, failed, loading, panel, table } from "../parts.js";
import { session } from "../session.js";
import { typeOf } from "../types.js";

const SHOWN = 100;
const EVERY_MS = 15_000;
const BARS = "▁▂▃▄▅▆▇█";

export function sources({ app, signal }) {
  const el = h("div", { class: "panels one" }, loading());
  let timer = 0;
  const look = async () => {
    clearTimeout(timer);
    try {
      const [found, schedules] = await Promise.all([api.sources({ limit: SHOWN }, signal), api.schedules(signal)]);
      fill(el, found.sources.length ? [spending(schedules.schedules, app.now), list(found.sources, app, look)] : nothing());
    } catch (trouble) {
      if (!signal.aborted) fill(el, failed(trouble, look));
    }
    if (!signal.aborted) timer = setTimeout(look, document.hidden ? EVERY_MS * 4 : EVERY_MS);
  };
  look();
  const actions = session.operates ? naming(look) : null;
  return { title: "Sources", el, actions, refresh: look, close: () => clearTimeout(timer) };
}

const nothing = () => empty("Nothing is watched. A watched source is asked again as often as its news deserve, within schedule.budget_share.");

function naming(look) {
  const spec = field("Spec to watch", h("input", { placeholder: "acme/web", autocomplete: "off", spellcheck: "false", required: true }));
  const submit = async (event) => {
    event.preventDefault();
    try {
      const done = await api.watch({ specs: spec.input.value.trim().split(/\s+/) });
      spec.complain("");
      toast(`${plural(done.added, "source")} added, ${count(done.known + done.changed)} watched already.`);
      spec.input.value = "";
      look();
    } catch (trouble) {
      spec.complain(trouble.message);
    }
  };
  return h("form", { class: "watch-form", on: { submit } }, spec.box, h("button", { type: "submit", class: "button" }, "Watch"));
}

function spending(schedules, now) {
  const columns = [{ name: "Platform" }, { name: "Sources", kind: "number" }, { name: "Calls in the last hour", kind: "number" }, { name: "Budget per hour", kind: "number wide-only" }, { name: "Read longest ago", kind: "number wide-only" }];
  const rows = schedules.map((one) =>
    h(
      "tr",
      {},
      h("th", { scope: "row" }, one.platform),
      h("td", { class: "number" }, count(one.sources)),
      h("td", { class: "number" }, count(one.spent)),
      h("td", { class: "number wide-only" }, count(one.calls_per_hour)),
      h("td", { class: "number wide-only" }, one.oldest_read ? ago(one.oldest_read, now) : "never"),
    ),
  );
  return panel("Schedule", {}, table("Schedule of each platform", columns, rows).el);
}

function list(found, app, look) {
  const note = found.length === SHOWN ? `The first ${SHOWN} by due time; \`ghcrawl watch list --limit 500\` lists more.` : "";
  const columns = [{ name: "Source" }, { name: "Due", kind: "number" }, { name: "Items a day", kind: "number" }, { name: "Last 30 days", kind: "wide-only" }, { name: "Last news", kind: "number wide-only" }, { name: "Calls", kind: "number wide-only" }, { name: "Unwatch", hidden: true }];
  return panel("Sources", { note, wide: true }, table("Sources, those due first", columns, found.map((one) => row(one, app, look))).el);
}

function row(source, app, look) {
  const due = source.due ? until(source.due, app.now) : "now";
  return h(
    "tr",
    {},
    h("td", { class: "main" }, h("bdi", { title: source.url }, path(source.url)), h("div", { class: "row-sub" }, `${typeOf(source)} · ${source.why}`)),
    h("td", { class: "number", title: when(source.due) }, due),
    h("td", { class: "number" }, source.read ? rate(source.rate) : "–"),
    h("td", { class: "wide-only" }, picture(source.days)),
    h("td", { class: "number wide-only", title: when(source.news) }, source.news ? ago(source.news, app.now) : "none"),
    h("td", { class: "number wide-only" }, count(source.calls)),
    h("td", { class: "number" }, session.operates ? button("Unwatch", () => unwatch(source, look), { class: "button small" }) : null),
  );
}

/** Items of each day as a line of bars. */
function picture(days) {
  const most = Math.max(...days);
  const bars = days.map((items) => (items ? BARS[Math.round((items * (BARS.length - 1)) / most)] : "·")).join("");
  const total = days.reduce((sum, items) => sum + items, 0);
  return h("span", { class: "spark", role: "img", "aria-label": `${plural(total, "item")} in 30 days, ${count(most)} on the busiest` }, bars);
}

function unwatch(source, look) {
  const act = async () => {
    await api.unwatch({ specs: [`${source.platform}:${source.url}`] });
    look();
  };
  confirm({ title: "Unwatch", body: h("p", {}, `${path(source.url)} is not asked again by the schedule. What was learned of it is deleted.`), verb: "Unwatch", act });
}
