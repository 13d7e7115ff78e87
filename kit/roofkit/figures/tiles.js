// @ts-check
// x · w → out with N elements a side, multiplied in tiles of side t, and what is loaded on the way.
//
// A step loads t elements of a column of x and t elements of a row of w, and adds their t² products to the
// sums of a tile of out, like the loop in the chapter. N³/t² steps load 2t elements each. No order of the
// products has loads that grow more slowly (Hong and Kung, 1981).
import { slider, steps } from "./lib/figure.js";
import { box, end, flat, group, INK, label, line, middle, range, SERIES, signs, square, squares, ZONES } from "./lib/svg.js";
import { text } from "./lib/units.js";

const N = 8; // as many as a phone can draw with a number in each
const SIZE = 2; // bytes for each element in bf16
const SIDES = [1, 2, 4, 8]; // the divisors of N
const START = 4;
const MOST = 2 * N ** 3; // elements loaded with tiles of side 1
const LEAST = 2 * N ** 2;
// Pixels above the matrices, and cells between them.
const TOP = 24;
const GAP = 2.4;

const elements = (_, count) => (count === 1 ? _("element") : _("elements"));

export const tiles = (_catalog, _) => ({
  title: _("Play the tiles: how many elements are loaded, and how many of them again?"),
  controls: {
    t: slider(_("side t of a tile"), SIDES, START),
    step: steps(
      _("steps done"),
      range(N ** 3 + 1).map((step) => text(step)),
      // Start amid a tile in the second row, where some elements were loaded twice.
      { start: N * (N / START) + N / 2 - 1, last: "last" },
    ),
  },

  compute({ t, step }) {
    const all = (N / t) ** 2; // tiles
    const last = all * N;
    const at = Math.min(step, last);
    const done = Math.floor(at);
    // The step under way, or else the last one that is done, loads piece `piece` of tile `tile`.
    const current = Math.max(0, Math.ceil(at) - 1);
    const tile = Math.floor(current / N);
    const piece = current % N;
    const loaded = 2 * t * done;
    const total = MOST / t;
    const times = total / LEAST;
    const written = t * t * Math.floor(done / N);
    return {
      last, done, tile, piece, loaded, total, times, written,
      way: at - done,
      loaded_bytes: SIZE * loaded,
      least: LEAST,
      held: t * t,
      intensity: MOST / (SIZE * (total + N * N)),
      words: {
        happened: done
          ? _("The last step brought {nth_piece} of x and of w for {nth_tile}: {each_piece} of x and {each_piece} of w.")
          : _("Nothing is loaded yet."),
        nth_piece: _("piece {n} of {all}", { n: text(piece + 1), all: text(N) }),
        nth_tile: _("tile {n} of {all}", { n: text(tile + 1), all: text(all) }),
        each_piece: text(t, elements(_, t)),
        often: times === 1 ? _("once") : _("{count} times", { count: text(times) }),
      },
    };
  },

  numbers: [
    ["loaded", _("loaded so far"), _("elements")],
    ["total", _("2n³/t, loaded in all"), _("elements")],
    ["times", _("loads of each element, in all"), ""],
    ["intensity", _("intensity of the whole"), "FLOP/byte"],
    ["done", _("steps done"), ""],
    ["last", _("steps in all"), ""],
    ["loaded_bytes", _("loaded so far, bf16"), "B"],
    ["least", _("2n², the least possible"), _("elements")],
    ["written", _("written so far"), ({ written }) => elements(_, written)],
    ["held", _("sums on the chip"), ({ held }) => elements(_, held)],
  ],
  says: _("After {done} of {last} steps, {loaded} of x and w are loaded, {loaded_bytes} in bf16, and {written} of out are written. {happened} Tiles of side {t} load {total} in all, each element {often}; the least possible is {least}. The sums of one tile take room for {held} on the chip, and the intensity of the whole is {intensity}."),

  draw(v, wide) {
    const cell = Math.min(22, (wide - 16) / (2 * N + GAP));
    const left = (wide - (2 * N + GAP) * cell) / 2;
    // x is at the bottom left, w at the top right, and out at the bottom right.
    const place = { cell, left, right: left + (N + GAP) * cell, low: TOP + (N + GAP) * cell };
    const base = TOP + (2 * N + GAP) * cell;
    return {
      height: base + 128,
      svg: [
        matrices(v, place),
        currentStep(v, place),
        words(_, v, place, base),
        counter(_, v, wide, base + 85),
      ],
    };
  },
});

// How often the elements x[b, k] and w[k, f] were loaded, and how many products are in the sum out[b, f].
// `loads` is the number of tiles that have loaded their piece k.
const loads = (done, k) => Math.max(0, Math.ceil((done - k) / N));
function countOf(name, { t, done }, row, column) {
  const across = N / t; // tiles in a row
  const [tileRow, tileColumn] = [row, column].map((at) => Math.floor(at / t));
  if (name === "x") return Math.min(across, Math.max(0, loads(done, column) - tileRow * across));
  if (name === "w") return Math.max(0, Math.ceil((loads(done, row) - tileColumn) / across));
  return Math.min(N, Math.max(0, done - (tileRow * across + tileColumn) * N));
}

// ---- the matrices: numbered cells, darker for higher numbers, and the edges of tiles
function matrices(v, { cell, left, right, low }) {
  const edges = range(N / v.t + 1).map((i) => i * v.t * cell);
  const long = N * cell;
  const across = (x, y) => edges.map((cut) => line(x, y + cut, x + long, y + cut, INK));
  const down = (x, y) => edges.map((cut) => line(x + cut, y, x + cut, y + long, INK));

  function cells(name, x0, y0, fill) {
    const counts = range(N).map((row) => range(N).map((column) => countOf(name, v, row, column)));
    const numbered = counts.map((some, row) =>
      range(N).filter((column) => some[column] > 0).map((column) => [row, column, some[column]]));
    const shaded = numbered.flat().map(([row, column, count]) => [row, column, 0.1 + (0.3 * count) / N]);
    // No count has two digits.
    const rows = numbered.filter((some) => some.length).map((some) => {
      const xs = some.map(([, column]) => x0 + (column + 0.5) * cell);
      return signs(xs, y0 + (some[0][0] + 0.5) * cell + 4, some.map(([, , count]) => text(count)).join(""));
    });
    return [squares(x0, y0, N, cell, fill, shaded), group(middle, rows)];
  }
  return [
    cells("x", left, low, SERIES[0]),
    across(left, low),
    cells("w", right, TOP, SERIES[0]),
    down(right, TOP),
    cells("out", right, low, SERIES[2]),
    across(right, low),
    down(right, low),
  ];
}

// The pieces of a step, on the way from where they lie to the matrix out, and a frame around their tile.
function currentStep({ t, step, tile, piece, way }, { cell, left, right, low }) {
  if (step === 0) return [];
  const tileRow = Math.floor((tile * t) / N);
  const tileColumn = tile - (tileRow * N) / t;
  const row = low + tileRow * t * cell;
  const column = right + tileColumn * t * cell;
  const side = t * cell;
  const from = { x: left + piece * cell, y: TOP + piece * cell };
  const part = way || 1; // at a step the pieces have arrived
  const on = (start, end) => start + (end - 1.3 * cell - start) * part;
  const frame = { stroke: SERIES[1], stroke_width: 3, fill_opacity: 0, ...square };
  const moving = { ...square, stroke: INK };
  return [
    box(from.x, row, cell, side, SERIES[1], frame),
    box(column, from.y, side, cell, SERIES[1], frame),
    box(column, row, side, side, SERIES[1], frame),
    range(t).map((i) => box(on(from.x, right), row + i * cell, cell, cell, SERIES[1], moving)),
    range(t).map((i) => box(column + i * cell, on(from.y, low), cell, cell, SERIES[1], moving)),
  ];
}

// The names of the matrices, and the counts in the empty corner.
function words(_, { done, last, loaded, loaded_bytes }, { cell, left, right, low }, base) {
  const size = `${N}, ${N}]`;
  const counts = [
    _("step {n} of {all}", { n: text(done), all: text(last) }),
    _("loaded so far:"),
    text(loaded, _("elements")),
    _("= {bytes} in bf16", { bytes: text(loaded_bytes, "B") }),
  ];
  return [
    counts.map((count, i) => label(left, TOP + 14 + 18 * i, count)),
    label(left, low - 7, `x[${size}`),
    label(right, TOP - 8, `w[${size}`),
    label(right + N * cell, base + 17, `out[${size}`, end),
    label(8, base + 36, _("In x and w: times loaded. In out: products.")),
    label(8, base + 53, _("Framed: the pieces of the step and their tile.")),
  ];
}

// A bar of the loads so far, as long as those with tiles of side 1 would be.
function counter(_, { loaded, total }, wide, y) {
  const long = (elements) => ((wide - 16) * elements) / MOST;
  const [all, least] = [8 + long(total), 8 + long(LEAST)];
  const near = all < 60 ? {} : all > wide - 60 ? end : middle;
  return [
    box(8, y, wide - 16, 14, ZONES[3], flat),
    box(8, y, long(loaded), 14, SERIES[0], flat),
    line(all, y - 5, all, y + 14, INK, { stroke_width: 2 }),
    label(all, y - 10, `2n³/t = ${text(total)}`, near),
    line(least, y, least, y + 19, INK, { stroke_width: 2, stroke_dasharray: "3 2" }),
    label(least, y + 32, _("least: 2n² = {count}", { count: text(LEAST) })),
    label(wide - 8, y + 32, `t = 1: 2n³ = ${text(MOST)}`, end),
  ];
}
