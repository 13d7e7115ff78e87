// @ts-check
// Runs a kernel for a given time and records its progress over time. worker_pool.js sends the
// requests; protocol.js decides what to measure.

// Return a time that can be compared between workers: performance.now() alone counts from each
// worker's start.
const now = () => performance.timeOrigin + performance.now();
const MAX_CLOCK_READINGS = 3e7; // the clock may stand still

let kernels;
let memory;
let layout;
let nextLayer = 0; // index of the weights to use next
const iterations = new Map(); // task → iterations between two clock readings

const answers = {
  // Write all of the memory, with numbers that cause no zeros, denormals or overflows.
  async prepare({ code, pages, sizes }) {
    memory = new WebAssembly.Memory({ initial: pages, maximum: pages });
    const { instance } = await WebAssembly.instantiate(code, { page: { memory } });
    kernels = instance.exports;
    const numbers = new Float32Array(memory.buffer);
    for (let i = 0; i < numbers.length; i += 1) numbers[i] = ((i % 61) - 30) / 32;
    const { depth, columns, most } = sizes;
    const y = 4 * most * depth;
    const first = y + 4 * most * columns;
    const layer = 4 * depth * columns;
    const layers = Math.floor((memory.buffer.byteLength - first) / layer);
    layout = { depth, columns, y, first, layer, layers };
    return { bytes: memory.buffer.byteLength, layers };
  },

  clock: () => now(),

  // Read the clock continuously and return its steps in ms. During a long step another program had
  // the core.
  clockSteps({ until }) {
    const steps = [];
    let last = now();
    for (let spin = 0; spin < MAX_CLOCK_READINGS && last < until; spin += 1) {
      const at = now();
      if (at > last) {
        steps.push(at - last);
        last = at;
      }
    }
    return steps;
  },

  // Find how many iterations take long enough for the clock to measure, and return their time.
  calibrate({ task, chunk }) {
    const key = JSON.stringify(task);
    let times = iterations.get(key) ?? 1;
    for (;;) {
      const began = now();
      run(task, times);
      const took = now() - began;
      iterations.set(key, times);
      if (took >= chunk) return took;
      times = Math.ceil(times * Math.min(10, (1.2 * chunk) / Math.max(took, chunk / 10)));
    }
  },

  // Record [moment, iterations done so far] from now to the end.
  record({ task, end }) {
    const times = iterations.get(JSON.stringify(task));
    const points = [[now(), 0]];
    for (let at = 0, done = 0; at < end; ) {
      run(task, times);
      done += times;
      at = now();
      points.push([at, done]);
    }
    return points;
  },
};

// Run iterations of a kernel; counts.js says what one of them computes and moves.
function run({ kernel, bytes, rows }, times) {
  if (kernel === "multiply_add") return kernels.multiply_add(times);
  if (kernel === "read") return kernels.read(0, bytes, times);
  if (kernel === "update") return kernels.update(0, bytes, times);
  if (kernel === "copy") return kernels.copy(0, bytes, bytes, times);
  // Cycle through the weights, as in a model of many layers.
  const { depth, columns, y, first, layer, layers } = layout;
  for (let i = 0; i < times; i += 1) {
    kernels.multiply(0, first + nextLayer * layer, y, rows, 4 * depth, 4 * columns);
    nextLayer = (nextLayer + 1) % layers;
  }
}

self.onmessage = async ({ data: { number, request, ...what } }) => {
  try {
    self.postMessage({ number, answer: await answers[request](what) });
  } catch (error) {
    self.postMessage({ number, error: String(error) });
  }
};
