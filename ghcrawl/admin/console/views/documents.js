// What was saved: found by name or address, or gone through by type.

import { api } from "../api.js";
import { button, field, fill, h, keyed, say, select } from "../dom.js";
import { ago, count, path, plural, when, words } from "../format.js";
import { documentPlace, empty, failed, loading, parted, place, table, to, urlPlace } from "../parts.js";
import { byPlatform, facet } from "./facet.js";
import { typeOf } from "../types.js";

const PAGE = 30;
const DELETED = [["", "All"], ["false", "Existing only"], ["true", "Tombstones only"]];
const LISTS = [["", "Hidden"], ["true", "Shown"]];

export function documents({ app, query, signal }) {
  const which = { q: query.get("q") ?? "", type: query.getAll("type"), platform: query.getAll("platform"), scope: query.get("scope") ?? "", deleted: query.get("deleted") ?? "", lists: query.get("lists") ?? "", url: query.get("url") ?? "" };
  const shown = h("div", {}, loading());
  const pages = [];
  const lists = which.lists || "false";
  let after = "";
  const go = (wanted) => app.go(place("documents", wanted));
  const types = facet("Type", (name) => go({ ...which, q: "", url: "", type: which.type.includes(name) ? [] : [name] }), words);
  const platforms = facet("Platform", (name) => go({ ...which, q: "", url: "", platform: which.platform.includes(name) ? [] : [name] }), (name) => name);
  const list = async () => {
    try {
      const asked = which.q ? { q: which.q, lists } : which.url ? { url: which.url } : { ...which, lists, limit: PAGE, after };
      const found = await api.documents(asked, signal);
      if ((which.url || which.q) && found.documents.length === 1) location.replace(`#/${documentPlace(found.documents[0]._metadata.urn)}`);
      else fill(shown, found.documents.length ? listed(found.documents, app.now) : nothing(which), pager(found), found.complete === false ? h("p", { class: "quiet" }, "Not all titles were searched: enter a name, a URN or a URL to find more.") : null);
    } catch (trouble) {
      if (!signal.aborted) fill(shown, failed(trouble, list));
    }
  };
  const pager = ({ documents: all, next }) => {
    const turn = (change) => async () => {
      change();
      await list();
      scrollTo(0, 0);
    };
    const back = turn(() => (after = pages.pop() ?? ""));
    const on = turn(() => {
      pages.push(after);
      after = next;
    });
    if (!pages.length && !next) return null;
    const from = pages.length * PAGE + 1;
    return h("nav", { class: "pager", "aria-label": "Pages" }, button("← Back", back, { disabled: !pages.length }), h("span", {}, `${count(from)}–${count(from + all.length - 1)}`), button("More →", on, { disabled: !next }));
  };
  list();
  const facets = h("details", { class: "facets", open: innerWidth > 720 }, h("summary", {}, "Types"), platforms.el, types.el);
  const total = h("p", { class: "summary" });
  const el = h("div", { class: "split" }, facets, h("div", {}, finder(which, go), total, shown));
  const update = (status) => {
    platforms.show(byPlatform(status.documents, which.platform), byPlatform(status.documents, which.platform), which.platform, 0);
    const { by_type: all, entities, total: whole } = status.documents;
    const known = which.lists || which.type.some((type) => !(type in entities)) ? all : entities;
    types.show(known, known, which.type, 0);
    const sum = (numbers) => numbers.reduce((one, other) => one + other, 0);
    const number = sum(which.type.length ? which.type.map((type) => all[type] ?? 0) : Object.values(known));
    const hidden = which.type.length ? 0 : whole - number;
    const clause = [which.type.length ? ` of type ${which.type.map(words).join(" or ")}` : "", which.platform.length ? ` of ${which.platform.join(" or ")}` : "", which.scope ? `, filtered to those below ${which.scope}` : ""].join("");
    say(total, which.url || which.q || which.platform.length ? "" : `${plural(number, "document")}${clause}${hidden ? `; ${plural(hidden, "list page")} hidden` : ""}`);
  };
  return { title: "Documents", el, update, refresh: list };
}

/** Find by URN or URL; and, where many are listed, which of them. */
export function finder(which, go, filters = true) {
  const find = field("Name, title, URN or URL", h("input", { type: "search", "data-search": true, value: which.q || which.url || which.scope, spellcheck: "false", autocomplete: "off", placeholder: "acme/docs, words of a title, urn:… or https://…" }));
  const kind = field("Show", select(DELETED, which.deleted));
  const lists = field("List pages", select(LISTS, which.lists));
  const filtered = () => ({ ...which, deleted: kind.input.value, lists: lists.input.value });
  for (const { input } of [kind, lists]) input.addEventListener("change", () => go(filtered()));
  const submit = (event) => {
    event.preventDefault();
    const text = find.input.value.trim();
    if (!text) go({ ...filtered(), q: "", url: "", scope: "" });
    else if (text.startsWith("urn:")) location.hash = `#/${documentPlace(text)}`;
    else if (/^https?:\/\//.test(text)) location.hash = `#/${urlPlace(text)}`;
    else location.hash = `#/${place("documents", { q: text })}`;
  };
  return h("form", { class: "filters documents-find", role: "search", on: { submit } }, find.box, ...(filters ? [kind.box, lists.box] : []), h("div", { class: "filters-go" }, h("button", { type: "submit", class: "button" }, "Find")));
}

function nothing(which) {
  if (which.q) return empty(`No documents found for ${which.q}.`, to("documents", "All documents", { class: "button" }));
  if (which.url) return empty(`No documents for ${which.url}.`, to("queues", "Push a request for it", { class: "button" }));
  if (which.scope) return empty(`No documents below ${which.scope}.`);
  if (which.type.length || which.deleted) return empty("No documents match.");
  return empty("No documents yet.", to("queues", "Push a request", { class: "button" }));
}

export function listed(found, now) {
  const body = h("tbody");
  keyed(body, found, (one) => one._metadata.urn, (one) => row(one, now), () => {});
  const shown = table("Documents", [{ name: "Document" }, { name: "Type", kind: "wide-only" }, { name: "Observed", kind: "number" }], []);
  shown.body.replaceWith(body);
  return shown.el;
}

/** How a person would call it. */
export function titleOf(document) {
  const { _metadata: facts } = document;
  const post = document.record?.text ?? document.value?.text ?? unmarked(document.content);
  const named = [document.full_name, document.title, document.login, document.name, document.tag_name, document.message, document.commit?.message, document.body, post, document.handle, document.acct];
  const found = named.find((each) => typeof each === "string" && each.trim());
  if (found) return found.trim().split("\n")[0].slice(0, 120);
  if (Array.isArray(document.elements)) return plural(document.elements.length, "element");
  return path(facts.url);
}

const ENTITIES = { "&lt;": "<", "&gt;": ">", "&quot;": '"', "&#39;": "'", "&nbsp;": " ", "&amp;": "&" };

/** The text of a post that is HTML, for a title: trusted types forbid to parse it. */
function unmarked(html) {
  const text = typeof html === "string" ? html.replace(/<(br|\/p)\b[^>]*>/g, "\n").replace(/<[^>]*>/g, "") : "";
  return text.replace(/&(lt|gt|quot|#39|nbsp|amp);/g, (entity) => ENTITIES[entity]);
}

function row(document, now) {
  const { _metadata: facts } = document;
  const gone = facts.deletedAt ? h("span", { class: "tag wrong" }, "deleted") : null;
  return h(
    "tr",
    {},
    h("td", { class: "main" }, to(documentPlace(facts.urn), titleOf(document), { class: "row-link" }), gone, h("div", { class: "row-sub" }, h("code", {}, parted(facts.urn))), h("div", { class: "row-sub narrow-only" }, typeOf(facts))),
    h("td", { class: "wide-only" }, typeOf(facts)),
    h("td", { class: "number" }, h("time", { datetime: facts.observedAt, title: when(facts.observedAt) }, ago(facts.observedAt, now))),
  );
}
