// Numbers, times and names as a person reads them.

const whole = new Intl.NumberFormat("en", { maximumFractionDigits: 0 });
const tenth = new Intl.NumberFormat("en", { maximumFractionDigits: 1 });
const hundredth = new Intl.NumberFormat("en", { maximumFractionDigits: 2, minimumFractionDigits: 2 });
const moment = new Intl.DateTimeFormat("en-GB", {
  year: "numeric",
  month: "short",
  day: "numeric",
  hour: "2-digit",
  minute: "2-digit",
  second: "2-digit",
  timeZoneName: "short",
});
const minute = new Intl.DateTimeFormat("en-GB", { hour: "2-digit", minute: "2-digit" });
const dayMinute = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "short", hour: "2-digit", minute: "2-digit" });
const clock = new Intl.DateTimeFormat("en-GB", { timeStyle: "medium" });

/** 12,345 */
export const count = (value) => whole.format(value);

/** 0.36 */
export const ratio = (value) => hundredth.format(value);

/** 1,204 or 3.4: small rates keep a digit. */
export const rate = (value) => (value >= 20 ? whole : tenth).format(value);

/** 21 Nov 2026, 20:20:29 CET, in this browser's zone, which it names. */
export const when = (iso) => (iso ? moment.format(new Date(iso)) : "–");

/** 20:20, or 21 Nov, 20:20 where a window is longer than a day. */
export const clockOf = (at, windowMs) => (windowMs > 43_200_000 ? dayMinute : minute).format(new Date(at));

/** 20:20:29 */
export const timeOf = (at) => clock.format(new Date(at));

/** `1 deadletter`, `2 deadletters`. */
export function plural(number, one, many = `${one}s`) {
  return `${count(number)} ${number === 1 ? one : many}`;
}

const STEPS = [
  [86400, "d"],
  [3600, "h"],
  [60, "min"],
  [1, "s"],
];

/** A length of time by its two largest parts at most: `3 h 5 min`. */
export function span(seconds, parts = 1) {
  let rest = Math.max(0, Math.round(seconds));
  const found = [];
  for (const [size, unit] of STEPS) {
    const part = Math.floor(rest / size);
    if (part > 0 && found.length < parts) found.push(`${part} ${unit}`);
    else if (found.length) break;
    rest -= part * size;
  }
  return found.join(" ") || "0 s";
}

/** `3 min ago`, by the service's clock. */
export function ago(iso, now) {
  const seconds = (now - new Date(iso)) / 1000;
  return seconds < 1 ? "now" : `${span(seconds)} ago`;
}

/** `in 3 min`. */
export function until(iso, now) {
  const seconds = (new Date(iso) - now) / 1000;
  return seconds < 1 ? "now" : `in ${span(seconds, 2)}`;
}

/** The part of a URL that tells things apart: without scheme and host. */
export function path(url) {
  try {
    const parsed = new URL(url);
    return parsed.pathname + parsed.search || url;
  } catch {
    return url;
  }
}

const KINDS = {
  connection_lost: "Connection lost",
  invalid_json: "Answer is not JSON",
  malformed: "Malformed answer",
  Malformed: "Malformed answer",
  too_large: "Answer too large",
  foreign_url: "Foreign URL",
  invalid_request: "Invalid request",
  SpecError: "Invalid request",
  no_processor: "No processor for the type",
  unstorable: "Cannot be stored",
  Unstorable: "Cannot be stored",
  timeout: "Timed out",
  TimeoutError: "Timed out",
  FetchError: "Connection lost",
  undecodable: "Unreadable message",
  DecodeError: "Unreadable message",
  killed_worker: "Killed its worker",
  KilledWorker: "Killed its worker",
  delivery_limit: "Delivered too often",
  DeliveryLimit: "Delivered too often",
  set_aside: "Set aside by the broker",
  SetAside: "Set aside by the broker",
  internal_error: "Internal error (bug)",
};

/** `http_502` → `HTTP 502`, `connection_lost` → `Connection lost`; names of earlier versions that are unknown stay. */
export const kindName = (kind) => KINDS[kind] ?? kind.replace(/^http_(\d+)$/, "HTTP $1");

/** `pull_request` → `pull request` */
export const words = (name) => name.replaceAll("_", " ");

/** JSON with two spaces. */
export const json = (value) => JSON.stringify(value, null, 2);
