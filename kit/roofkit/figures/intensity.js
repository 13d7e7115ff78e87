// @ts-check
// FLOP/byte of three bf16 operations against their size n: dot product, addition and matmul.
import { chipChoice, sizes, slider } from "./lib/figure.js";
import { dot as dotProduct, elementwise, fractionAt, matmul, ridge as ridgeOf } from "./lib/formulas.js";
import { axes, clipped, curve, DASHES, dot, end, INK, label, line, log, SERIES, spaced, spread, upright } from "./lib/svg.js";
import { text } from "./lib/units.js";
import { matmulMisfit } from "./lib/words.js";

const LARGEST = 2 ** 14;
const SIZES = spread(1, LARGEST, 43);
const TICKS = [1, 4, 16, 64, 256, 1024, 4096, 16384];
const COUNTS = {
  dot: (n) => dotProduct(n, 2),
  add: (n) => elementwise(n, 2, 1, 2),
  matmul: (n) => matmul(n, n, n, 2, 2, 2),
};
const intensityOf = (name, n) => COUNTS[name](n).flops / COUNTS[name](n).bytes;

export const intensity = (catalog, _) => ({
  title: _("Move n: whose intensity grows until it reaches the ridge?"),
  controls: {
    n: slider(_("n (elements a side)"), sizes(0, 14), 256),
    chip: chipChoice(catalog, _, "TPU v5e"),
  },

  compute({ n, chip }) {
    const ridge = ridgeOf(chip);
    const [dot, add, matmul] = ["dot", "add", "matmul"].map((name) => intensityOf(name, n));
    return {
      ridge, dot, add, matmul,
      dot_share: fractionAt(dot, ridge),
      add_share: fractionAt(add, ridge),
      matmul_share: fractionAt(matmul, ridge),
      enough: 3 * ridge, // in bf16 the matmul's intensity is n / 3
      words: {
        matmul_side: matmul >= ridge ? _("right of it, bound by compute") : _("left of the ridge, bound by HBM"),
        fits: matmulMisfit(_, COUNTS.matmul(n).bytes, chip),
      },
    };
  },

  numbers: [
    ["matmul", _("matmul"), "FLOP/byte"],
    ["matmul_share", _("of peak, matmul"), "%"],
    ["ridge", _("ridge"), "FLOP/byte"],
    ["enough", _("matmul's n at the ridge"), ""],
    ["dot", _("dot product"), "FLOP/byte"],
    ["dot_share", _("of peak, dot product"), "%"],
    ["add", _("element-wise addition"), "FLOP/byte"],
    ["add_share", _("of peak, addition"), "%"],
  ],
  says: _("At n = {n} the matmul has {matmul}, the dot product {dot} and the addition {add}. The ridge of {chip} is {ridge}: the matmul is {matmul_side}, and reaches {matmul_share} of the peak. The dot product reaches {dot_share}.{fits}"),

  draw(v, wide) {
    const height = wide < 480 ? 280 : 350;
    const x = log(1, LARGEST, 46, wide - 26);
    const y = log(0.05, 1e4, height - 42, 28);
    const names = { dot: _("dot product"), add: _("addition"), matmul: _("matmul") };

    // Names avoid the chosen n: they stand at the right end of a line, or left if n is near it. The
    // matmul's name also avoids a ridge as low as a CPU's.
    function nameOf(operation, fill) {
      const rises = operation === "matmul";
      const left = rises ? v.n > 500 : v.n > 300;
      const low = rises ? (v.ridge > 3.5 && v.ridge < 18 ? 110 : 20) : 12;
      const at = left ? low : LARGEST;
      const place = [x.at(at) - 10, y.at(intensityOf(operation, at)) + (rises ? 4 : 15)];
      return label(...place, names[operation], { fill, ...(rises || !left ? end : {}) });
    }
    function curveOf(operation, series) {
      const color = SERIES[series];
      const points = SIZES.map((n) => [x.at(n), y.at(intensityOf(operation, n))]);
      return [
        clipped(curve(points, color, { stroke_dasharray: DASHES[series] }), x, y),
        nameOf(operation, color),
        dot(x.at(v.n), y.at(v[operation]), color, 4.7),
      ];
    }
    function ridge() {
      if (v.ridge < y.low || v.ridge > y.high) return "";
      const at = v.n > 20 ? 1 : v.ridge < 60 ? 1000 : 30;
      const words = _("ridge {ridge}", { ridge: text(Math.floor(v.ridge + 0.5)) });
      return [
        line(x.start, y.at(v.ridge), x.end, y.at(v.ridge), INK, { stroke_width: 2 }),
        label(x.at(at) + 4, y.at(v.ridge) - 6, words),
      ];
    }
    return {
      height,
      svg: [
        axes(x, y, ["n", "FLOP/byte"], { numbers: spaced(x, TICKS, 40) }),
        ridge(),
        upright(x, y, v.n),
        Object.keys(COUNTS).map(curveOf),
      ],
    };
  },
});
