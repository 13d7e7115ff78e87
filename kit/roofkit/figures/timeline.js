// @ts-check
// Loads, arithmetic and stores of a matmul in slices, and its bounds.
//
// All slices are equal, and each has its share of the bytes. A single slice is loaded, computed and
// stored. With more slices, there are two input buffers and two output buffers: while the chip computes
// a slice, it stores the result of the previous slice and then loads the next slice. A round ends when
// both are done:
//
//     load 1 | compute 1, load 2 | compute 2, store 1, load 3 | … | compute n, store n-1 | store n
//
// No other order of loads and stores is faster with two buffers.
import { chipChoice, choice, slider } from "./lib/figure.js";
import { bound, matmul } from "./lib/formulas.js";
import { arrow, bold, box, end, flat, GRID, INK, label, line, middle, range, roundNumber, SERIES, timeAxis } from "./lib/svg.js";
import { text } from "./lib/units.js";
import { matmulMisfit, twoTimes } from "./lib/words.js";

// The chapter's layer at several batch sizes, and a matmul that stores more than it loads.
const SHAPES = [...[64, 128, 256, 512].map((B) => [B, 4096, 16384]), [4096, 256, 16384]];
const JOBS = Object.fromEntries(
  SHAPES.map(([B, D, F]) => [`B = ${B}, D = ${D}, F = ${F}`, matmul(B, D, F, 2, 2, 2)]),
);

// Pixels: the tops of both lanes, and the middles of the arrow and of the axis.
const TALL = 30;
const ROAD = 68;
const MATH = 130;
const TAKES = 190;
const AXIS = 206;
// Opacities that can be told apart in grayscale: stores are darker than loads, loads than waits.
const LOOKS = {
  load: { color: SERIES[0], stroke: SERIES[0], fill_opacity: 0.25 },
  store: { color: SERIES[1], stroke: SERIES[1], fill_opacity: 0.6 },
  math: { color: SERIES[2], stroke: SERIES[2], fill_opacity: 0.35 },
};

export const timeline = (catalog, _) => ({
  title: _("Cut the work into slices: who waits, and how near is the lower bound?"),
  controls: {
    slices: slider(_("slices"), [1, 2, 4, 8, 16, 32], 4),
    job: choice(_("matmul x[B, D] · w[D, F] in bf16"), Object.keys(JOBS), Object.keys(JOBS)[1]),
    chip: chipChoice(catalog, _, "TPU v5e"),
  },

  compute({ slices, job, chip }) {
    const { loaded, written, bytes } = JOBS[job];
    const times = bound(JOBS[job], chip);
    const { t_math, t_comms, lower } = times;
    // Seconds of one slice.
    const slice = {
      math: t_math / slices,
      load: loaded / chip.bandwidth / slices,
      store: written / chip.bandwidth / slices,
    };
    const beyond = slices > 1 ? edges(slice) : Math.min(t_math, t_comms);
    const takes = lower + beyond;
    const over = _("Cut into {slices} slices, with two buffers, it takes {takes}, {above} more than the lower bound.");
    const least = _("Cut into {slices} slices, with two buffers, it takes {takes}, which is the lower bound.");
    const one = _("In one slice nothing overlaps, so it takes {takes}, which is the upper bound.");
    return {
      ...slice, ...times, takes,
      above: beyond / lower,
      math_waits: 1 - t_math / takes,
      road_waits: 1 - t_comms / takes,
      slice: loaded / slices,
      words: {
        how: slices === 1 ? one : beyond > 0 ? over : least,
        fits: matmulMisfit(_, bytes, chip),
      },
    };
  },

  numbers: [
    ["takes", _("takes"), "s"],
    ["above", _("above the lower bound"), "%"],
    ...twoTimes(_),
    ["math_waits", _("compute units wait"), "%"],
    ["road_waits", _("road to HBM waits"), "%"],
    ["slice", _("loaded for one slice"), "B"],
  ],
  says: _("On {chip} the matmul with {job} has a lower bound of {lower} and an upper bound of {upper}. {how} The compute units wait for {math_waits} of that time, and the road to HBM for {road_waits}. The bars are to scale.{fits}"),

  draw(v, wide, words) {
    const long = (seconds) => ((wide - 38) * seconds) / v.upper;
    const x = (seconds) => 14 + long(seconds);
    const plan = schedule(v);

    // Words in a bar's middle, or left of the lower bound's line if they overlap. `half` is half their
    // width with a margin: words that don't fit are left out.
    function inside(from, to, y, said, half) {
      const [left, center, bar] = [x(from), (x(from) + x(to)) / 2, x(v.lower)];
      const at = Math.abs(center - bar) < half ? bar - half : center;
      return at - half > left && label(at, y + TALL / 2 + 4, said, middle);
    }
    // A numbered bar for each slice. Narrow bars have a thin edge: otherwise only edges would be visible.
    function bars(part, y, starts) {
      const { color, ...look } = LOOKS[part];
      const edge = { stroke_width: long(v[part]) > 4 ? 1 : 0.4, rx: 0 };
      return [
        starts.map((start) => box(x(start), y, long(v[part]), TALL, color, { ...look, ...edge })),
        starts.map((start, i) => inside(start, start + v[part], y, text(i + 1), i < 9 ? 7 : 11)),
      ];
    }
    // Idle time in a lane, as a flatter strip.
    const waits = (y, spans) =>
      spans
        .filter(([from, to]) => long(to - from) > 0.01)
        .map(([from, to]) => [
          box(x(from), y + 4, long(to - from), TALL - 8, GRID, { ...flat, fill_opacity: 0.7 }),
          inside(from, to, y, _("waits"), 20),
        ]);
    const limit = (seconds, words, y, dashes) => [
      line(x(seconds), y + 5, x(seconds), AXIS, INK, { stroke_width: 2, stroke_dasharray: dashes }),
      label(x(seconds) + 4, y, words, end),
    ];
    const tick = roundNumber(v.upper / 2);
    const ticks = range(Math.floor(v.upper / tick) + 1).map((i) => i * tick);
    function key(left, part, words) {
      const { color, ...look } = LOOKS[part];
      return [box(left, AXIS + 28, 12, 12, color, look), label(left + 17, AXIS + 38, words)];
    }
    return {
      height: AXIS + 46,
      svg: [
        waits(ROAD, plan.roadIdle),
        waits(MATH, plan.mathIdle),
        bars("load", ROAD, plan.load),
        bars("store", ROAD, plan.store),
        bars("math", MATH, plan.math),
        label(14, ROAD - 8, _("HBM: waits {share}", { share: words.road_waits })),
        label(14, MATH - 8, _("Compute: waits {share}", { share: words.math_waits })),
        limit(v.lower, _("lower bound {time}", { time: words.lower }), 34, "none"),
        limit(v.upper, _("upper bound {time}", { time: words.upper }), 16, "6 4"),
        arrow(x(0), TAKES, x(v.takes), TAKES, INK, { stroke_width: 2 }),
        label(18, TAKES - 8, _("takes {time}", { time: words.takes }), bold),
        timeAxis(x(0), wide - 12, AXIS, ticks.map((at) => [x(at), text(at, "s")])),
        label(wide - 24, AXIS + 38, _("time"), end),
        key(14, "load", _("load")),
        key(74, "store", _("store")),
        key(140, "math", _("arithmetic")),
      ],
    };
  },
});

// Time that can't overlap: if the arithmetic binds, the first load and the last store; if HBM binds, its
// waits for the arithmetic of the first and of the last slice.
function edges({ load, math, store }) {
  if (math > load + store) return load + store;
  return Math.max(0, math - load) + Math.max(0, math - store);
}

// When each slice is loaded, computed and stored, and when the road to HBM and the units have nothing to
// do, as [from, to].
function schedule({ slices, load, math, store, takes }) {
  const round = Math.max(math, load + store);
  const last = slices - 1;
  const all = range(slices);
  // The arithmetic of slice k begins; meanwhile k - 1 is stored and k + 1 is loaded.
  const begins = (k) => load + (k > 0 ? Math.max(load, math) : 0) + Math.max(0, k - 1) * round;
  const loaded = (k) => (k === 0 ? 0 : begins(k - 1) + (k > 1 ? store : 0));
  // The last slice is stored once it is computed and the previous slice is stored.
  const stored = (k) => (k < last ? begins(k + 1) : begins(k) + Math.max(math, slices > 1 ? store : 0));
  return {
    load: all.map(loaded),
    math: all.map(begins),
    store: all.map(stored),
    roadIdle: all.map((k) => [begins(k) + (k > 0 ? store : 0) + (k < last ? load : 0), stored(k)]),
    mathIdle: [...all, slices].map((k) => [k > 0 ? begins(k - 1) + math : 0, k < slices ? begins(k) : takes]),
  };
}
