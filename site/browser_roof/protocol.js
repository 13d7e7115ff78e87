// What is measured, in which order, and when that is refused. The team (team.js) does the work; a
// test may bring one of its own.

const USUAL = {
  sample: 50, // ms that a sample takes
  samples: 5, // of a dot
  roofSamples: 8,
  tries: 3, // of a figure that was disturbed
  watch: 20, // ms in which the clock is watched after each figure
  quiet: 3000, // ms to wait for a quiet machine
  patience: 15_000, // ms after which nothing is tried again
  // Of the clock at least, from one look at it to the next; and the largest that will do, as a
  // share of a sample.
  ticks: 10,
  coarse: 1 / 20,
  // What a sample, a figure and the whole may have been disturbed.
  leastOwn: 0.9, // share of its time that a worker must have had
  apart: 0.15, // share of the best, between best and typical sample
  disturbed: 0.5, // share of all samples
  drift: 0.3, // share of the peak, between its beginning and its end
  above: 1.15, // times its roof: a thin matmul that high contradicts the roof
};
class Refused extends Error {}
const busy = (why) =>
  new Refused(
    `This machine is too busy to be measured: ${why}. ` +
      "Close what computes beside this page, wait until it is cool, and try again.",
  );

const worst = (all) => ({
  tick: Math.max(...all.map(({ tick }) => tick)),
  lost: Math.max(...all.map(({ lost }) => lost)),
});

// Returns figures by their keys, and what they were measured with.
async function measure(team, say, settings = {}) {
  const set = { ...USUAL, ...settings };
  const began = team.now();
  const watch = async (time) => worst((await team.watch(time)).map(watched));

  say("looking whether the machine is quiet", 0);
  const { tick, lost } = await untilQuiet(team, watch, set, began);
  const chunk = Math.max(1, set.ticks * tick);
  const list = tasks(team.bytes);
  const figures = {};
  const all = [];

  async function figure({ task, unit, roof }) {
    const amount = counted(task)[unit === "FLOP/s" ? "flops" : "bytes"];
    const wanted = roof ? set.roofSamples : set.samples;
    const samples = [];
    let found;
    for (let tried = 0; tried < set.tries; tried += 1) {
      if (tried && team.now() - began > set.patience) break;
      const { records, ...when } = await team.record(task, chunk, set.sample, wanted);
      const taken = cut(records, when.begin, when.end, when.length);
      const { lost: waited } = await watch(set.watch);
      // What came in while the clock jumped is not known from the outside.
      if (1 - waited < set.leastOwn) for (const one of taken) one.own = Math.min(one.own, 1 - waited);
      samples.push(...taken);
      found = figureOf(samples, amount, set);
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
  say("multiply-add again", list.length / (list.length + 1));
  const again = await figure(list[0]);
  if (again.refused) throw refusal(list[0].what, again);

  const bad = all.filter(({ own }) => own < set.leastOwn).length / all.length;
  if (bad > set.disturbed) throw busy(`${percent(bad)} of the samples were disturbed`);
  const drift = again.median / figures.peak.median - 1;
  if (Math.abs(drift) > set.drift) throw busy(`its peak changed by ${percent(drift)} meanwhile`);
  for (const { key, flops, bytes, median, refused } of Object.values(figures)) {
    if (!key.startsWith("thin") || refused) continue;
    const bound = Math.min(figures.peak.best, (figures.read.best * flops) / bytes);
    if (median > set.above * bound) throw busy("its figures contradict each other");
  }
  return {
    figures,
    tick,
    lost,
    disturbed: bad,
    drift,
    seconds: (team.now() - began) / 1e3,
  };
}

async function untilQuiet(team, watch, set, began) {
  for (;;) {
    const seen = await watch(100);
    if (seen.tick > set.coarse * set.sample) {
      throw new Refused(
        `This browser's clock is too coarse: it goes in steps of ${text(seen.tick / 1e3, "s")}, ` +
          `and ${text((set.coarse * set.sample) / 1e3, "s")} are the most that will do. ` +
          "A setting against fingerprinting may cause that.",
      );
    }
    if (1 - seen.lost >= set.leastOwn) return seen;
    if (team.now() - began > set.quiet) {
      throw busy(`its workers had to wait for ${percent(seen.lost)} of their time`);
    }
  }
}

function refusal(what, { refused, samples, taken, best, median }) {
  return refused === "disturbed"
    ? busy(`of ${taken} samples of “${what}” ${samples} were undisturbed, and it takes ${FEWEST}`)
    : busy(`in “${what}” the typical sample is ${percent(1 - median / best)} below the best`);
}
