// @ts-check
// The page's side of worker.js: starts the worker, sends it orders, terminates it.

import { Countdown } from "./countdown.js";

// A step exceeded its limit and Python was terminated. `step` is the step, `call` the number of the
// checked call that took too long, 0 if it was the step itself.
export class StepTimeout extends Error {
  constructor(step, call) {
    super(phrase("it took too long"));
    this.step = step;
    this.call = call;
  }
}

// Dispatches "progress" while files arrive, "ran" after each completed order, and "ended" when Python
// was terminated.
export class Engine extends EventTarget {
  #worker = null;
  #ready = null;
  /** @param {Error} _error */
  #rejectReady = (_error) => {};
  #order = 0;
  #running = null;
  #countdown = new Countdown();
  #tries = null; // counts by which checks decide on hints, for the next worker

  get isRunning() {
    return this.#running !== null;
  }

  // Start Python; resolve when it is ready. Later calls return the same promise.
  start() {
    this.#ready ??= /** @type {Promise<void>} */ (new Promise((resolve, reject) => {
      this.#rejectReady = reject;
      this.#worker = new Worker(new URL("worker.js", import.meta.url));
      this.#worker.onmessage = ({ data }) => (data.ready ? resolve() : this.#onMessage(data));
      this.#worker.onerror = ({ message }) =>
        this.#end(new Error(message || phrase("its script could not be loaded")));
      const { lang } = document.documentElement;
      this.#worker.postMessage({ start: true, tries: this.#tries, language: lang.replace("-", "_") });
    }));
    return this.#ready;
  }

  // Start Python, unless it has started, and import what most pages need.
  async preload() {
    await this.start();
    this.#worker.postMessage({ preload: true });
  }

  // Start Python, unless it has started, and run `steps`, the first of which is number `from`. Pass each
  // result to `onStep`. Resolve with true when all were run, with false when a newer order replaced this
  // one. A step has a limit of `seconds`; while one of its checks calls a function, that call's limit
  // applies instead.
  async run(from, steps, onStep) {
    await this.start();
    this.#running?.resolve(false);
    const order = ++this.#order;
    return new Promise((resolve, reject) => {
      this.#running = { order, from, steps, step: from, onStep, resolve, reject };
      this.#worker.postMessage({ order, from, steps });
    });
  }

  // Terminate Python, whatever it is doing. The next run starts a new one.
  stop() {
    this.#end(new Error("stopped"));
  }

  #onMessage(data) {
    if (data.broken) return this.#end(new Error(data.broken));
    if (data.total) {
      return this.dispatchEvent(new CustomEvent("progress", { detail: data }));
    }
    const running = this.#running;
    if (running?.order !== data.order) return undefined;
    if (data.done) {
      this.#running = null;
      this.#countdown.stop();
      this.#tries = data.tries;
      this.dispatchEvent(new Event("ran"));
      return running.resolve(true);
    }
    if (data.begins !== undefined) {
      running.step = data.begins;
      return this.#setLimit(running);
    }
    if (data.call !== undefined) return this.#setLimit(running, data.call, data.seconds);
    return running.onStep(data);
  }

  // Restart the countdown with the limit of a call, or else of the current step.
  #setLimit({ from, steps, step }, call = 0, seconds = 0) {
    const limit = seconds || steps[step - from].seconds;
    if (limit) this.#countdown.start(limit, () => this.#end(new StepTimeout(step, call)));
    else this.#countdown.stop();
  }

  #end(error) {
    this.#countdown.stop();
    this.#worker?.terminate();
    this.#worker = this.#ready = null;
    const running = this.#running;
    this.#running = null;
    this.#rejectReady(error);
    running?.reject(error);
    this.dispatchEvent(new Event("ended"));
  }
}
