// The service's API. Whatever goes wrong is one Trouble with a sentence for a person.

import { session } from "./session.js";

const PATIENCE_MS = 40_000;
const AGAIN_MS = 400;

/** Something that did not work. status: 0 where nothing answered. fields: [{field, detail}] for what is wrong where. */
export class Trouble extends Error {
  constructor(status, detail, fields = []) {
    super(detail);
    this.status = status;
    this.fields = fields;
  }

  /** Whether it may work in a moment without anybody doing anything. */
  get passing() {
    return this.status === 0 || this.status === 503 || this.status === 502 || this.status === 504;
  }
}

function address(path, query) {
  const url = new URL(path, document.baseURI);
  for (const [name, value] of Object.entries(query ?? {})) {
    for (const each of Array.isArray(value) ? value : [value]) {
      if (each !== "" && each !== null && each !== undefined) url.searchParams.append(name, each);
    }
  }
  return url;
}

function sentence(text) {
  const capital = text.charAt(0).toUpperCase() + text.slice(1);
  return /[.!?…]$/.test(capital) ? capital : `${capital}.`;
}

async function troubleOf(response) {
  let problem = null;
  try {
    problem = await response.json();
  } catch {
    // Not from us: a proxy in between, say.
  }
  const detail = problem?.detail ?? `the service answered ${response.status} ${response.statusText}`;
  return new Trouble(response.status, sentence(detail), problem?.errors ?? []);
}

const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

/** The answer. What only looks is asked once more where a connection broke; what changes something never is. */
async function answer(url, options, signal, again) {
  try {
    return await fetch(url, { ...options, cache: "no-store", credentials: "same-origin", redirect: "error" });
  } catch (error) {
    if (signal?.aborted) throw error;
    if (error?.name === "TimeoutError") throw new Trouble(0, "The service did not respond in time.");
    if (!again) throw new Trouble(0, "Cannot reach the service.");
    await pause(AGAIN_MS);
    return answer(url, options, signal, false);
  }
}

async function send(method, path, { query, body, signal } = {}) {
  const headers = { Accept: "application/json" };
  if (session.token) headers.Authorization = `Bearer ${session.token}`;
  if (body !== undefined) headers["Content-Type"] = "application/json";
  const either = AbortSignal.any([AbortSignal.timeout(PATIENCE_MS), ...(signal ? [signal] : [])]);
  const options = { method, headers, body: body === undefined ? undefined : JSON.stringify(body), signal: either };
  const response = await answer(address(path, query), options, signal, method === "GET");
  if (!response.ok) throw await troubleOf(response);
  const text = await response.text();
  return text ? JSON.parse(text) : null;
}

const one = (urn) => encodeURIComponent(urn).replaceAll("%3A", ":");

export const api = {
  whoami: () => send("GET", "api/v1/whoami"),
  status: (signal) => send("GET", "api/v1/status", { signal }),
  history: (span, signal) => send("GET", "api/v1/history", { query: { span }, signal }),

  deadletters: (query, signal) => send("GET", "api/v1/deadletters", { query, signal }),
  deadletterCounts: (query, signal) => send("GET", "api/v1/deadletter-counts", { query, signal }),
  deadletter: (urn, signal) => send("GET", `api/v1/deadletters/${one(urn)}`, { signal }),
  requeue: (body) => send("POST", "api/v1/deadletters/requeue", { body }),
  remove: (body) => send("POST", "api/v1/deadletters/delete", { body }),

  peek: (queue, limit, signal) => send("GET", `api/v1/queues/${one(queue)}/requests`, { query: { limit }, signal }),
  purge: (queue) => send("DELETE", `api/v1/queues/${one(queue)}/requests`),
  /** Takes up to `count` requests out of a queue and returns them. The predecessor's route, which has no other name. */
  take: (queue, count) => send("DELETE", `requests/${one(queue)}`, { query: { count } }),
  push: (body) => send("POST", "api/v1/requests", { body }),

  redelivery: (signal) => send("GET", "api/v1/redelivery", { signal }),
  redeliver: () => send("POST", "api/v1/redelivery"),

  documents: (query, signal) => send("GET", "api/v1/documents", { query, signal }),
  document: (urn, signal) => send("GET", `api/v1/documents/${one(urn)}`, { signal }),

  sources: (query, signal) => send("GET", "api/v1/sources", { query, signal }),
  schedules: (signal) => send("GET", "api/v1/schedules", { signal }),
  watch: (body) => send("POST", "api/v1/sources", { body }),
  unwatch: (body) => send("POST", "api/v1/sources/remove", { body }),

  settings: (signal) => send("GET", "api/v1/settings", { signal }),
  changeSettings: (body) => send("PATCH", "api/v1/settings", { body }),
  audit: (signal) => send("GET", "api/v1/settings/audit", { signal }),
  pause: () => send("POST", "api/v1/pause"),
  resume: () => send("POST", "api/v1/resume"),
};
