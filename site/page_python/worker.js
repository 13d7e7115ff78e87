// The page's Python, in a thread of its own: only its end stops a loop that never ends.
// Told {start} once, then {order} as often as wanted; a newer order ends an older one between steps.
// A step that fails ends its order, unless it has `goOn`. A step is a cell's code, or expressions
// whose values are asked (`values`), or cells of which it is asked which ones the last of them needs
// (`needed`). `tries` is what the checks count; it outlives this thread.

const HERE = new URL("./", self.location.href).href; // a folder named after what is in it
const KEPT = "roofline-python";
importScripts("kept_start.js");
let pyodide; // such a folder too
let total = 0;
let got = 0;
let page;
let latest;

// ---- fetching, counted, and kept by the browser for the next page and the next visit

const fetchAnew = self.fetch.bind(self);

async function keptFiles() {
  try {
    const cache = await caches.open(KEPT);
    for (const { url } of await cache.keys()) {
      if (!url.startsWith(HERE) && !url.startsWith(pyodide)) await cache.delete(url);
    }
    return cache;
  } catch {
    return null; // this browser keeps nothing here
  }
}

let shelf;
self.fetch = async (address, options) => {
  shelf ??= keptFiles();
  const url = new URL(address.url ?? address, self.location.href).href;
  const kept = await (await shelf)?.match(url);
  if (kept) return counted(kept);
  const answer = await fetchAnew(address, options);
  if (!answer.ok) throw new Error(`${url} gave ${answer.status}`);
  const copy = answer.clone();
  shelf.then((cache) => cache?.put(url, copy)).catch(() => {}); // no room: fetched again then
  return counted(answer);
};

function counted(answer) {
  const reader = answer.body.getReader();
  const body = new ReadableStream({
    async pull(controller) {
      const { done, value } = await reader.read();
      if (done) return controller.close();
      got += value.length;
      postMessage({ got, total });
      controller.enqueue(value);
    },
  });
  return new Response(body, { status: answer.status, headers: answer.headers });
}

// ---- starting

const PACKAGES = "/lib/python3.12/site-packages";
const COURSE = "/course";
const LOAD = `
import sys
sys.path[:0] = ["${COURSE}", "${COURSE}/kit"]
from page_python.page_runner import loaded
loaded()`;
const BEGIN = `
import js
from page_python.page_runner import started
started(js.tellCall)`;
const fetched = async (address) => (await fetch(address)).arrayBuffer();
const tellKept = () => postMessage({ kept: true });
let keepLater = () => {};

// Python calls this when a check calls a function, and with 0 when that has ended.
self.tellCall = (call, seconds) => postMessage({ order: latest, call, seconds });

async function start(tries) {
  const files = await (await fetchAnew(`${HERE}files.json`)).json();
  pyodide = new URL(files.pyodide, HERE).href;
  const options = {
    indexURL: pyodide,
    stdLibURL: `${pyodide}library.zip`,
    env: { MPLBACKEND: "agg", HOME: "/home/learner" },
  };
  shelf ??= keptFiles();
  const python = (await startAsKept(files, options)) ?? (await startAnew(files, options));
  page = python.runPython(BEGIN);
  if (tries) page.take_tries(tries);
}

async function startAsKept(files, options) {
  const cache = await shelf;
  try {
    const found = await kept(cache, HERE);
    if (!found) return null;
    total = files.again;
    importScripts(`${pyodide}pyodide.js`, `${pyodide}pyodide.asm.js`);
    return await goneOn(found, _createPyodideModule, options);
  } catch {
    await forget(cache, HERE).catch(() => {});
    return null;
  }
}

async function startAnew(files, options) {
  total = files.bytes;
  const unpacked = [
    [fetched(`${pyodide}packages.zip`), PACKAGES],
    [fetched(`${HERE}course.zip`), COURSE],
  ];
  importScripts(`${pyodide}pyodide.js`);
  const python = await loadPyodide(options);
  for (const [archive, extractDir] of unpacked) {
    python.unpackArchive(await archive, "zip", { extractDir });
  }
  python.runPython(LOAD);
  const cache = await shelf;
  try {
    const start = cache && taken(python, [PACKAGES, COURSE]);
    if (start) keepLater = () => keep(cache, HERE, start).then(tellKept, () => {});
  } catch {
    // Something is in this Python that cannot be kept: each page starts anew.
  }
  return python;
}

// ---- running

// A task of its own, after which messages that have come meanwhile were heard.
const breath = () =>
  new Promise((go) => {
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = () => go();
    port2.postMessage(0);
  });

async function follow({ order, from, steps }) {
  latest = order;
  page.go_back_to(from);
  for (const [place, { code, alt, ours, late, values, needed, goOn }] of steps.entries()) {
    const step = from + place;
    postMessage({ order, begins: step });
    if (values) postMessage({ order, step, values: JSON.parse(page.values(values)) });
    else if (needed) postMessage({ order, step, needed: JSON.parse(page.needed(needed)) });
    else {
      const answer = JSON.parse(page.run(code, alt, Boolean(ours), late ?? 0));
      postMessage({ order, step, ...answer });
      if (answer.failed && !goOn) break;
    }
    await breath();
    if (latest !== order) return;
  }
  postMessage({ order, done: true, tries: page.tries() });
  keepLater(); // a reader waits for nothing now
  keepLater = () => {};
}

onmessage = async ({ data }) => {
  try {
    if (data.start) {
      await start(data.tries);
      postMessage({ ready: true });
    } else await follow(data);
  } catch (error) {
    postMessage({ broken: String(error?.message ?? error) });
  }
};
