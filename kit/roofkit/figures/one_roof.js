// @ts-check
// A chip, an operation to drag, and what limits it.
import { chipChoice, decades, slider } from "./lib/figure.js";
import { attainable, dot as dotProduct, fractionAt, matmul, ridge as ridgeOf } from "./lib/formulas.js";
import { dot, label, log, MUTED, rooflinePlot, SERIES } from "./lib/svg.js";
import { text } from "./lib/units.js";

const SMALL = 32;
const LARGE = 1024;
const layer = (batch) => matmul(batch, 4096, 16384, 2, 2, 2);
// The intensities of three operations in bf16.
const KNOWN = [dotProduct(1e6, 2), layer(SMALL), layer(LARGE)].map(({ flops, bytes }) => flops / bytes);

export const one_roof = (catalog, _) => ({
  title: _("Choose a chip and drag the operation: what holds it back?"),
  controls: {
    intensity: slider(_("arithmetic intensity"), decades(-1, 4), 5, "FLOP/byte"),
    chip: chipChoice(catalog, _, "TPU v5e"),
  },
  compute({ intensity, chip }) {
    const ridge = ridgeOf(chip);
    const share = fractionAt(intensity, ridge);
    const verdict =
      intensity >= ridge
        ? _("Arithmetic holds it back: in bf16 it can be no faster on this chip.")
        : _("Memory holds it back: the compute units wait for {idle} of the time.");
    return {
      ridge, share,
      idle: 1 - share,
      reached: attainable(intensity, chip),
      words: { verdict },
    };
  },
  numbers: [
    ["reached", _("reached, at best"), "FLOP/s"],
    ["share", _("of the peak"), "%"],
    ["idle", _("compute units idle"), "%"],
    ["ridge", _("the roof bends at"), "FLOP/byte"],
  ],
  says: _("At {intensity} the operation reaches {reached} at best on {chip}. {verdict}"),
  draw(v, wide, words) {
    const height = 320;
    const x = log(0.1, 1e4, 42, wide - 26);
    const y = log(1e11, 1e16, height - 44, 32);
    const plot = rooflinePlot(_, x, y);
    const corner = x.inside(v.ridge);
    const names = [
      _("dot product"),
      _("matmul, batch {size}", { size: text(SMALL, "", 4) }),
      _("batch {size}", { size: text(LARGE, "", 4) }),
    ];
    // The label is right of the slope, or centered under the ceiling.
    const known = KNOWN.map((intensity, i) => {
      const [left, top] = [x.at(intensity), y.inside(attainable(intensity, v))];
      const beside = intensity < v.ridge;
      const looks = { fill: MUTED, text_anchor: beside ? "start" : "middle" };
      return [dot(left, top, MUTED, 4), label(left + (beside ? 7 : 0), top + 20, names[i], looks)];
    });
    return {
      height,
      svg: [
        // The zones' names avoid the lines: one is above the slope, one below the ceiling.
        plot.zone(x.start, corner, 0, _("memory\nholds it back").split("\n"), 84, true),
        plot.zone(corner, x.end, 2, _("arithmetic\nholds it back").split("\n"), 84),
        plot.axes,
        plot.slope(v.bandwidth, v.peak, SERIES[0], { stroke_width: 2.5 }),
        plot.ceiling(v.ridge, v.peak, _("peak of {chip}", words), { stroke_width: 2.5 }),
        known,
        plot.upright(v.intensity),
        dot(x.inside(v.intensity), y.inside(v.reached), SERIES[1], 7),
      ],
      handles: [plot.handle(_("the operation"), v.intensity, v.reached)],
    };
  },
});
