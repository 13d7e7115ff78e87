// From what the workers noted to figures, and whether somebody else had the machine meanwhile.
// Times in ms.

const FEWEST = 3; // fewer undisturbed samples are no figure

const middle = (sorted) => {
  const half = sorted.length >> 1;
  return sorted.length % 2 ? sorted[half] : (sorted[half - 1] + sorted[half]) / 2;
};
const ascending = (numbers) => [...numbers].sort((a, b) => a - b);

// The clock's tick, and the share of the time in which somebody else had the core.
function watched(steps) {
  if (steps.length < 2) return { tick: Infinity, lost: 1 };
  const tick = middle(ascending(steps));
  // A browser blurs its clock by a tick or so.
  const long = steps.filter((step) => step > Math.max(2.5 * tick, tick + 0.5));
  const total = steps.reduce((sum, step) => sum + step, 0);
  return { tick, lost: long.reduce((sum, step) => sum + step - tick, 0) / total };
}

// How many rounds were done at a moment, in proportion between two looks at the clock.
function doneAt(points, moment) {
  const after = points.findIndex(([at]) => at >= moment);
  if (after <= 0) return points[0][1];
  const [[from, before], [to, then]] = [points[after - 1], points[after]];
  return before + ((then - before) * (moment - from)) / (to - from);
}

// What a round usually takes: the mean of the middle half, since the clock knows whole ticks only.
function usual(points) {
  const each = points.slice(1).map(([at, done], i) => (at - points[i][0]) / (done - points[i][1]));
  const sorted = ascending(each);
  const half = sorted.slice(sorted.length >> 2, Math.max(1, sorted.length - (sorted.length >> 2)));
  return half.reduce((sum, one) => sum + one, 0) / half.length;
}

// Samples of `length` in the interval that all workers have in common: rounds per second of all
// of them together, and the share of its time that the worker had who had least.
function cut(records, begin, end, length) {
  const from = Math.max(begin, ...records.map((points) => points[0][0]));
  const to = Math.min(end, ...records.map((points) => points.at(-1)[0]));
  const each = records.map(usual);
  const samples = [];
  for (let at = from; at + length <= to + 1e-6; at += length) {
    const done = records.map((points) => doneAt(points, at + length) - doneAt(points, at));
    samples.push({
      rate: (1e3 * done.reduce((sum, one) => sum + one, 0)) / length,
      own: Math.min(1, ...done.map((one, i) => (one * each[i]) / length)),
    });
  }
  return samples;
}

// A figure, or why there is none. `amount` is what a round computes or moves; a sample counts of
// which every worker had the share `leastOwn`, and a figure whose best and typical sample are no
// farther `apart` than that share of the best.
function figureOf(samples, amount, { leastOwn, apart }) {
  const good = samples.filter(({ own }) => own >= leastOwn);
  const values = ascending(good.map(({ rate }) => rate * amount));
  const figure = { taken: samples.length, samples: values.length };
  if (values.length < FEWEST) return { ...figure, refused: "disturbed" };
  const [worst, median, best] = [values[0], middle(values), values.at(-1)];
  const all = { ...figure, worst, median, best, spread: (best - worst) / median };
  return (best - median) / best > apart ? { ...all, refused: "unsteady" } : all;
}
