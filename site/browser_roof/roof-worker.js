// Runs in a worker: computes what it is told for as long as it is told, and notes by the clock how
// far it was when. It decides nothing; team.js tells it what, protocol.js why.

// The same in all workers, as far as the browser's clock allows: each has a zero of its own.
const now = () => performance.timeOrigin + performance.now();
const SPINS = 3e7; // looks at a clock that may stand still, before it is given up

let kernels;
let memory;
let layout;
let next = 0; // the weights whose turn it is
const known = new Map(); // how often a kernel goes round between two looks at the clock

const answers = {
  // Touch all of the memory, with numbers that are none of 0, too small or too large.
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

  // Look at the clock all the time: the steps in which it goes, in ms. A long one is a time in
  // which somebody else had the core.
  watch({ until }) {
    const steps = [];
    let last = now();
    for (let spin = 0; spin < SPINS && last < until; spin += 1) {
      const at = now();
      if (at > last) {
        steps.push(at - last);
        last = at;
      }
    }
    return steps;
  },

  // Find how often to go round, so that it takes as long as the clock needs to tell: how long, then.
  settle({ task, chunk }) {
    const key = JSON.stringify(task);
    let times = known.get(key) ?? 1;
    for (;;) {
      const began = now();
      run(task, times);
      const took = now() - began;
      known.set(key, times);
      if (took >= chunk) return took;
      times = Math.ceil(times * Math.min(10, (1.2 * chunk) / Math.max(took, chunk / 10)));
    }
  },

  // [moment, rounds done until then] again and again, from now to the end.
  record({ task, end }) {
    const times = known.get(JSON.stringify(task));
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

// One round of a kernel is what counts.js counts.
function run({ kernel, bytes, rows }, times) {
  if (kernel === "multiply_add") return kernels.multiply_add(times);
  if (kernel === "read") return kernels.read(0, bytes, times);
  if (kernel === "update") return kernels.update(0, bytes, times);
  if (kernel === "copy") return kernels.copy(0, bytes, bytes, times);
  // Each time other weights, as in a model of many layers.
  const { depth, columns, y, first, layer, layers } = layout;
  for (let i = 0; i < times; i += 1) {
    kernels.multiply(0, first + next * layer, y, rows, 4 * depth, 4 * columns);
    next = (next + 1) % layers;
  }
}

self.onmessage = async ({ data: { number, does, ...what } }) => {
  try {
    self.postMessage({ number, answer: await answers[does](what) });
  } catch (error) {
    self.postMessage({ number, wrong: String(error) });
  }
};
