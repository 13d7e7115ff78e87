// @ts-check
// The page's side of python_worker.js: starts Python, runs steps, stops it.

const RAN = "roofline-ran-python"; // in sessionStorage: this tab has run Python before

// A step is {code} of a cell, or {values}: expressions in the text. With it:
//   alt              words for the cell's figures
//   built            the cell's code as built: what its lines print is in the page's language
//   ours             the page hides this code; its assertions hold for the page as built
//   continueOnError  an error does not end the order
//   seconds          a limit; after it Python is terminated, and run() rejects with a Late
export class Late extends Error {
  constructor(step) {
    super(phrase("it took too long"));
    this.step = step;
  }
}

export class Python {
  #worker = null;
  #ready = null;
  /** @param {Error} _error */
  #rejectReady = (_error) => {};
  #running = null;
  #order = 0;
  #timer = 0;
  #tries = null; // counts by which checks decide on hints, for the next worker
  onProgress = (_received, _total) => {};

  get isRunning() {
    return this.#running !== null;
  }

  // Start Python, unless it has started; resolve when it is ready.
  start() {
    this.#ready ??= /** @type {Promise<void>} */ (new Promise((resolve, reject) => {
      this.#rejectReady = reject;
      this.#worker = new Worker(new URL("python_worker.js", import.meta.url));
      this.#worker.onerror = ({ message }) =>
        this.stop(new Error(message || phrase("its script could not be loaded")));
      this.#worker.onmessage = ({ data }) => (data.ready ? resolve() : this.#take(data));
      const language = document.documentElement.lang.replace("-", "_");
      this.#worker.postMessage({ language, tries: this.#tries });
    }));
    return this.#ready;
  }

  // Run all steps from the first one that has changed since the last run, at the latest from `target`.
  // Pass each result to `onStep`: {step, outputs, failed}, or {step, values}. Resolve with true when
  // all were run, with false when a newer order replaced this one.
  async run(steps, target, onStep) {
    await this.start();
    this.#leave()?.resolve(false);
    const order = ++this.#order;
    return new Promise((resolve, reject) => {
      this.#running = { order, steps, onStep, resolve, reject };
      this.#worker.postMessage({ order, steps, target });
    });
  }

  // Terminate Python, whatever it does: only this stops an endless loop. The next run starts it anew.
  stop(error = new Error("stopped")) {
    this.#worker?.terminate();
    this.#worker = this.#ready = null;
    this.#rejectReady(error);
    this.#leave()?.reject(error);
  }

  #take(data) {
    if (data.broken) return this.stop(new Error(data.broken));
    if (data.total) return this.onProgress(data.received, data.total);
    const running = this.#running;
    if (running?.order !== data.order) return undefined;
    if (data.begins !== undefined) {
      return this.#limit(data.begins, running.steps[data.begins].seconds);
    }
    if (!data.done) return running.onStep(data);
    this.#leave();
    this.#tries = data.tries;
    try {
      sessionStorage.setItem(RAN, "1");
    } catch {
      // Storage is disabled: later pages start Python when a button is pressed.
    }
    return running.resolve(true);
  }

  #limit(step, seconds) {
    clearTimeout(this.#timer);
    if (seconds) this.#timer = setTimeout(() => this.stop(new Late(step)), 1000 * seconds);
  }

  // Return the order that was running.
  #leave() {
    const running = this.#running;
    this.#running = null;
    clearTimeout(this.#timer);
    return running;
  }
}

// The Python of the page's cells.
export const python = new Python();

// On a later page of the tab: start it before a button is pressed, and import what most cells need.
export async function warmUp() {
  const imports = ["import rooflib.plots", "import matplotlib.backends.backend_svg"];
  await python.run(imports.map((code) => ({ code })), 0, () => {});
}
