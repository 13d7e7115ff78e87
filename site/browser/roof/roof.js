// @ts-check
// Measures the roof of the reader's browser when the figure's button is pressed. Each core runs
// the same kernel of WebAssembly, in a worker of its own; what all do in a second is added up. A page
// can't ask the system what else is running, so three repetitions must agree.

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
  async function prepare(code, pages) {
    const memory = new WebAssembly.Memory({ initial: pages });
    kernels = (await WebAssembly.instantiate(code, { page: { memory } })).instance.exports;
    // Pages that nobody has written are read far too fast, and some numbers are slow to compute with.
    const numbers = new Float32Array(memory.buffer);
    for (let i = 0; i < numbers.length; i += 1) numbers[i] = ((i % 61) - 30) / 32;
  }
  // Return the passes per second of a kernel, after some that find how many a call needs.
  function run(bytes, milliseconds) {
    const call = (times) => (bytes ? kernels.read(bytes, times) : kernels.multiply_add(times));
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
  }
  self.onmessage = async ({ data: { code, pages, bytes, milliseconds } }) => {
    try {
      self.postMessage({ answer: code ? await prepare(code, pages) : run(bytes, milliseconds) });
    } catch (error) {
      self.postMessage({ error: String(error) });
    }
  };
}

const worker = URL.createObjectURL(new Blob([`(${inWorker})()`], { type: "text/javascript" }));

// Return the kernels that this browser can run, or throw why there are none.
function supported() {
  if (typeof WebAssembly !== "object" || typeof Worker !== "function") {
    throw new Error(phrase("This browser has no WebAssembly, or no workers, and can’t be measured."));
  }
  for (const by of ["fused", "plain"]) {
    const code = Uint8Array.from(atob(KERNELS[by]), (sign) => sign.charCodeAt(0));
    if (WebAssembly.validate(code)) return { code, fused: by === "fused" };
  }
  throw new Error(phrase("This browser’s WebAssembly has no SIMD, and can’t be measured with it."));
}

// Return the repetitions of each roof: multiply-add in FLOP/s, and reading in B/s.
async function measure(workers, code, bytes, say) {
  const ask = (request) =>
    Promise.all(workers.map((each) => new Promise((resolve, reject) => {
      const fail = (error) => reject(new Error(phrase("The measurement failed: {error}.", { error })));
      each.onerror = (event) => fail(event.message);
      each.onmessage = ({ data: { answer, error } }) => (error ? fail(error) : resolve(answer));
      each.postMessage(request);
    })));
  await ask({ code, pages: bytes / PAGE_BYTES });
  const kernels = [
    { name: "peak", what: phrase("multiply-add"), amount: FLOPS, bytes: 0 },
    { name: "read", what: phrase("read"), amount: bytes, bytes },
    { name: "nearest", what: phrase("read again"), amount: NEAREST_BYTES, bytes: NEAREST_BYTES },
  ];
  const found = { peak: [], read: [], nearest: [] };
  for (let i = 0; i < REPETITIONS * kernels.length; i += 1) {
    const { name, what, amount, bytes: read } = kernels[i % kernels.length];
    say(phrase("Measuring: {what}.", { what }), i / (REPETITIONS * kernels.length));
    const rates = await ask({ bytes: read, milliseconds: MILLISECONDS });
    found[name].push(amount * rates.reduce((sum, one) => sum + one, 0));
  }
  return Object.entries(found);
}

// `live` is what the figure offers: its settings, its update, the reader's own chip, and how it writes numbers.
function panel(figure, live) {
  const part = (name) => figure.querySelector(`[data-part="${name}"]`);
  const [press, stop, own, bar, told] = ["measure", "stop", "own", "bar", "told"].map(part);
  const set = (found) => Object.assign(live.settings, found);
  let best;

  function show(isBusy) {
    press.hidden = isBusy;
    stop.hidden = bar.hidden = !isBusy;
    own.hidden = isBusy || !best;
  }
  function say(words, share = 1) {
    bar.value = share;
    if (told.textContent !== words) told.textContent = words;
  }

  // Measure and give the figure what was found; throw why there is nothing.
  async function find(workers, stopped) {
    const start = performance.now();
    const { code, fused } = supported();
    const count = Math.min(MAX_WORKERS, navigator.hardwareConcurrency || 1);
    const bytes = Math.floor(MAX_BYTES / count / PAGE_BYTES) * PAGE_BYTES;
    for (let i = 0; i < count; i += 1) workers.push(new Worker(worker));
    const found = await Promise.race([measure(workers, code, bytes, say), stopped]);
    const apart = Math.max(...found.map(([, all]) => 1 - Math.min(...all) / Math.max(...all)));
    const spread = live.percent(apart);
    if (apart > TOO_FAR_APART) {
      throw new Error(phrase("Three runs of the same work lie up to {spread} apart: something else seems to use this machine. Measure again when it is quiet.", { spread }));
    }
    best = Object.fromEntries(found.map(([name, all]) => [name, Math.max(...all)]));
    const told = {
      seconds: live.text((performance.now() - start) / 1e3, "s"),
      workers: count === 1 ? phrase("one worker") : phrase("{workers} workers", { workers: count }),
      by: fused ? phrase("fused multiply-adds") : phrase("multiplications and additions one by one"),
      memory: live.text(bytes, "B"),
      spread,
    };
    set({ found: best, told, why: "", measured: 1 });
  }

  async function begin() {
    best = undefined;
    figure.dataset.measured = "running";
    show(true);
    stop.focus();
    const workers = [];
    const stopped = new Promise((_, reject) => {
      stop.onclick = () => reject(new Error(phrase("Stopped.")));
    });
    try {
      await find(workers, stopped);
      say(phrase("Measured. The figures are below the drawing."));
    } catch (error) {
      say(error.message);
      set({ why: phrase("Nothing was measured."), measured: 0 });
    }
    for (const each of workers) each.terminate();
    const back = [stop, document.body].includes(document.activeElement);
    show(false);
    if (back) (best ? own : press).focus();
    await live.follow();
    figure.dataset.measured = best ? "done" : "refused";
  }

  press.addEventListener("click", begin);
  own.addEventListener("click", () => {
    live.keepOwn({ peak: best.peak, bandwidth: best.read });
    say(phrase("My own chip now has this peak and this bandwidth. Choose it in any figure that lists it."));
  });
}

window.rooflineMeasure = panel;
