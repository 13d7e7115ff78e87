// @ts-check
// The pool of workers. Pages without cross-origin isolation can't share memory, so the workers
// synchronize by the clock.

const LEAD_MS = 5; // time from the message to the common start
const MIN_READINGS = 3; // clock readings per sample: with fewer, neighboring samples would be the same
const MAX_SKEW_MS = 2; // between the workers' clocks, apart from the latency of messages
const bytesOf = (base64) => Uint8Array.from(atob(base64), (sign) => sign.charCodeAt(0));

class Stopped extends Error {}

// Return the kernels that this browser can run: with fused multiply-adds, or with separate multiply
// and add instructions.
function supportedKernels(kernels) {
  if (typeof WebAssembly !== "object" || typeof Worker !== "function") {
    throw new Refused(phrase("This browser has no WebAssembly, or no workers, and can’t be measured."));
  }
  for (const fused of [true, false]) {
    const code = bytesOf(kernels[fused ? "fused" : "plain"]);
    if (WebAssembly.validate(code)) return { code, fused };
  }
  throw new Refused(phrase("This browser’s WebAssembly has no SIMD, and can’t be measured with it."));
}

// Start the workers. Aborting `signal` terminates them and rejects pending requests with its reason.
async function startPool(kernels, source, cores, signal) {
  const { code, fused } = supportedKernels(kernels);
  const { workers: count, pages, bytes } = allocation(cores);
  // Load the worker from a blob, so that it also starts on a page that was opened as a file.
  const address = URL.createObjectURL(new Blob([source], { type: "text/javascript" }));
  const pending = new Map();
  const workers = [];
  let lastNumber = 0;
  let endedWith;

  function end(error) {
    endedWith ??= error;
    for (const worker of workers) worker.terminate();
    for (const { reject } of pending.values()) reject(endedWith);
    pending.clear();
    URL.revokeObjectURL(address);
  }
  signal.addEventListener("abort", () => end(signal.reason));
  const ask = (worker, request, what) =>
    new Promise((resolve, reject) => {
      if (endedWith) return reject(endedWith);
      lastNumber += 1;
      pending.set(lastNumber, { resolve, reject });
      worker.postMessage({ number: lastNumber, request, ...what });
    });
  const askAll = (request, what = {}) =>
    Promise.all(workers.map((worker) => ask(worker, request, what)));
  const now = () => performance.timeOrigin + performance.now();

  try {
    for (let i = 0; i < count; i += 1) {
      const worker = new Worker(address);
      workers.push(worker);
      worker.onmessage = ({ data: { number, answer, error } }) => {
        const { resolve, reject } = pending.get(number) ?? {};
        pending.delete(number);
        if (error === undefined) resolve?.(answer);
        else reject?.(new Refused(phrase("A worker of this browser failed: {error}.", { error })));
      };
      worker.onerror = (event) => {
        event.preventDefault();
        end(new Refused(phrase("This browser starts no worker for this page.")));
      };
    }
    await askAll("prepare", { code, pages, sizes: SIZES });
    for (const worker of workers) {
      const sent = now();
      const there = await ask(worker, "clock", {});
      if (there < sent - MAX_SKEW_MS || there > now() + MAX_SKEW_MS) {
        throw new Refused(phrase("The clocks of this browser’s workers disagree."));
      }
    }
  } catch (error) {
    if (signal.aborted) throw signal.reason;
    throw error instanceof Refused ? error : new Refused(phrase("This browser starts no worker: {error}.", { error }));
  }

  return {
    bytes,
    count,
    fused,
    now,
    clockSteps: (time) => askAll("clockSteps", { until: now() + LEAD_MS + time }),
    // Record samples of `length` ms, or longer if one iteration over a large array takes longer.
    async record(task, chunk, length, samples) {
      const each = Math.max(length, MIN_READINGS * Math.max(...(await askAll("calibrate", { task, chunk }))));
      const begin = now() + LEAD_MS;
      const until = begin + samples * each;
      // Record a little longer, so that the last sample is complete in all workers.
      const records = await askAll("record", { task, end: until + 1 });
      return { begin, end: until, length: each, records };
    },
  };
}
