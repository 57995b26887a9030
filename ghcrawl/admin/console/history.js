// What was seen while this page was open, and the rates that follow from it.
//
// Depths, documents and deadletters are everybody's: each answer tells them whole. What was settled, called and saved is
// told by each replica for itself, since its start; a balancer may send each question to another one. So rates are made
// for each replica by itself, and summed over those that answered lately.

const KEPT_MS = 3_600_000;
const FRESH_MS = 60_000;
const SMOOTH_MS = 20_000;
const DRIFT_MS = 120_000;

const sum = (counts) => Object.values(counts ?? {}).reduce((total, each) => total + each, 0);

/** What one replica did since it started, of an answer. */
function done(status) {
  const { requests, documents, calls, deadletters } = status.figures;
  return {
    settled: requests.settled - sum(requests.deferred),
    saved: documents.saved,
    calls: calls.total,
    failed: sum(requests.retried) + sum(deadletters.buried),
    throttled: sum(calls.throttled),
    types: documents.saved_by_type,
  };
}

export const RATES = ["settled", "calls", "saved", "failed", "throttled"];

export class History {
  samples = [];
  replicas = new Map();

  /** Remember an answer of `/status`. */
  add(status) {
    const at = Date.parse(status.at);
    const replica = this.replicas.get(status.worker) ?? { seen: [], rates: null };
    this.replicas.set(status.worker, replica);
    replica.seen.push({ at, done: done(status) });
    replica.at = at;
    replica.loops = status.loops;
    replica.principals = status.principals;
    replica.queues = status.queues;
    replica.figures = status.figures;
    replica.version = status.version;
    replica.rates = ratesOf(replica.seen);
    for (const [worker, other] of this.replicas) if (at - other.at > FRESH_MS) this.replicas.delete(worker);
    this.samples.push({
      at,
      queues: Object.fromEntries(status.queues.map((queue) => [queue.name, queue.total])),
      deadletters: status.deadletters.total,
      kinds: status.deadletters.by_kind,
      rates: this.rates(),
    });
    while (this.samples.length && at - this.samples[0].at > KEPT_MS) this.samples.shift();
  }

  /** Per minute, of all replicas that answered lately; null before two answers of one. */
  rates() {
    const known = [...this.replicas.values()].map((replica) => replica.rates).filter(Boolean);
    if (!known.length) return null;
    return Object.fromEntries(RATES.map((name) => [name, known.reduce((total, each) => total + each[name], 0)]));
  }

  /** By how much what waits grew, per minute, in the last two minutes; null before there are twenty seconds of them. */
  drift() {
    const last = this.samples.at(-1);
    const first = this.samples.find(({ at }) => last && last.at - at <= DRIFT_MS);
    if (!first || last.at - first.at < SMOOTH_MS) return null;
    return (sum(last.queues) - sum(first.queues)) / ((last.at - first.at) / 60_000);
  }

  /** What was settled from each queue in the last minute, of all replicas that answered lately. */
  settledByQueue() {
    const totals = {};
    for (const { queues } of this.replicas.values()) {
      for (const queue of queues) totals[queue.name] = (totals[queue.name] ?? 0) + queue.settled_last_minute;
    }
    return totals;
  }

  /** Documents saved per minute, by type, of all replicas that answered lately. */
  savedByType() {
    const totals = {};
    for (const { seen } of this.replicas.values()) {
      const [first, last] = [seen[0], seen.at(-1)];
      const minutes = (last.at - first.at) / 60_000;
      if (minutes <= 0) continue;
      for (const [type, number] of Object.entries(last.done.types)) {
        const lately = Math.max(0, number - (first.done.types[type] ?? 0)) / minutes;
        totals[type] = (totals[type] ?? 0) + lately;
      }
    }
    return totals;
  }

  /** One of the figures, as counts summed over the replicas: counts(figures) → {name: count}. */
  summed(counts) {
    const totals = {};
    for (const { figures } of this.replicas.values()) {
      for (const [name, value] of Object.entries(counts(figures) ?? {})) totals[name] = (totals[name] ?? 0) + value;
    }
    return totals;
  }
}

function ratesOf(seen) {
  const last = seen.at(-1);
  while (seen.length > 2 && last.at - seen[0].at > SMOOTH_MS) seen.shift();
  const minutes = (last.at - seen[0].at) / 60_000;
  if (minutes <= 0) return null;
  return Object.fromEntries(
    RATES.map((name) => [name, Math.max(0, last.done[name] - seen[0].done[name]) / minutes]),
  );
}
