// Charts over time, drawn with SVG: lines, or areas on top of one another. The legend says in words what the lines show.

import { fill, h, s, say } from "./dom.js";
import { clockOf, span, timeOf, when } from "./format.js";

const TOP = 14;
const BOTTOM = 22;
const ROOMY = 420;
const POINTS = 240;
const WINDOWS_MS = [1, 2, 3, 5, 10, 15, 20, 30, 60, 120, 240, 480, 720, 1440, 2880, 7200, 14400, 28800, 43200].map((minutes) => minutes * 60_000);
const DAY_MS = 86_400_000;

/** 1, 2 or 5 times a power of ten, at least `least`: the smallest step that makes about three lines. */
function step(highest, least) {
  const rough = Math.max(highest / 3, least);
  const power = 10 ** Math.floor(Math.log10(rough));
  return [1, 2, 5, 10].map((factor) => factor * power).find((size) => size >= rough) ?? power * 10;
}

/** At most POINTS of them, evenly, and always the last. */
function thinned(samples) {
  const every = Math.ceil(samples.length / POINTS);
  if (every <= 1) return samples;
  return samples.filter((_, index) => (samples.length - 1 - index) % every === 0);
}

/** What was seen fills the picture: a window no longer than what is known, in whole minutes. */
function shownWindow(samples, wanted) {
  const seen = samples.length ? samples.at(-1).at - samples[0].at : 0;
  return Math.min(wanted, WINDOWS_MS.find((each) => each >= seen) ?? wanted);
}

/** Where nothing was seen for longer than `gap` (no replica ran), there is no line. */
function runs(points, gap) {
  const found = [];
  let last = null;
  for (const point of points) {
    if (!last || point.at - last.at > gap) found.push([]);
    found.at(-1).push(point);
    last = point;
  }
  return found;
}

/**
 * series: [{key, name, tone}], drawn in this order; value(sample, key) → number, or null where it is not known.
 * show: number → text. least: the smallest step between two lines of the grid.
 * most: the top of the axis; 0: as high as the highest value.
 */
export class Chart {
  #samples = [];
  #window = 600_000;
  #pointed = null;

  constructor({ title, series, value, show, stacked = false, least = 1, most = 0, unit = "", height = 190 }) {
    Object.assign(this, { title, value, show, stacked, least, most, unit, height });
    this.svg = s("svg", { class: "chart", role: "img", height });
    this.legend = h("ul", { class: "legend" });
    this.moment = h("span", { class: "chart-moment" }, "");
    this.follow(series);
    this.el = h("div", { class: "chart-box" }, this.svg, h("div", { class: "chart-foot" }, this.legend, this.moment));
    this.svg.addEventListener("pointermove", (event) => this.#point(event));
    this.svg.addEventListener("pointerleave", () => this.#point(null));
    this.watch = new ResizeObserver(() => this.#paint());
    this.watch.observe(this.el);
  }

  /** What is shown from now on. */
  follow(series) {
    const same = this.series?.map(({ key }) => key).join() === series.map(({ key }) => key).join();
    this.series = series;
    if (same) return;
    this.numbers = new Map(series.map(({ key }) => [key, h("b", {}, "–")]));
    const line = ({ key, name, tone }) => h("li", {}, h("i", { class: `swatch ${tone}` }), h("span", {}, name), this.numbers.get(key));
    fill(this.legend, series.map(line));
  }

  /** gap: the longest time between two samples that belong together, in ms. */
  draw(samples, windowMs, gap = 90_000) {
    this.#samples = samples;
    this.gap = gap;
    this.#window = shownWindow(samples, windowMs);
    this.#paint();
  }

  /** The stack of values of one sample: the upper edge of each series. */
  #edges(sample) {
    let below = 0;
    return this.series.map(({ key }) => {
      const own = this.value(sample, key);
      if (own === null) return null;
      below = this.stacked ? below + own : own;
      return below;
    });
  }

  #paint() {
    const width = Math.max(240, this.el.clientWidth);
    const last = this.#samples.at(-1)?.at ?? Date.now();
    const first = last - this.#window;
    const seen = thinned(this.#samples.filter(({ at }) => at >= first));
    const points = seen.map((sample) => ({ at: sample.at, sample, edges: this.#edges(sample) }));
    const known = points.filter(({ edges }) => edges.every((edge) => edge !== null));
    const size = step(this.most || Math.max(0, ...known.flatMap(({ edges }) => edges)), this.least);
    const highest = this.most || Math.max(size * 3, ...known.flatMap(({ edges }) => edges));
    const x = (at) => ((at - first) / this.#window) * width;
    const y = (value) => this.height - BOTTOM - (value / highest) * (this.height - TOP - BOTTOM);
    this.scale = { x, y, known, width };
    this.svg.setAttribute("viewBox", `0 0 ${width} ${this.height}`);
    const { lines, ticks } = this.#grid(size, highest, y, width);
    fill(this.svg, lines, this.#shapes(known, x, y), ticks, this.#axis(width, last), this.#rule());
    this.#read();
  }

  #grid(size, highest, y, width) {
    const [lines, ticks] = [[], []];
    for (let value = 0; value <= highest; value += size) {
      lines.push(s("line", { class: value ? "grid" : "grid base", x1: 0, x2: width, y1: y(value), y2: y(value) }));
      if (value) ticks.push(s("text", { class: "tick", x: 0, y: y(value) - 4 }, this.show(value)));
    }
    return { lines, ticks };
  }

  #axis(width, last) {
    const label = (x, anchor, text) => s("text", { class: "tick", x, y: this.height - 6, "text-anchor": anchor }, text);
    const first = clockOf(last - this.#window, this.#window);
    const roomy = width >= ROOMY;
    return [
      label(0, "start", roomy ? `${first} (${span(this.#window / 1000)} ago)` : first),
      roomy ? label(width / 2, "middle", clockOf(last - this.#window / 2, this.#window)) : null,
      label(width, "end", "now"),
    ].filter(Boolean);
  }

  #shapes(known, x, y) {
    const found = [];
    for (const run of runs(known, this.gap)) {
      const line = (index) => run.map(({ at, edges }) => `${x(at).toFixed(1)},${y(edges[index]).toFixed(1)}`);
      this.series.forEach(({ tone }, index) => {
        const upper = line(index);
        if (this.stacked) {
          const lower = index ? line(index - 1) : run.map(({ at }) => `${x(at).toFixed(1)},${y(0)}`);
          found.push(s("polygon", { class: `area ${tone}`, points: [...upper, ...lower.reverse()].join(" ") }));
        }
        found.push(s("polyline", { class: `line ${tone}`, points: upper.join(" ") }));
      });
    }
    return found;
  }

  #rule() {
    const sample = this.#pointed && this.#nearest(this.#pointed);
    if (!sample) return null;
    const x = this.scale.x(sample.at);
    return s("line", { class: "rule", x1: x, x2: x, y1: TOP, y2: this.height - BOTTOM });
  }

  #nearest(px) {
    const { known, x } = this.scale;
    return known.reduce((best, each) => (!best || Math.abs(x(each.at) - px) < Math.abs(x(best.at) - px) ? each : best), null);
  }

  #point(event) {
    const box = this.svg.getBoundingClientRect();
    this.#pointed = event ? ((event.clientX - box.left) / box.width) * this.scale.width : null;
    this.#paint();
  }

  /** The legend's numbers: where the pointer is, else the last. */
  #read() {
    const { known } = this.scale;
    const chosen = (this.#pointed !== null && this.#nearest(this.#pointed)) || known.at(-1);
    for (const { key } of this.series) {
      say(this.numbers.get(key), chosen ? this.show(this.value(chosen.sample, key)) : "–");
    }
    say(this.moment, this.#pointed !== null && chosen ? (this.#window >= DAY_MS / 2 ? when(chosen.at) : timeOf(chosen.at)) : "");
    const words = this.series.map(({ key, name }) => `${name} ${this.numbers.get(key).textContent}`).join(", ");
    this.svg.setAttribute("aria-label", `${this.title}${this.unit ? `, ${this.unit}` : ""}: ${words}`);
  }

  close() {
    this.watch.disconnect();
  }
}

/** A small line without axes, of numbers from old to new. */
export function sparkline(values, tone = "t1") {
  const highest = Math.max(1, ...values);
  const last = Math.max(1, values.length - 1);
  const points = values.map((value, index) => `${((index / last) * 100).toFixed(1)},${(22 - (value / highest) * 20).toFixed(1)}`);
  return s(
    "svg",
    { class: "spark", viewBox: "0 0 100 24", preserveAspectRatio: "none", "aria-hidden": "true" },
    s("polyline", { class: `line ${tone}`, points: points.join(" ") }),
  );
}

/** Bars side by side, each with what a person reads: [{value, text}]. */
export function columns(bars, label) {
  const highest = Math.max(1, ...bars.map(({ value }) => value));
  const width = 100 / bars.length;
  return s(
    "svg",
    { class: "columns", viewBox: "0 0 100 40", preserveAspectRatio: "none", role: "img", "aria-label": label },
    bars.map(({ value, text }, index) => {
      const height = value ? Math.max(1.5, (value / highest) * 38) : 0.6;
      const shape = { x: index * width + 0.4, y: 40 - height, width: width - 0.8, height };
      return s("rect", { class: value ? "column" : "column none", ...shape }, s("title", {}, text));
    }),
  );
}

/** A bar that is full or not. tone: a class. */
export function meter(share, label, tone = "") {
  const inner = h("div", { class: `meter-fill ${tone}` });
  const now = Math.round(Math.min(1, Math.max(0, share)) * 100);
  inner.style.setProperty("inline-size", `${now}%`);
  const facts = { role: "meter", "aria-valuemin": 0, "aria-valuemax": 100, "aria-valuenow": now, "aria-label": label };
  return h("div", { class: "meter", ...facts }, inner);
}
