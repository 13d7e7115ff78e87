// @ts-check
// x[B, D] · w[D, F] → out[B, F] as rectangles, all sides to one scale, and the intensity in bf16.
import { chipChoice, choice, sizes, slider } from "./lib/figure.js";
import { fractionAt, matmul, ridge as ridgeOf } from "./lib/formulas.js";
import { bold, box, dot, end, flat, INK, label, line, log, middle, MUTED, SERIES, square, ticks, ZONES } from "./lib/svg.js";
import { text } from "./lib/units.js";
import { misfit } from "./lib/words.js";

const SIZE = 2; // bytes for each element in bf16
// Pixels: above the rectangles, left of them, between them and right of them; and from one row of the
// lower part to the next.
const TOP = 24;
const LEFT = 74;
const GAP = 30;
const RIGHT = 10;
const ROW = 36;

export const matmul_blocks = (catalog, _) => ({
  title: _("Change the sides: which array has most of the bytes, and is it enough for the chip?"),
  controls: {
    B: slider(_("B (tokens)"), sizes(0, 14), 64),
    D: slider("D", sizes(7, 14), 4096),
    F: slider("F", sizes(7, 14), 16384),
    one: choice(_("follow one element of"), ["x", "w", "out"], "x"),
    chip: chipChoice(catalog, _, "TPU v5e"),
  },

  compute({ B, D, F, one, chip }) {
    const { flops, bytes } = matmul(B, D, F, SIZE, SIZE, SIZE);
    const arrays = { w: SIZE * D * F, x: SIZE * B * D, out: SIZE * B * F };
    const most = Math.max(...Object.values(arrays));
    const intensity = flops / bytes;
    const ridge = ridgeOf(chip);
    const meets = {
      x: _("The marked element of x meets a row of w and adds to a row of out."),
      w: _("The marked element of w meets a column of x and adds to a column of out."),
      out: _("The marked element of out is the sum over a row of x times a column of w."),
    };
    return {
      flops, bytes, intensity, ridge,
      x_bytes: arrays.x,
      w_bytes: arrays.w,
      out_bytes: arrays.out,
      share: fractionAt(intensity, ridge),
      smallest: Math.min(B, D, F),
      largest_share: most / bytes,
      words: {
        largest: Object.keys(arrays).find((name) => arrays[name] === most),
        w_uses: B === 1 ? _("once") : _("{count} times", { count: text(B) }),
        meets: meets[one],
        verdict: intensity >= ridge ? _("compute-bound") : _("memory-bound"),
        fits: misfit(_, bytes, chip),
      },
    };
  },

  numbers: [
    ["intensity", _("intensity"), "FLOP/byte"],
    ["ridge", _("ridge"), "FLOP/byte"],
    ["share", _("of peak, at most"), "%"],
    ["largest_share", _("largest array, of all bytes"), "%"],
    ["x_bytes", _("x, loaded"), "B"],
    ["w_bytes", _("w, loaded"), "B"],
    ["out_bytes", _("out, written"), "B"],
    ["flops", _("operations"), "FLOP"],
    ["smallest", _("smallest side"), ""],
  ],
  says: _("In bf16, {x_bytes} of x and {w_bytes} of w are loaded and {out_bytes} of out are written. Each element of x is used {F} times, and each element of w {w_uses}. Each element of out is a sum of {D} products. {meets} Of the bytes, {largest_share} belong to {largest}. The intensity is {intensity}: it stays below the smallest side, {smallest}. The ridge point of {chip} is {ridge}, so the multiplication is {verdict}.{fits}"),

  draw(v, wide) {
    const room = Math.min(220, wide / 2); // for the height of the rectangles and the gap between them
    const base = TOP + room + 40;
    return {
      height: base + 4 * ROW + 84,
      svg: [rectangles(_, v, wide, room, base), gauges(_, v, wide, base)],
    };
  },
});

// ---- the upper part: the three arrays, x at the left, w at the top, and out where rows and columns meet
function rectangles(_, { B, D, F, one }, wide, room, base) {
  const across = wide - LEFT - GAP - RIGHT;
  const pixel = Math.min(across / (D + F), (room - GAP) / (D + B)); // pixels for each element
  const [low, long, broad] = [B * pixel, D * pixel, F * pixel];
  const left = LEFT + (across - long - broad) / 2;
  const w = { left: left + long + GAP, top: TOP + (room - GAP - long - low) / 2 };
  const x = { left, top: w.top + long + GAP };
  // The marked element: away from the edges, with the same indices in every array.
  const row = x.top + 0.35 * low;
  const column = w.left + 0.8 * broad;
  const depth = { across: x.left + 0.7 * long, down: w.top + 0.7 * long };

  // Very short sides show only their edge, which is dashed for the output.
  const edge = { ...square, stroke: INK };
  const arrays = [
    box(x.left, x.top, long, low, ZONES[3], edge),
    box(w.left, w.top, broad, long, ZONES[1], edge),
    box(w.left, x.top, broad, low, ZONES[2], { ...edge, stroke_dasharray: "5 3" }),
  ];
  function names() {
    // The names of a narrow w start at its left edge; near the drawing's right border, they end at its
    // right edge.
    const place = broad > 76 ? "middle" : w.left + 80 >= wide ? "end" : "start";
    const at = w.left + { start: 0, middle: broad / 2, end: broad }[place];
    const above = { text_anchor: place };
    const between = x.top - GAP / 2 + 4;
    return [
      label(at, w.top - 7, "w[D, F]", above),
      label(at, between, `F = ${text(F)}`, above),
      label(at, x.top + low + 16, "out[B, F]", above),
      label(w.left - 7, w.top + long / 2 + 4, `D = ${text(D)}`, end),
      label(x.left + long / 2, between, "D", middle),
      label(x.left - 7, x.top + low / 2 - 3, "x[B, D]", end),
      label(x.left - 7, x.top + low / 2 + 12, `B = ${text(B)}`, end),
    ];
  }
  // The marked element, the row or column that it meets and (dashed) the one that it adds to.
  function marked() {
    const lines = {
      xRow: [x.left, row, x.left + long, row],
      xColumn: [depth.across, x.top, depth.across, x.top + low],
      wRow: [w.left, depth.down, w.left + broad, depth.down],
      wColumn: [column, w.top, column, w.top + long],
      outRow: [w.left, row, w.left + broad, row],
      outColumn: [column, x.top, column, x.top + low],
    };
    const [at, meets, adds] = {
      x: [[depth.across, row], ["wRow"], ["outRow"]],
      w: [[column, depth.down], ["xColumn"], ["outColumn"]],
      out: [[column, row], ["xRow", "wColumn"], []],
    }[one];
    const drawn = (dashes) => (name) =>
      line(...lines[name], SERIES[1], { stroke_width: 2.5, stroke_dasharray: dashes });
    return [meets.map(drawn("none")), adds.map(drawn("3 3")), dot(...at, INK, 4)];
  }
  // A bar as long as a round number of elements.
  function scale() {
    const count = 10 ** Math.floor(Math.log10(80 / pixel));
    const right = 10 + count * pixel;
    return [
      line(10, base - 6, right, base - 6, INK, { stroke_width: 3 }),
      label(right + 6, base - 2, _("{count} elements, all sides to scale", { count: text(count) })),
    ];
  }
  return [arrays, names(), marked(), scale()];
}

// ---- the lower part: a row for each array and one for all, with bytes, uses, FLOP/byte and the ridge
function gauges(_, v, wide, base) {
  const x = log(0.5, 5e4, 10, wide - 10);
  const corner = x.inside(v.ridge);
  const bottom = base + 44 + 3 * ROW + 18;

  function row(array, bytes, count) {
    const places = { array, bytes: text(bytes, "B"), count: text(count) };
    const words =
      array === "out" ? _("{array}: {bytes} written, {count} products each", places)
      : count === 1 ? _("{array}: {bytes} loaded, each used {count} time", places)
      : _("{array}: {bytes} loaded, each used {count} times", places);
    return { words, intensity: v.flops / bytes };
  }
  const all = { bytes: text(v.bytes, "B"), intensity: text(v.intensity, "FLOP/byte") };
  const rows = [
    row("x", v.x_bytes, v.F),
    row("w", v.w_bytes, v.B),
    row("out", v.out_bytes, v.D),
    { words: _("all: {bytes}, {intensity}", all), intensity: v.intensity },
  ];
  function gauge({ words, intensity }, i) {
    const y = base + 44 + ROW * i;
    const last = i === rows.length - 1;
    return [
      label(10, y, words, last ? bold : {}),
      box(10, y + 5, corner - 10, 12, ZONES[0], flat),
      box(corner, y + 5, wide - 10 - corner, 12, ZONES[2], flat),
      line(corner, y + 4, corner, y + 18, INK, { stroke_width: 2 }),
      dot(x.inside(intensity), y + 11, last ? INK : SERIES[0], last ? 6 : 4.5),
    ];
  }
  function axis() {
    const anchor = corner < 90 ? {} : corner > wide - 90 ? end : middle;
    return [
      ticks(x, 0).map((n) => [
        line(x.at(n), bottom, x.at(n), bottom + 4, MUTED, { stroke_width: 1 }),
        label(x.at(n), bottom + 16, text(n), middle),
      ]),
      line(corner, bottom, corner, bottom + 22, INK, { stroke_width: 2 }),
      label(corner, bottom + 34, _("ridge: {ridge}", { ridge: text(v.ridge, "FLOP/byte") }), anchor),
      label(10, bottom + 50, _("← memory-bound")),
      label(wide - 10, bottom + 50, _("compute-bound →"), end),
    ];
  }
  return [
    label(10, base + 22, _("FLOP/byte if only one array moved, and for all:")),
    rows.map(gauge),
    axis(),
  ];
}
