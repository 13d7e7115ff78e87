// @ts-check
// A chip's matrix and vector units as squares, areas proportional to peaks, filled by the share busy.
//
// Peaks are dense FLOP/s: bf16 for the matrix unit, fp32 for the vector unit. Ridges and intensities are
// FLOP/byte of HBM, with two bytes for each element. At best, a unit is busy for the share
// intensity ÷ ridge of the time (Williams, Waterman and Patterson, CACM 52(4), 2009).
import { choice } from "./lib/figure.js";
import { bound, dot as dotProduct, elementwise, fractionAt, matmul, ridge } from "./lib/formulas.js";
import { bold, box, dot, end, flat, GRID, label, line, log, middle, MUTED, SERIES, square, ticks, ZONES } from "./lib/svg.js";
import { shareText, text } from "./lib/units.js";
import { unitName } from "./lib/words.js";

const N = 2 ** 24; // elements of a vector, as in the chapter; longer vectors have the same intensity
const [D, F] = [4096, 16384]; // sides of the weight of the matmul
const VECTOR_WORKS = {
  "dot product": dotProduct(N, 2),
  addition: elementwise(N, 2, 1, 2),
  ReLU: elementwise(N, 1, 1, 2),
  GELU: elementwise(N, 1, 9, 2), // 9 FLOPs for each element, as the chapter counts them
};
const MATRIX_WORKS = {
  "matmul, 1 row": matmul(1, D, F, 2, 2, 2),
  "matmul, 32 rows": matmul(32, D, F, 2, 2, 2),
  "matmul, 4,096 rows": matmul(4096, D, F, 2, 2, 2),
};
const WORKS = { ...VECTOR_WORKS, ...MATRIX_WORKS };
const COLOR = { matrix: SERIES[0], vector: SERIES[1] };
const TOP = 60; // pixels above the squares

export function units(catalog, _) {
  const chips = catalog.chips.filter(({ peak, peaks }) => peak && peaks["vector fp32"]);
  const rows = (count) => _("matmul, {count} rows", { count });
  const names = {
    "dot product": _("dot product"),
    addition: _("addition"),
    "matmul, 1 row": _("matmul, {count} row", { count: "1" }),
    "matmul, 32 rows": rows("32"),
    "matmul, 4,096 rows": rows("4,096"),
  };
  const said = {
    vector: _("The vector unit of {chip} does this work ({work}); the matrix unit has no part in it."),
    matrix: _("The matrix unit of {chip} does this work ({work}); the vector unit has no part in it."),
    below: _("At {intensity}, below the ridge of {ridge_text}, the bytes set the pace: the unit is busy {busy_text} of the time at best."),
    above: _("At {intensity}, above the ridge of {ridge_text}, the unit can be busy all of the time."),
  };

  return {
    title: _("Which unit does the work, and how busy is it?"),
    controls: {
      work: choice(_("operation"), Object.keys(WORKS), "dot product", names),
      chip: choice(_("chip"), chips.map(({ name }) => name), "TPU v5p"),
    },

    compute({ work, chip }) {
      const { flops, bytes } = WORKS[work];
      const units = { matrix: chip, vector: { ...chip, peak: chip.peaks["vector fp32"] } };
      const [matrix_ridge, vector_ridge] = [ridge(units.matrix), ridge(units.vector)];
      const worker = work in MATRIX_WORKS ? "matrix" : "vector";
      const corner = ridge(units[worker]);
      const intensity = flops / bytes;
      const busy = fractionAt(intensity, corner);
      return {
        worker, matrix_ridge, vector_ridge, intensity,
        matrix: units.matrix.peak,
        vector: units.vector.peak,
        ratio: units.matrix.peak / units.vector.peak,
        matrix_busy: worker === "matrix" ? busy : 0,
        vector_busy: worker === "vector" ? busy : 0,
        lower: bound({ flops, bytes }, units[worker]).lower,
        words: {
          told: said[worker],
          pace: intensity >= corner ? said.above : said.below,
          ridge_text: text(corner, "FLOP/byte"),
          busy_text: shareText(busy),
        },
      };
    },

    numbers: [
      ["intensity", _("intensity"), "FLOP/byte"],
      ["matrix_busy", _("matrix unit busy"), "%"],
      ["vector_busy", _("vector unit busy"), "%"],
      ["lower", _("time, lower bound"), "s"],
      ["matrix", _("matrix unit, bf16"), "FLOP/s"],
      ["vector", _("vector unit, fp32"), "FLOP/s"],
      ["ratio", _("matrix ÷ vector"), ""],
      ["matrix_ridge", _("ridge, matrix unit"), "FLOP/byte"],
      ["vector_ridge", _("ridge, vector unit"), "FLOP/byte"],
    ],
    says: "{told} {pace}",

    draw(v, wide, words) {
      const side = Math.min(0.5 * wide, 230);
      const bottom = TOP + side;
      const row = { vector: bottom + 96, matrix: bottom + 138 };
      const baseline = bottom + 152;
      const x = log(0.1, 1e4, 88, wide - 24);
      const scale = _("To scale within a chip: a square is a peak,\nthe filled part is what the operation reaches.").split("\n");

      // A square for a unit's peak, filled from below by the share that it is busy.
      function peakOf(unit, left, size, kind) {
        const busy = v[`${unit}_busy`];
        const filled = size * busy;
        const share = busy > 0 ? _("{share} busy", { share: shareText(busy) }) : _("no part in it");
        return [
          box(left, bottom - size, size, size, ZONES[3], square),
          busy > 0 && box(left, bottom - filled, size, filled, COLOR[unit], flat),
          label(left, bottom - size - 40, unitName(_, unit), bold),
          label(left, bottom - size - 24, `${text(v[unit], "FLOP/s")} ${kind}`),
          label(left, bottom - size - 8, share),
        ];
      }
      // The intensities below and above a unit's ridge.
      function ranges(unit) {
        const y = row[unit];
        const corner = x.inside(v[`${unit}_ridge`]);
        return [
          box(x.start, y - 7, corner - x.start, 14, ZONES[0], square),
          box(corner, y - 7, x.end - corner, 14, ZONES[2], square),
          line(corner, y - 10, corner, y + 7, COLOR[unit], { stroke_width: 2.5 }),
          label(corner, y - 14, _("ridge {ridge}", { ridge: text(v[`${unit}_ridge`]) }), middle),
          label(8, y + 4, unitName(_, unit)),
        ];
      }
      // The axis of both rows, and what their colors mean.
      function axis() {
        const key = [
          [ZONES[0], _("left of the ridge: waits for bytes")],
          [ZONES[2], _("right of it: can be kept busy")],
        ];
        return [
          ticks(x, 0).map((n) => line(x.at(n), row.vector - 7, x.at(n), baseline, GRID, { stroke_width: 0.6 })),
          ticks(x, 44).map((n) => label(x.at(n), baseline + 14, text(n), middle)),
          line(x.start, baseline, x.end, baseline, MUTED, { stroke_width: 1 }),
          label(x.end, baseline + 33, _("intensity (FLOP/byte)"), end),
          key.map(([color, meaning], i) => [
            box(8, baseline + 48 + 18 * i, 16, 11, color, square),
            label(30, baseline + 58 + 18 * i, meaning),
          ]),
        ];
      }
      return {
        height: baseline + 90,
        svg: [
          peakOf("matrix", 8, side, "bf16"),
          peakOf("vector", side + 36, side * Math.sqrt(v.vector / v.matrix), "fp32"),
          scale.map((line, i) => label(8, bottom + 20 + 16 * i, line)),
          axis(),
          ranges("vector"),
          ranges("matrix"),
          dot(14, bottom + 60, COLOR[v.worker]),
          label(26, bottom + 64, _("{work}: {intensity}", words)),
          dot(x.inside(v.intensity), row[v.worker], COLOR[v.worker]),
        ],
      };
    },
  };
}
