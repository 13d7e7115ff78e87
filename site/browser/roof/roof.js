// @ts-check
// Measures the roof of the reader's browser, once the figure's button has been pressed. Each core runs
// the same kernel of WebAssembly, in a worker of its own; what all do in a second is added up. Three
// repetitions say how far this can be trusted: a page can't ask the system what else is running.

const REPETITIONS = 3;
const MILLISECONDS = 400; // of one repetition
const TOO_FAR_APART = 0.15; // share by which the repetitions of a quiet machine don't differ
const MAX_WORKERS = 16;
const MAX_BYTES = 256e6; // of all workers' arrays, larger than most caches
const NEAREST_BYTES = 16_000; // fits into the cache next to any core
const PAGE_BYTES = 65_536; // WebAssembly allocates memory in pages

// Runs in each worker, as text from a blob: so it also starts on a page that was opened as a file.
function inWorker() {
  const SHORTEST = 5; // ms of a call of the kernel: clocks of browsers are coarse
  let kernels;
  const answers = {
    async prepare({ code, pages }) {
      const memory = new WebAssembly.Memory({ initial: pages });
      kernels = (await WebAssembly.instantiate(code, { page: { memory } })).instance.exports;
      // Pages that nobody has written are read far too fast, and some numbers are slow to compute with.
      const numbers = new Float32Array(memory.buffer);
      for (let i = 0; i < numbers.length; i += 1) numbers[i] = ((i % 61) - 30) / 32;
    },
    // Return the passes per second of a kernel, after some that find how many a call needs.
    run({ bytes, milliseconds }) {
      const call = (times) => (bytes ? kernels.read(0, bytes, times) : kernels.multiply_add(times));
      let times = 1;
      for (let took = 0; took < SHORTEST; times *= took < SHORTEST ? 4 : 1) {
        const before = performance.now();
        call(times);
        took = performance.now() - before;
      }
      const begin = performance.now();
      let passes = 0;
      let now = begin;
      for (; now < begin + milliseconds; now = performance.now()) {
        call(times);
        passes += times;
      }
      return (1e3 * passes) / (now - begin);
    },
  };
  self.onmessage = async ({ data }) => {
    try {
      self.postMessage({ answer: await answers[data.request](data) });
    } catch (error) {
      self.postMessage({ error: String(error) });
    }
  };
}

// Return the kernels that this browser can run, or why there are none.
function supported() {
  if (typeof WebAssembly !== "object" || typeof Worker !== "function") {
    return { why: phrase("This browser has no WebAssembly, or no workers, and can’t be measured.") };
  }
  for (const by of ["fused", "plain"]) {
    const code = Uint8Array.from(atob(KERNELS[by]), (sign) => sign.charCodeAt(0));
    if (WebAssembly.validate(code)) return { code, fused: by === "fused" };
  }
  return { why: phrase("This browser’s WebAssembly has no SIMD, and can’t be measured with it.") };
}

// Return the three repetitions of each roof: multiply-add in FLOP/s, and reading in B/s.
async function measure(code, count, bytes, say, signal) {
  const address = URL.createObjectURL(new Blob([`(${inWorker})()`], { type: "text/javascript" }));
  const workers = Array.from({ length: count }, () => new Worker(address));
  const ask = (request, values) =>
    Promise.all(workers.map((worker) => new Promise((resolve, reject) => {
      signal.addEventListener("abort", () => reject(signal.reason));
      worker.onerror = (event) => reject(event.message);
      worker.onmessage = ({ data: { answer, error } }) => (error ? reject(error) : resolve(answer));
      worker.postMessage({ request, ...values });
    })));
  const kernels = [
    { name: "peak", what: phrase("multiply-add"), amount: 12 * 4 * 2, bytes: 0 },
    { name: "read", what: phrase("read"), amount: bytes, bytes },
    { name: "nearest", what: phrase("read again"), amount: NEAREST_BYTES, bytes: NEAREST_BYTES },
  ];
  const found = { peak: [], read: [], nearest: [] };
  try {
    await ask("prepare", { code, pages: bytes / PAGE_BYTES });
    for (let i = 0; i < REPETITIONS * kernels.length; i += 1) {
      const { name, what, amount, bytes: read } = kernels[i % kernels.length];
      say(what, i / (REPETITIONS * kernels.length));
      const rates = await ask("run", { bytes: read, milliseconds: MILLISECONDS });
      found[name].push(amount * rates.reduce((sum, one) => sum + one, 0));
    }
    return found;
  } finally {
    for (const worker of workers) worker.terminate();
    URL.revokeObjectURL(address);
  }
}

// `live` is what the figure offers: its view, its update, the reader's own chip, and how it writes numbers.
function panel(figure, live) {
  ({ text, percent } = live);
  const part = (name) => figure.querySelector(`[data-part="${name}"]`);
  const [press, stop, own, bar, told] = ["measure", "stop", "own", "bar", "told"].map(part);
  let best;

  function show(isBusy) {
    press.hidden = isBusy;
    stop.hidden = bar.hidden = !isBusy;
    own.hidden = isBusy || !best;
  }
  function say(what, share) {
    bar.value = share;
    const words = phrase("Measuring: {what}.", { what });
    if (told.textContent !== words) told.textContent = words;
  }
  function refuse(why) {
    told.textContent = why;
    live.view.set("why", phrase("Nothing was measured."));
    live.view.set("measured", 0);
  }
  function draw(found, { count, bytes, fused, seconds }) {
    const entries = Object.entries(found);
    const spread = Math.max(...entries.map(([, all]) => 1 - Math.min(...all) / Math.max(...all)));
    best = Object.fromEntries(entries.map(([name, all]) => [name, Math.max(...all)]));
    live.view.set("found", best);
    live.view.set("told", {
      seconds: text(seconds, "s"),
      workers: count === 1 ? phrase("one worker") : phrase("{workers} workers", { workers: count }),
      by: fused ? phrase("fused multiply-adds") : phrase("multiplications and additions one by one"),
      memory: text(bytes, "B"),
      spread: percent(spread),
    });
    live.view.set("why", "");
    live.view.set("measured", 1);
    told.textContent = spread < TOO_FAR_APART
      ? phrase("Measured. The figures are below the drawing.")
      : phrase("Measured, but three runs of the same work lie up to {spread} apart: something else uses this machine. Measure again when it is quiet.", { spread: percent(spread) });
  }

  async function begin() {
    best = undefined;
    const { code, fused, why } = supported();
    const count = Math.min(MAX_WORKERS, navigator.hardwareConcurrency || 1);
    const bytes = Math.floor(MAX_BYTES / count / PAGE_BYTES) * PAGE_BYTES;
    const stopped = new AbortController();
    stop.onclick = () => stopped.abort();
    figure.dataset.measured = "running";
    show(true);
    stop.focus();
    const start = performance.now();
    try {
      if (!code) refuse(why);
      else {
        const found = await measure(code, count, bytes, say, stopped.signal);
        draw(found, { count, bytes, fused, seconds: (performance.now() - start) / 1e3 });
      }
    } catch (error) {
      refuse(stopped.signal.aborted ? phrase("Stopped.") : phrase("The measurement failed: {error}.", { error }));
    }
    const back = [stop, document.body].includes(document.activeElement);
    show(false);
    if (back) (best ? own : press).focus();
    await live.follow();
    figure.dataset.measured = best ? "done" : "refused";
  }

  press.addEventListener("click", begin);
  own.addEventListener("click", () => {
    live.keepOwn({ peak: best.peak, bandwidth: best.read });
    told.textContent = phrase("My own chip now has this peak and this bandwidth. Choose it in any figure of the course that has a chip.");
  });
  return begin();
}

window.rooflineMeasure = panel;
