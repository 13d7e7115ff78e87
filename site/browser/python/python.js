// @ts-check
// The page's side of python_worker.js: starts Python, runs steps, stops it.

const RAN = "roofline-ran-python"; // in sessionStorage: this tab has run Python before

// Return a Python with a worker of its own: a figure that reads a file neither stops what a cell runs nor waits
// for it. A step of a run is {code} of a cell, or {values}: for each value in the text its expression and
// power of ten. With it:
//   alt              words for the cell's figures
//   built            the cell's code as built: what its lines print is in the page's language
//   ours             the page hides this code; its assertions hold for the page as built
//   continueOnError  an error does not end the order
//   seconds          a limit; after it Python is terminated, and run() rejects with an error that has the `step`
export function newPython() {
  let worker = null;
  let ready = null; // a promise
  let rejectReady = (_error) => {};
  let running = null; // the order: {order, steps, onStep, resolve, reject}
  let orders = 0;
  let timer = 0;
  let tries = null; // counts by which checks decide on hints, for the next worker
  let tell = (_received, _total) => {};

  // Call a function with the bytes received, and those of all, while Python is fetched.
  const onProgress = (call) => (tell = call);

  // Start Python, unless it has started; resolve when it is ready.
  function start() {
    ready ??= new Promise((resolve, reject) => {
      rejectReady = reject;
      worker = new Worker(new URL("python_worker.js", import.meta.url));
      worker.onerror = ({ message }) => stop(new Error(message || phrase("its script could not be loaded")));
      worker.onmessage = ({ data }) => (data.ready ? resolve(null) : take(data));
      worker.postMessage({ language: document.documentElement.lang.replace("-", "_"), tries });
    });
    return ready;
  }

  // Run all steps from the first one that has changed since the last run, at the latest from `target`.
  // Pass each result to `onStep`: {step, outputs, failed}, or {step, values}. Resolve with true when
  // all were run, with false when a newer order replaced this one.
  async function run(steps, target, onStep) {
    await start();
    leave()?.resolve(false);
    orders += 1;
    const order = orders;
    return new Promise((resolve, reject) => {
      running = { order, steps, onStep, resolve, reject };
      worker.postMessage({ order, steps, target });
    });
  }

  // Terminate Python, whatever it does: only this stops an endless loop. The next run starts it anew.
  function stop(error = new Error("stopped")) {
    worker?.terminate();
    worker = ready = null;
    rejectReady(error);
    leave()?.reject(error);
  }

  function take(data) {
    if (data.broken !== undefined) return stop(new Error(data.broken)); // some errors say nothing
    if (data.total) return tell(data.received, data.total);
    if (running?.order !== data.order) return undefined;
    if (data.begins !== undefined) return limit(data.begins, running.steps[data.begins].seconds);
    if (!data.done) return running.onStep(data);
    tries = data.tries;
    try {
      sessionStorage.setItem(RAN, "1");
    } catch {
      // Storage is disabled: later pages start Python when a button is pressed.
    }
    return leave().resolve(true);
  }

  function limit(step, seconds) {
    clearTimeout(timer);
    const late = () => stop(Object.assign(new Error(phrase("it took too long")), { step }));
    if (seconds) timer = setTimeout(late, 1000 * seconds);
  }

  // Return the order that was running.
  function leave() {
    const left = running;
    running = null;
    clearTimeout(timer);
    return left;
  }

  return { onProgress, start, run, stop };
}

// The Python of the page's cells.
export const python = newPython();

// On a later page of the tab: start it before a button is pressed, and import what most cells need.
export async function warmUp() {
  const imports = ["import rooflib.plots", "import matplotlib.backends.backend_svg"];
  await python.run(imports.map((code) => ({ code })), 0, () => {});
}
