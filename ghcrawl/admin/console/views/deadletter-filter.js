// Which deadletters are meant: as the address of the page has it, as the API wants it, and as a person reads it.

import { kindName, span, words } from "../format.js";

export const AGES = [
  ["", "Any age"],
  ["3600", "More than an hour ago"],
  ["86400", "More than a day ago"],
  ["604800", "More than a week ago"],
  ["2592000", "More than 30 days ago"],
];

/** The filter in the query of an address. */
export function read(query) {
  const age = Number(query.get("older_than_s"));
  return {
    kind: query.getAll("kind"),
    type: query.getAll("type"),
    platform: query.getAll("platform"),
    reason: query.get("reason") ?? "",
    host: query.get("host") ?? "",
    older_than_s: Number.isFinite(age) && age > 0 ? String(age) : "",
  };
}

/** Whether it admits everything. */
export const admitsAll = (which) => !which.kind.length && !which.type.length && !which.platform.length && !which.reason && !which.host && !which.older_than_s;

/** The filter as the body of a request. */
export function body(which) {
  const { kind, type, platform, reason, host } = which;
  const older = which.older_than_s ? { older_than_s: Number(which.older_than_s) } : {};
  return { kind, type, platform, reason, host, ...older, all: admitsAll(which) };
}

/** The filter as a sentence without a verb: `of class HTTP 502 whose reason contains “gateway”`. */
export function sentence(which) {
  const either = (names) => names.join(" or ");
  return [
    which.kind.length ? `of class ${either(which.kind.map(kindName))}` : "",
    which.type.length ? `of type ${either(which.type.map(words))}` : "",
    which.platform.length ? `of ${either(which.platform)}` : "",
    which.reason ? `with a reason that contains “${which.reason}”` : "",
    which.host ? `on ${which.host}` : "",
    which.older_than_s ? `dead-lettered more than ${span(Number(which.older_than_s))} ago` : "",
  ]
    .filter(Boolean)
    .join(", ");
}
