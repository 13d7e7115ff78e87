// @ts-check
// The page's side of python_worker.js: starts Python, runs steps, stops it.

const RAN = "roofline-ran-python"; // in sessionStorage: this tab has run Python before

// A step of a run is {code} of a cell, or {values}: for each value in the text its expression and
// power of ten. With it:
//   alt              words for the cell's figures
//   built            the cell's code as built: what its lines print is in the page's language
//   ours             the page hides this code; its assertions hold for the page as built
//   continueOnError  an error does not end the run

let worker = null;
let ready = null; // a promise
let rejectReady = (_error) => {};
let running = null; // {onStep, resolve, reject}
let last = Promise.resolve(); // of the runs
let timer = 0;
let tell = (_received, _total) => {};

// Call a function with the bytes received, and those of all, while Python is fetched.
export const onProgress = (call) => (tell = call);

// Start Python, unless it has started; resolve when it is ready.
export function start() {
  ready ??= new Promise((resolve, reject) => {
    rejectReady = reject;
    worker = new Worker(new URL("python_worker.js", import.meta.url));
    worker.onerror = ({ message }) => stop(new Error(message || phrase("its script could not be loaded")));
    worker.onmessage = ({ data }) => (data.ready ? resolve(null) : take(data));
    worker.postMessage({ language: document.documentElement.lang.replace("-", "_") });
  });
  return ready;
}

// After earlier runs, run all steps from the first one that has changed since, at the latest from `target`.
// Pass each result to `onStep`: {step, outputs, failed}, or {step, values}. After so many seconds, terminate
// Python, and reject with an error that `isLate`.
export function run(steps, target, onStep, seconds = 0) {
  const started = start();
  const asked = worker;
  last = last.catch(() => {}).then(() => started).then(() => {
    if (worker !== asked) throw new Error("stopped");
    const late = () => stop(Object.assign(new Error(phrase("it took too long")), { isLate: true }));
    if (seconds) timer = setTimeout(late, 1000 * seconds);
    return new Promise((resolve, reject) => {
      running = { onStep, resolve, reject };
      worker.postMessage({ steps, target });
    });
  });
  return last;
}

// Terminate Python, whatever it does: only this stops an endless loop. The next run starts it anew.
export function stop(error = new Error("stopped")) {
  worker?.terminate();
  worker = ready = null;
  rejectReady(error);
  leave()?.reject(error);
}

function take(data) {
  if (data.broken !== undefined) return stop(new Error(data.broken)); // some errors say nothing
  if (data.total) return tell(data.received, data.total);
  if (!data.done) return running.onStep(data);
  try {
    sessionStorage.setItem(RAN, "1");
  } catch {
    // Storage is disabled: later pages start Python when a button is pressed.
  }
  return leave().resolve();
}

// Return the run that is over.
function leave() {
  const left = running;
  running = null;
  clearTimeout(timer);
  return left;
}

// On a later page of the tab: start it before a button is pressed, and import what most cells need.
export async function warmUp() {
  const imports = ["import rooflib.plots", "import matplotlib.backends.backend_svg"];
  await run(imports.map((code) => ({ code })), 0, () => {});
}
