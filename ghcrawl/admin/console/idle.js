// Why nothing is fetched although requests wait: the first reason that holds, in one sentence.

import { count, plural, until, when } from "./format.js";

export function idleReason(status, now) {
  const { loops, queues } = status;
  const sum = (name) => queues.reduce((total, queue) => total + queue[name], 0);
  const [ready, delayed] = [sum("ready"), sum("delayed")];
  if (loops.trouble) return `Stopped: ${loops.trouble}.`;
  if (loops.draining) return "Draining: this replica finishes its requests in flight, then stops.";
  if (loops.paused) return `Paused: ${plural(ready + delayed, "request")} held until crawling is resumed.`;
  const blocked = Object.entries(loops.blocked ?? {});
  if (blocked.length && ready) return blocked.map((each) => platformReason(each, loops, now)).join(" ");
  if (loops.busy) return "";
  if (!ready && delayed) return `${plural(delayed, "request")} ${delayed === 1 ? "waits" : "wait"} for a scheduled time: a retry or a deferral.`;
  const mounted = new Set(Object.keys(status.base_urls ?? {}));
  const foreign = queues.flatMap(({ platforms }) => Object.entries(platforms)).filter(([name, depth]) => depth.ready && mounted.size && !mounted.has(name));
  if (ready && foreign.length === queues.flatMap(({ platforms }) => Object.entries(platforms)).filter(([, depth]) => depth.ready).length) {
    return `${plural(ready, "request")} of ${[...new Set(foreign.map(([name]) => name))].join(", ")}, which this version cannot crawl.`;
  }
  if (ready && !loops.running) return `${count(ready)} ready, but no worker runs.`;
  return "";
}

function platformReason([platform, at], loops, now) {
  const away = loops.unreachable?.[platform];
  if (away) return `${platform} is unreachable since ${when(away.since)} (${away.reason}); next attempt ${until(at, now)}.`;
  return `No quota for ${platform} until ${when(at)} (${until(at, now)}).`;
}
