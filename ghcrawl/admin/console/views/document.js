// One document: what is known about it, where its links lead, and all of it.

import { api } from "../api.js";
import { fill, h } from "../dom.js";
import { ago, count, plural, when, words } from "../format.js";
import { documentPlace, empty, facts, failed, jsonSource, loading, panel, parted, place, to, urlPlace } from "../parts.js";
import { finder, listed, titleOf } from "./documents.js";
import { tree } from "./tree.js";
import { typeOf } from "../types.js";

const BELOW = 30;
const LINKS_SHOWN = 40;

export function oneDocument({ app, rest: urn, signal }) {
  const el = h("div", {}, loading());
  const head = finder({ type: [], scope: "", deleted: "", url: urn }, (which) => app.go(place("documents", which)), false);
  const refresh = async () => {
    try {
      fill(el, shown(await api.document(urn, signal), app.now));
    } catch (trouble) {
      if (signal.aborted) return;
      if (trouble.status === 404) await below(el, urn, app, signal);
      else fill(el, failed(trouble, refresh));
    }
  };
  refresh();
  return { title: "Document", el: h("div", {}, head, el), refresh };
}

/** A collection has no document of its own: what is under its name is what it holds. */
async function below(el, urn, app, signal) {
  try {
    const { documents, next } = await api.documents({ scope: urn, limit: BELOW }, signal);
    if (!documents.length) {
      fill(el, empty(`No document ${urn}, and none below it.`));
      return;
    }
    const more = next ? h("p", {}, to(place("documents", { scope: urn }), "Show all")) : null;
    fill(el, h("p", { class: "summary" }, `${urn} is a collection. It contains:`), listed(documents, app.now), more);
  } catch (trouble) {
    if (!signal.aborted) fill(el, failed(trouble));
  }
}

function shown(document, now) {
  const { _metadata: known, ...body } = document;
  const title = h("div", { class: "story-head" }, h("span", { class: "tag" }, typeOf(known)), h("p", { class: "story-reason" }, titleOf(document)), known.deletedAt ? h("span", { class: "tag wrong" }, `deleted ${ago(known.deletedAt, now)}`) : null);
  const raw = h("details", {}, h("summary", {}, "Show JSON"), jsonSource(document, "Document"));
  return [title, h("div", { class: "story" }, about(known, now), h("div", { class: "stack" }, links(known.links), panel("Content", {}, tree(body), raw)))];
}

function about(known, now) {
  const at = (moment) => (moment ? `${when(moment)} (${ago(moment, now)})` : "");
  const root = known.rootRequest ?? "";
  const split = root.indexOf("@");
  return panel(
    "Metadata",
    {},
    facts([
      ["URN", h("code", { class: "break" }, parted(known.urn))],
      ["URL", h("code", { class: "break" }, parted(known.url))],
      ["Aliases", known.aliases?.length ? known.aliases.map((alias) => h("div", {}, to(urlPlace(alias), alias))) : ""],
      ["Observed", at(known.observedAt)],
      ["Fetched", at(known.fetchedAt)],
      ["Processed", `${when(known.processedAt)}, version ${known.version}`],
      ["Changed at source", at(known.changedAt)],
      ["Deleted", at(known.deletedAt)],
      ["Origin", known.origin],
      ["Root request", split > 0 ? to(urlPlace(root.slice(split + 1)), root) : root],
      ["ETag", known.etag ? h("code", { class: "break" }, known.etag) : ""],
    ]),
  );
}

function links(found) {
  const entries = Object.entries(found ?? {});
  const line = ([name, link]) => {
    const all = link.hrefs ?? (link.href ? [link.href] : []);
    const more = all.length - LINKS_SHOWN;
    const targets = all.slice(0, LINKS_SHOWN).map((urn) => h("div", {}, to(documentPlace(urn), urn, { class: "break" }), link.type === "resource" ? null : h("span", { class: "quiet" }, ` ${link.type}`)));
    return h("div", {}, h("dt", {}, words(name)), h("dd", {}, targets, more > 0 ? h("div", { class: "quiet" }, `and ${count(more)} more, in the JSON below`) : null));
  };
  return panel("Links", { note: plural(entries.length, "link") }, h("dl", { class: "facts links" }, entries.map(line)));
}
