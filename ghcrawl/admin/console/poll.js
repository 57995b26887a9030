// Asks again and again: not while nobody looks, and less and less often while nothing answers.

const LONGEST_MS = 60_000;

/** ask(signal) is repeated; told {value} or {trouble, again: moment of the next try}. */
export class Poll {
  #ask;
  #tell;
  #every;
  #timer = 0;
  #abort = null;
  #failed = 0;
  #running = false;

  constructor(ask, every, tell) {
    this.#ask = ask;
    this.#every = every;
    this.#tell = tell;
    this.onVisible = () => (document.hidden ? this.#halt() : this.now());
  }

  start() {
    if (this.#running) return;
    this.#running = true;
    document.addEventListener("visibilitychange", this.onVisible);
    this.now();
  }

  stop() {
    this.#running = false;
    document.removeEventListener("visibilitychange", this.onVisible);
    this.#halt();
  }

  /** Ask at once, whatever was waited for. */
  now() {
    this.#halt();
    if (this.#running && !document.hidden) return this.#turn();
    return Promise.resolve();
  }

  #halt() {
    clearTimeout(this.#timer);
    this.#abort?.abort();
    this.#abort = null;
  }

  async #turn() {
    const abort = new AbortController();
    this.#abort = abort;
    let wait = this.#every;
    try {
      const value = await this.#ask(abort.signal);
      if (abort.signal.aborted) return;
      this.#failed = 0;
      this.#tell({ value });
    } catch (trouble) {
      if (abort.signal.aborted) return;
      this.#failed += 1;
      const backoff = Math.min(LONGEST_MS, this.#every * 2 ** (this.#failed - 1));
      wait = backoff * (0.8 + Math.random() * 0.4); // many tabs do not come back in the same moment
      this.#tell({ trouble, again: Date.now() + wait });
    }
    if (this.#running && !document.hidden && !abort.signal.aborted) this.#timer = setTimeout(() => this.#turn(), wait);
  }
}
