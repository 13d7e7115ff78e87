// The reader's side of worker.js: starts it, gives it orders, ends it.

export class Engine extends EventTarget {
  #worker = null;
  #ready = null;
  #fail = () => {};
  #order = 0;
  #asked = null;

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
        this.#break(event.message || "its script could not be loaded");
      };
      this.#worker.postMessage({ start: true });
    });
    return this.#ready;
  }

  // Runs steps from one on. `onStep` gets what each gave; the promise says whether all were run,
  // and is false too where a newer order has come between.
  async run(from, steps, onStep) {
    await this.start();
    this.#asked?.done(false);
    const order = ++this.#order;
    return new Promise((done, failed) => {
      this.#asked = { order, onStep, done, failed };
      this.#worker.postMessage({ order, from, steps });
    });
  }

  // Ends Python, whatever it is doing. The next run starts a new one.
  stop() {
    this.#end("stopped");
  }

  #heard(data) {
    if (data.broken) return this.#break(data.broken);
    if (data.total) {
      return this.dispatchEvent(new CustomEvent("progress", { detail: data }));
    }
    if (data.kept) return this.dispatchEvent(new Event("kept"));
    const asked = this.#asked;
    if (asked?.order !== data.order) return undefined;
    if (data.done) {
      this.#asked = null;
      return asked.done(true);
    }
    return asked.onStep(data);
  }

  #break(reason) {
    this.#end(reason);
  }

  #end(reason) {
    this.#worker?.terminate();
    this.#worker = this.#ready = null;
    const error = new Error(reason);
    const asked = this.#asked;
    this.#asked = null;
    this.#fail(error);
    asked?.failed(error);
    this.dispatchEvent(new Event("ended"));
  }
}
