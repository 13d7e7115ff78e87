// @ts-check
// Turns the workers' records into results, and detects other load on the machine. Times in ms.

const MIN_SAMPLES = 3; // number of undisturbed samples that a result needs

const middle = (sorted) => {
  const half = sorted.length >> 1;
  return sorted.length % 2 ? sorted[half] : (sorted[half - 1] + sorted[half]) / 2;
};
const ascending = (numbers) => [...numbers].sort((a, b) => a - b);

// Return the clock's resolution, and the share of time that other programs had the core.
function interruptions(steps) {
  if (steps.length < 2) return { tick: Infinity, lost: 1 };
  const tick = middle(ascending(steps));
  // Browsers add up to about a tick of jitter to their clock.
  const long = steps.filter((step) => step > Math.max(2.5 * tick, tick + 0.5));
  const total = steps.reduce((sum, step) => sum + step, 0);
  return { tick, lost: long.reduce((sum, step) => sum + step - tick, 0) / total };
}

// Return the iterations done at a moment, interpolated between two clock readings.
function doneAt(points, moment) {
  const after = points.findIndex(([at]) => at >= moment);
  if (after <= 0) return points[0][1];
  const [[from, before], [to, then]] = [points[after - 1], points[after]];
  return before + ((then - before) * (moment - from)) / (to - from);
}

// Return the typical time of an iteration: the mean of the middle half of the times. A median would
// be coarse, since times are whole ticks.
function typicalTime(points) {
  const each = points.slice(1).map(([at, done], i) => (at - points[i][0]) / (done - points[i][1]));
  const sorted = ascending(each);
  const half = sorted.slice(sorted.length >> 2, sorted.length - (sorted.length >> 2));
  return half.reduce((sum, one) => sum + one, 0) / half.length;
}

// Cut the interval that all workers share into samples of `length`: their total iterations per second,
// and the smallest share of its time that a worker computed.
function samplesOf(records, begin, end, length) {
  const from = Math.max(begin, ...records.map((points) => points[0][0]));
  const to = Math.min(end, ...records.map((points) => points.at(-1)[0]));
  const each = records.map(typicalTime);
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

// Return a result, with the reason in `refused` if it is not reliable. `amount` is what an iteration
// computes or moves. A sample counts if each worker computed for the share `minOwnShare` of it; best
// and typical sample may differ by the share `maxSpread` of the best.
/** @returns {any} */
function resultOf(samples, amount, { minOwnShare, maxSpread }) {
  const good = samples.filter(({ own }) => own >= minOwnShare);
  // 12 digits, so that equal rates do not differ by rounding errors, which would show as a spread.
  const rates = good.map(({ rate }) => Number((rate * amount).toPrecision(12)));
  const values = ascending(rates);
  const counts = { taken: samples.length, samples: values.length };
  if (values.length < MIN_SAMPLES) return { ...counts, refused: "disturbed" };
  const [worst, median, best] = [values[0], middle(values), values.at(-1)];
  const all = { ...counts, worst, median, best, spread: (best - worst) / median };
  return (best - median) / best > maxSpread ? { ...all, refused: "unsteady" } : all;
}
