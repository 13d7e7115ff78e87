// How much memory is taken, what a round of each kernel computes and moves, and in which order
// they are measured. Sizes in bytes, as kernels.wat has them.

const PAGE = 65_536; // WebAssembly hands out memory in these
const EACH = 64e6; // at most so much for a worker, with 4 MB for all that it has beside its arrays
const ALL = 256e6;
const BESIDE = 4e6;
const MOST_WORKERS = 16;
const SIZES = { depth: 512, columns: 768, most: 64 };
const BATCHES = [1, 2, 4, 8, 16, 32, 64];
const STEPS = [16e3, 80e3, 400e3, 2e6, 10e6];

// As many workers as the browser says there are cores.
function shares(cores) {
  const workers = Math.max(1, Math.min(MOST_WORKERS, Math.floor(cores) || 1));
  const pages = Math.floor((Math.min(EACH, ALL / workers) - BESIDE) / PAGE);
  return { workers, pages, bytes: pages * PAGE };
}

function counted({ kernel, bytes, rows }) {
  if (kernel === "multiply_add") return { flops: 12 * 4 * 2, bytes: 0 };
  if (kernel === "read") return { flops: bytes / 4, bytes };
  if (kernel === "update" || kernel === "copy") return { flops: 0, bytes: 2 * bytes };
  const { depth: D, columns: F } = SIZES;
  return { flops: 2 * rows * D * F, bytes: 4 * (rows * D + D * F + rows * F) };
}

// What is measured, by its key. `roof`: without it there is no drawing.
function tasks(memory) {
  const roof = (what, key, task, unit) => ({ what, key, task, unit, roof: true });
  const steps = STEPS.filter((bytes) => 2 * bytes <= memory);
  return [
    roof("multiply-add", "peak", { kernel: "multiply_add" }, "FLOP/s"),
    roof("read", "read", { kernel: "read", bytes: memory }, "B/s"),
    roof("updated in place", "update", { kernel: "update", bytes: memory }, "B/s"),
    roof("copied", "copy", { kernel: "copy", bytes: memory / 2 }, "B/s"),
    ...steps.map((bytes) => ({
      what: "read again",
      key: `step ${bytes}`,
      task: { kernel: "read", bytes },
      unit: "B/s",
    })),
    ...BATCHES.map((rows) => ({
      what: "thin matmuls",
      key: `thin ${rows}`,
      task: { kernel: "multiply", rows },
      unit: "FLOP/s",
    })),
  ];
}
