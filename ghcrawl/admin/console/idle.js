// Why nothing is fetched although requests wait: the first reason that holds, in one sentence.

import { count, plural, until, when } from "./format.js";

const CAUSES = 3;

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
  if (!ready && delayed) return delayedReason(status, delayed, now);
  const mounted = new Set(status.platforms);
  const lanes = queues.flatMap(({ platforms }) => Object.keys(platforms).filter((name) => platforms[name].ready));
  if (ready && mounted.size && !lanes.some((name) => mounted.has(name))) {
    return `${plural(ready, "request")} of ${[...new Set(lanes)].join(", ")}, which this version cannot crawl.`;
  }
  if (ready && !loops.running) return `${count(ready)} ready, but no worker runs.`;
  return "";
}

function delayedReason({ loops, principals, queues }, delayed, now) {
  const waiting = new Set(queues.flatMap(({ platforms }) => Object.keys(platforms).filter((name) => platforms[name].delayed)));
  const away = loops.unreachable_hosts.filter(({ platform }) => waiting.has(platform));
  const spent = principals.filter((each) => waiting.has(each.platform) && Date.parse(each.benched_until) > now && !each.retired);
  const causes = [
    ...away.map(({ base_url: url, since, reason }) => `${url} is unreachable since ${when(since)} (${reason}).`),
    ...spent.map(({ label, benched_until: at }) => `No quota for ${label} until ${when(at)} (${until(at, now)}).`),
  ];
  const [shown, more] = [causes.slice(0, CAUSES), causes.length - CAUSES];
  const wait = `${plural(delayed, "request")} ${delayed === 1 ? "waits" : "wait"} for a scheduled time`;
  return [causes.length ? `${wait}.` : `${wait}: a retry or a deferral.`, ...shown, more > 0 ? `And ${plural(more, "other cause")}.` : ""].filter(Boolean).join(" ");
}

function platformReason([platform, at], loops, now) {
  const away = loops.unreachable?.[platform];
  if (away) return `${platform} is unreachable since ${when(away.since)} (${away.reason}); next attempt ${until(at, now)}.`;
  return `No quota for ${platform} until ${when(at)} (${until(at, now)}).`;
}
