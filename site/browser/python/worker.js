// @ts-check
// The page's Python, in a worker: only terminating it stops an endless loop.
//
// Messages to it: {start, tries, language} once; {preload} to import what most pages need; {order, from, steps}
// to run steps. A newer order to run steps cancels an older one between two steps. A step is one of
//   {code, alt, ours, late}  a cell to run; see Page.run in page_runner.py
//   {blocks}                 blocks of prose, to decide which follow; see kit/roofkit/following.py
//   {needed}                 cells, to find those that the last one depends on
// A step that fails ends its order unless it has `continueOnError`.
// `tries` has the counts by which checks decide on hints; the page passes them to the next worker.

const HERE = new URL("./", self.location.href).href; // a folder named after the hash of its files
const CACHE = "roofline-python";
let runtime; // address of Pyodide's folder, also named after the hash of its files
let total; // bytes to fetch
let received = 0;
let page; // the Page of page_runner.py
let latest; // number of the newest order

// ---- fetching, with progress, through the browser's cache

const fetchFromServer = self.fetch.bind(self);

async function openCache() {
  try {
    const cache = await caches.open(CACHE);
    for (const { url } of await cache.keys()) {
      if (!url.startsWith(HERE) && !url.startsWith(runtime)) await cache.delete(url);
    }
    return cache;
  } catch {
    return undefined; // storage is disabled
  }
}

let opening;
self.fetch = async (/** @type {any} */ address, options) => {
  opening ??= openCache();
  const cache = await opening;
  const url = new URL(address.url ?? address, self.location.href).href;
  const cached = await cache?.match(url);
  if (cached) return withProgress(cached);
  const answer = await fetchFromServer(address, options);
  if (!answer.ok) throw new Error(`${answer.status}: ${url}`);
  cache?.put(url, answer.clone()).catch(() => {}); // quota exceeded: fetch again next time
  return withProgress(answer);
};

function withProgress(answer) {
  const reader = answer.body.getReader();
  const body = new ReadableStream({
    async pull(controller) {
      const { done, value } = await reader.read();
      if (done) return controller.close();
      received += value.length;
      postMessage({ received, total });
      controller.enqueue(value);
    },
  });
  return new Response(body, { status: answer.status, headers: answer.headers });
}

// ---- starting

const PACKAGES = "/lib/python3.12/site-packages";
const COURSE = "/course";
const START_PAGE = `
import sys
sys.path[:0] = ["${COURSE}", "${COURSE}/kit"]
import js
from browser.python.page_runner import start_page
start_page(js.reportCall)`;
const fetched = async (address) => (await fetch(address)).arrayBuffer();

// Called by Python when a check calls a function, and with 0 when the call has ended.
self.reportCall = (call, seconds) => postMessage({ order: latest, call, seconds });

const ORIGINAL = "en"; // the language of the messages in the code

async function start(tries, language) {
  const files = await (await fetchFromServer(`${HERE}files.json`)).json();
  total = files.bytes;
  runtime = new URL(files.pyodide, HERE).href;
  /** @type {[Promise<ArrayBuffer>, string][]} */
  const archives = [
    [fetched(`${runtime}packages.zip`), PACKAGES],
    [fetched(`${HERE}course.zip`), COURSE],
  ];
  if (language !== ORIGINAL) archives.push([fetched(`${HERE}words-${language}.zip`), COURSE]);
  importScripts(`${runtime}pyodide.js`);
  const python = await loadPyodide({
    indexURL: runtime,
    stdLibURL: `${runtime}library.zip`,
    env: { MPLBACKEND: "agg", HOME: "/home/learner" },
  });
  for (const [archive, extractDir] of archives) {
    python.unpackArchive(await archive, "zip", { extractDir });
  }
  page = python.runPython(START_PAGE);
  if (language !== ORIGINAL) page.speak(language);
  if (tries) page.take_tries(tries);
}

// Import what most pages need, until an order to run steps arrives.
async function preload() {
  for (const name of JSON.parse(page.preloads())) {
    if (latest !== undefined) return;
    page.preload(name);
    await nextTask();
  }
}

// ---- running

// Wait for a new task of the event loop, so that pending messages are handled first.
const nextTask = () =>
  new Promise((resolve) => {
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = () => resolve();
    port2.postMessage(null);
  });

async function run({ order, from, steps }) {
  latest = order;
  page.rewind_to(from);
  for (const [place, { code, alt, ours, late, blocks, needed, continueOnError }] of steps.entries()) {
    const step = from + place;
    postMessage({ order, begins: step });
    if (blocks) postMessage({ order, step, blocks: JSON.parse(page.blocks(JSON.stringify(blocks))) });
    else if (needed) postMessage({ order, step, needed: JSON.parse(page.needed(needed)) });
    else {
      const answer = JSON.parse(page.run(code, alt, Boolean(ours), late ?? 0));
      postMessage({ order, step, ...answer });
      if (answer.failed && !continueOnError) break;
    }
    await nextTask();
    if (latest !== order) return;
  }
  postMessage({ order, done: true, tries: page.tries() });
}

onmessage = async ({ data }) => {
  try {
    if (data.start) {
      await start(data.tries, data.language);
      postMessage({ ready: true });
    } else if (data.preload) await preload();
    else await run(data);
  } catch (error) {
    postMessage({ broken: String(error?.message ?? error) });
  }
};
