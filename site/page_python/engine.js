// The reader's side of worker.js: starts it, gives it orders, ends it.

import { Watch } from "./watch.js";

// Why Python ended while it ran a step with a limit: `step`, and the number of the checked call that
// took too long, 0 if it was the step itself.
export class TooLate extends Error {
  constructor(step, call) {
    super("it took too long");
    Object.assign(this, { step, call });
  }
}

export class Engine extends EventTarget {
  #worker = null;
  #ready = null;
  #fail = () => {};
  #order = 0;
  #asked = null;
  #watch = new Watch();
  #tries = null; // what the checks have counted, for the next worker

  get isRunning() {
    return this.#asked !== null;
  }

  // Resolves when Python is there; tells of the way there by events "progress".
  start() {
    this.#ready ??= new Promise((done, failed) => {
      this.#fail = failed;
      this.#worker = new Worker(new URL("worker.js", import.meta.url));
      this.#worker.onmessage = ({ data }) => (data.ready ? done() : this.#heard(data));
      this.#worker.onerror = (event) => {
        event.preventDefault();
        this.#end(new Error(event.message || "its script could not be loaded"));
      };
      this.#worker.postMessage({ start: true, tries: this.#tries });
    });
    return this.#ready;
  }

  // Runs steps from one on. `onStep` gets what each gave; the promise says whether all were run,
  // and is false too where a newer order has come between. A step with `seconds` may take so long;
  // while one of its checks calls a function, that call's own limit counts.
  async run(from, steps, onStep) {
    await this.start();
    this.#asked?.done(false);
    const order = ++this.#order;
    return new Promise((done, failed) => {
      this.#asked = { order, from, steps, step: from, onStep, done, failed };
      this.#worker.postMessage({ order, from, steps });
    });
  }

  // Ends Python, whatever it is doing. The next run starts a new one.
  stop() {
    this.#end(new Error("stopped"));
  }

  #heard(data) {
    if (data.broken) return this.#end(new Error(data.broken));
    if (data.total) {
      return this.dispatchEvent(new CustomEvent("progress", { detail: data }));
    }
    if (data.kept) return this.dispatchEvent(new Event("kept"));
    const asked = this.#asked;
    if (asked?.order !== data.order) return undefined;
    if (data.done) {
      this.#asked = null;
      this.#watch.stop();
      this.#tries = data.tries;
      return asked.done(true);
    }
    if (data.begins !== undefined) {
      asked.step = data.begins;
      this.#limit(asked);
    } else if (data.call !== undefined) return this.#limit(asked, data.call, data.seconds);
    return asked.onStep(data);
  }

  // From now on, what runs may take this long: a call, or else its step.
  #limit({ from, steps, step }, call = 0, seconds = 0) {
    const most = seconds || steps[step - from].seconds;
    if (most) this.#watch.start(most, () => this.#end(new TooLate(step, call)));
    else this.#watch.stop();
  }

  #end(error) {
    this.#watch.stop();
    this.#worker?.terminate();
    this.#worker = this.#ready = null;
    const asked = this.#asked;
    this.#asked = null;
    this.#fail(error);
    asked?.failed(error);
    this.dispatchEvent(new Event("ended"));
  }
}
