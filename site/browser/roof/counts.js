// @ts-check
// Sizes of the allocated memory, the work of one iteration of each kernel, and the order of the
// measurements. Sizes are in bytes, as in kernels.wat.

const WASM_PAGE = 65_536; // WebAssembly allocates memory in pages
const MAX_WORKER_BYTES = 64e6;
const MAX_TOTAL_BYTES = 256e6;
const OVERHEAD_BYTES = 4e6; // memory of a worker in addition to its arrays
const MAX_WORKERS = 16;
const SIZES = { depth: 512, columns: 768, most: 64 };
const BATCHES = [1, 2, 4, 8, 16, 32, 64];
const STEPS = [16e3, 80e3, 400e3, 2e6, 10e6];

// Return the number of workers, one per core, and the memory of each.
function allocation(cores) {
  const workers = Math.min(MAX_WORKERS, cores || 1); // some browsers don't say how many
  const pages = Math.floor((Math.min(MAX_WORKER_BYTES, MAX_TOTAL_BYTES / workers) - OVERHEAD_BYTES) / WASM_PAGE);
  return { workers, pages, bytes: pages * WASM_PAGE };
}

function counted({ kernel, bytes, rows }) {
  if (kernel === "multiply_add") return { flops: 12 * 4 * 2, bytes: 0 };
  if (kernel === "read") return { flops: bytes / 4, bytes };
  if (kernel === "update" || kernel === "copy") return { flops: 0, bytes: 2 * bytes };
  const { depth: D, columns: F } = SIZES;
  return { flops: 2 * rows * D * F, bytes: 4 * (rows * D + D * F + rows * F) };
}

// Return the measurements in order. Those marked `roof` are required for the drawing.
/** @returns {any[]} */
function tasks(memory) {
  const roof = (what, key, task, unit) => ({ what, key, task, unit, roof: true });
  const steps = STEPS.filter((bytes) => 2 * bytes <= memory);
  return [
    roof(phrase("multiply-add"), "peak", { kernel: "multiply_add" }, "FLOP/s"),
    roof(phrase("read"), "read", { kernel: "read", bytes: memory }, "B/s"),
    roof(phrase("updated in place"), "update", { kernel: "update", bytes: memory }, "B/s"),
    roof(phrase("copied"), "copy", { kernel: "copy", bytes: memory / 2 }, "B/s"),
    ...steps.map((bytes) => ({
      what: phrase("read again"),
      key: `step ${bytes}`,
      task: { kernel: "read", bytes },
      unit: "B/s",
    })),
    ...BATCHES.map((rows) => ({
      what: phrase("thin matmuls"),
      key: `thin ${rows}`,
      task: { kernel: "multiply", rows },
      unit: "FLOP/s",
    })),
  ];
}
