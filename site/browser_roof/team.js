// The workers: started, told what to do, and ended. They share no memory, since a page without
// cross-origin isolation has none to share; they agree by the clock on when to begin.

const LEAD = 5; // ms from the message to the beginning that all share
const LOOKS = 3; // at the clock in a sample, at least: else its neighbours were the same
const SKEW = 2; // ms by which clocks may differ beside what the message took
const bytesOf = (base64) => Uint8Array.from(atob(base64), (sign) => sign.charCodeAt(0));

class Stopped extends Error {}

// The kernels that this browser can run: fused multiply-adds, or two instructions.
function choose(kernels) {
  if (typeof WebAssembly !== "object" || typeof Worker !== "function") {
    throw new Refused("This browser has no WebAssembly, or no workers, and can’t be measured.");
  }
  for (const fused of [true, false]) {
    const code = bytesOf(kernels[fused ? "fused" : "plain"]);
    if (WebAssembly.validate(code)) return { code, fused };
  }
  throw new Refused("This browser’s WebAssembly has no SIMD, and can’t be measured with it.");
}

// Ends when `signal` is aborted, which fails with its reason whatever is under way.
async function team(kernels, source, cores, signal) {
  const { code, fused } = choose(kernels);
  const { workers: count, pages, bytes } = shares(cores);
  // From the text of the page's own script, so that it starts from a disk, too.
  const address = URL.createObjectURL(new Blob([source], { type: "text/javascript" }));
  const waiting = new Map();
  const workers = [];
  let numbers = 0;
  let over;

  function end(error) {
    over ??= error;
    for (const worker of workers) worker.terminate();
    for (const { failed } of waiting.values()) failed(over);
    waiting.clear();
    URL.revokeObjectURL(address);
  }
  if (signal.aborted) throw signal.reason;
  signal.addEventListener("abort", () => end(signal.reason));
  const ask = (worker, does, what) =>
    new Promise((done, failed) => {
      if (over) return failed(over);
      numbers += 1;
      waiting.set(numbers, { done, failed });
      worker.postMessage({ number: numbers, does, ...what });
    });
  const all = (does, what = {}) => Promise.all(workers.map((worker) => ask(worker, does, what)));
  const now = () => performance.timeOrigin + performance.now();

  try {
    for (let i = 0; i < count; i += 1) {
      const worker = new Worker(address);
      workers.push(worker);
      worker.onmessage = ({ data: { number, answer, wrong } }) => {
        const { done, failed } = waiting.get(number) ?? {};
        waiting.delete(number);
        if (wrong === undefined) done?.(answer);
        else failed?.(new Refused(`A worker of this browser failed: ${wrong}.`));
      };
      worker.onerror = (event) => {
        event.preventDefault();
        end(new Refused("This browser starts no worker for this page."));
      };
    }
    await all("prepare", { code, pages, sizes: SIZES });
    for (const worker of workers) {
      const sent = now();
      const there = await ask(worker, "clock", {});
      if (there < sent - SKEW || there > now() + SKEW) {
        throw new Refused("The clocks of this browser’s workers disagree.");
      }
    }
  } catch (error) {
    end(error);
    if (signal.aborted) throw signal.reason;
    throw error instanceof Refused ? error : new Refused(`This browser starts no worker: ${error}.`);
  }

  return {
    bytes,
    count,
    fused,
    end,
    now,
    watch: (time) => all("watch", { until: now() + LEAD + time }),
    // So many samples of `length` ms, or more where one round through a long array takes long.
    async record(task, chunk, length, samples) {
      const each = Math.max(length, LOOKS * Math.max(...(await all("settle", { task, chunk }))));
      const begin = now() + LEAD;
      const until = begin + samples * each;
      // A little longer, so that the last sample is whole in all of them.
      const records = await all("record", { task, end: until + 1 });
      return { begin, end: until, length: each, records };
    },
  };
}
