// What the service remembers of the last hour, day and month, what was seen while this page was open, and the rates
// that follow from it.
//
// The service's memory is of all replicas, and the same for everybody who looks. What this page sees fills the seconds
// since its last step.
//
// Depths, documents and deadletters are everybody's: each answer tells them whole. What was settled, called and saved is
// told by each replica for itself, since its start; a balancer may send each question to another one. So rates are made
// for each replica by itself, and summed over those that answered lately.

const KEPT_MS = 3_600_000;
const FRESH_MS = 60_000;
const SMOOTH_MS = 20_000;
const DRIFT_MS = 120_000;
const LEAST_MS = 10_000;

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

/** The longest window that each of the service's rings holds. */
export const SPANS = [["1h", 3_600_000], ["24h", 86_400_000], ["30d", 2_592_000_000]];
export const spanOf = (windowMs) => (SPANS.find(([, longest]) => windowMs <= longest) ?? SPANS.at(-1))[0];

export class History {
  samples = [];
  past = new Map();
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

  /** Remember an answer of `/history`. */
  keep({ span, step_s: step, points }) {
    const minutes = step / 60;
    const last = points.length - 1;
    const samples = points.map((point, index) => ({
      at: Date.parse(point.at) + (index === last ? 0 : step * 1000),
      queues: point.queues,
      deadletters: point.deadletters,
      kinds: point.kinds,
      quota: point.quota,
      rates: index === last ? null : Object.fromEntries(RATES.map((name) => [name, (point.done[name] ?? 0) / minutes])),
    }));
    this.past.set(span, { samples, step: step * 1000 });
  }

  /** What a chart of this window shows: {samples, gap}, `gap` being the longest time between two that belong together. */
  seen(windowMs) {
    const { samples: past, step } = this.past.get(spanOf(windowMs)) ?? { samples: [], step: 0 };
    const from = past.at(-1)?.at ?? 0;
    const lately = this.samples.filter(({ at }) => at > from);
    return { samples: [...past, ...lately], gap: Math.max(FRESH_MS * 1.5, step * 2.5) };
  }

  /** What all replicas did in the last minute that is over; null where the service remembers none. */
  lastMinute() {
    return this.past.get("1h")?.samples.findLast(({ rates }) => rates)?.rates ?? null;
  }

  /** Per minute, of all replicas that answered lately; null before ten seconds of one. */
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
  while (seen.length > 2 && last.at - seen[1].at >= SMOOTH_MS) seen.shift();
  const minutes = (last.at - seen[0].at) / 60_000;
  if (last.at - seen[0].at < LEAST_MS) return null;
  return Object.fromEntries(
    RATES.map((name) => [name, Math.max(0, last.done[name] - seen[0].done[name]) / minutes]),
  );
}
