// @ts-check
// The page's Python, in a worker. See python.js.

const HERE = new URL("./", self.location.href).href; // a folder named after the hash of its files
const ORIGINAL = "en"; // the language of the messages in the code
const START = `
import sys
sys.path[:0] = ["/course", "/course/kit"]
from browser.python import page
page.start`;
let page; // the Page of page.py
let total; // bytes to fetch
let received = 0;

const broken = (error) => postMessage({ broken: String(error?.message ?? error) });
const fetchOnly = self.fetch.bind(self);
// Pyodide waits forever for a file that does not come, so this reports it.
self.fetch = async (/** @type {any} */ address, options) => {
  const answer = await fetchOnly(address, options).catch((error) => {
    broken(error);
    throw error;
  });
  if (!answer.ok) throw new Error(`${answer.status}: ${answer.url}`);
  const counted = new TransformStream({
    transform(chunk, controller) {
      received += chunk.length;
      postMessage({ received, total });
      controller.enqueue(chunk);
    },
  });
  answer.body.pipeTo(counted.writable).catch(broken);
  return new Response(counted.readable, { status: answer.status, headers: answer.headers });
};

async function start(language) {
  const files = await (await fetchOnly(`${HERE}files.json`)).json();
  const runtime = new URL(files.pyodide, HERE).href;
  total = files.bytes;
  const archives = [
    [`${runtime}packages.zip`, "/lib/python3.12/site-packages"],
    [`${HERE}course.zip`, "/course"],
  ];
  if (language !== ORIGINAL) archives.push([`${HERE}words-${language}.zip`, "/course"]);
  const arriving = archives.map(async ([address]) => (await fetch(address)).arrayBuffer());
  importScripts(`${runtime}pyodide.js`);
  const env = { MPLBACKEND: "agg", HOME: "/home/learner" };
  const python = await loadPyodide({ indexURL: runtime, stdLibURL: `${runtime}library.zip`, env });
  for (const [number, [, extractDir]] of archives.entries()) {
    python.unpackArchive(await arriving[number], "zip", { extractDir });
  }
  page = python.runPython(START)(language);
}

function run({ steps, target }) {
  for (let step = page.rewind(JSON.stringify(steps), target); step < steps.length; step += 1) {
    const answer = JSON.parse(page.run(JSON.stringify(steps[step])));
    postMessage({ step, ...answer });
    if (answer.failed && !steps[step].continueOnError) break;
  }
  postMessage({ done: true });
}

onmessage = async ({ data }) => {
  try {
    if (data.language) await start(data.language).then(() => postMessage({ ready: true }));
    else run(data);
  } catch (error) {
    broken(error);
  }
};
