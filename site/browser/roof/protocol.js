// @ts-check
// The protocol of the measurement: its sequence, and when results are refused. The worker pool runs
// the kernels; tests pass a simulated pool.

const DEFAULTS = {
  sample: 50, // ms per sample
  samples: 5, // undisturbed samples wanted per measurement
  roofSamples: 8,
  attempts: 3, // attempts at a disturbed measurement
  watch: 20, // ms of clock readings after each measurement
  quietTimeout: 3000, // ms to wait for a quiet machine
  retryTimeout: 15_000, // ms after which disturbed measurements are not repeated
  minTicks: 10, // clock ticks between two readings
  maxTick: 1 / 20, // clock resolution, as a share of a sample
  minOwnShare: 0.9, // share of the time in which a worker must compute
  maxSpread: 0.15, // between best and typical sample, as a share of the best
  maxDisturbed: 0.5, // share of disturbed samples among all
  maxDrift: 0.3, // relative change of the peak from beginning to end
  maxAboveRoof: 1.15, // a matmul that exceeds its roof by this factor contradicts the roof
};

const WATCH_FIRST_MS = 100; // ms of clock readings that show whether the machine is quiet
const WATCH_LONGER_MS = 500;

class Refused extends Error {}
const busy = (why) =>
  new Refused(
    phrase("This machine is too busy to be measured: {why}. Close other programs that compute, let the machine cool down, and try again.", { why }),
  );

const worst = (all) => ({
  tick: Math.max(...all.map(({ tick }) => tick)),
  lost: Math.max(...all.map(({ lost }) => lost)),
});

// Return results by their keys, and the conditions of the measurement.
async function measure(pool, say, settings = {}) {
  const set = { ...DEFAULTS, ...settings };
  const began = pool.now();
  const watch = async (time) => worst((await pool.clockSteps(time)).map(interruptions));

  say(phrase("looking whether the machine is quiet"), 0);
  const { tick, lost } = await untilQuiet(pool, watch, set, began);
  const chunk = Math.max(1, set.minTicks * tick);
  const list = tasks(pool.bytes);
  const figures = {};
  const all = [];

  async function figure({ task, unit, roof }) {
    const amount = counted(task)[unit === "FLOP/s" ? "flops" : "bytes"];
    const wanted = roof ? set.roofSamples : set.samples;
    const samples = [];
    let found;
    for (let attempt = 0; attempt < set.attempts; attempt += 1) {
      if (attempt && pool.now() - began > set.retryTimeout) break;
      const { records, ...when } = await pool.record(task, chunk, set.sample, wanted);
      const taken = samplesOf(records, when.begin, when.end, when.length);
      const { lost: waited } = await watch(set.watch);
      // The clock shows interruptions, but not which samples they hit.
      for (const one of taken) one.own = Math.min(one.own, 1 - waited);
      samples.push(...taken);
      found = resultOf(samples, amount, set);
      if (!found.refused && 2 * found.samples >= wanted) break;
    }
    all.push(...samples);
    return found;
  }

  for (const [i, item] of list.entries()) {
    say(item.what, i / (list.length + 1));
    const found = await figure(item);
    if (item.roof && found.refused) throw refusal(item.what, found);
    figures[item.key] = { ...item, ...found, ...counted(item.task) };
  }
  say(phrase("multiply-add again"), list.length / (list.length + 1));
  const again = await figure(list[0]);
  if (again.refused) throw refusal(list[0].what, again);

  const bad = all.filter(({ own }) => own < set.minOwnShare).length / all.length;
  if (bad > set.maxDisturbed) throw busy(phrase("{share} of the samples were disturbed", { share: percent(bad) }));
  const drift = again.median / figures.peak.median - 1;
  if (Math.abs(drift) > set.maxDrift) throw busy(phrase("its peak changed by {share} meanwhile", { share: percent(drift) }));
  for (const { key, flops, bytes, median, refused } of Object.values(figures)) {
    if (!key.startsWith("thin") || refused) continue;
    const bound = Math.min(figures.peak.best, (figures.read.best * flops) / bytes);
    if (median > set.maxAboveRoof * bound) throw busy(phrase("its figures contradict each other"));
  }
  return {
    figures,
    tick,
    lost,
    disturbed: bad,
    drift,
    seconds: (pool.now() - began) / 1e3,
  };
}

async function untilQuiet(pool, watch, set, began) {
  for (let time = WATCH_FIRST_MS; ; ) {
    const seen = await watch(time);
    // If a worker did not run or its clock hardly moves, the readings are too few: take longer.
    const isKnown = Number.isFinite(seen.tick);
    if (!isKnown) time = WATCH_LONGER_MS;
    if (isKnown && seen.tick > set.maxTick * set.sample) {
      const steps = { steps: text(seen.tick / 1e3, "s"), most: text((set.maxTick * set.sample) / 1e3, "s") };
      throw new Refused(
        phrase("This browser's clock is too coarse: it goes in steps of {steps}, and this needs steps of at most {most}. A setting against fingerprinting may be the cause.", steps),
      );
    }
    if (isKnown && 1 - seen.lost >= set.minOwnShare) return seen;
    if (pool.now() - began > set.quietTimeout) {
      throw busy(phrase("its workers had to wait for {share} of their time", { share: percent(seen.lost) }));
    }
  }
}

function refusal(what, { refused, samples, taken, best, median }) {
  return refused === "disturbed"
    ? busy(phrase("of {taken} samples of “{what}” {samples} were undisturbed, and it takes {least}", { taken, what, samples, least: MIN_SAMPLES }))
    : busy(phrase("in “{what}” the typical sample is {share} below the best", { what, share: percent(1 - median / best) }));
}
