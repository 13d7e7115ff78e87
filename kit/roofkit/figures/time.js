// @ts-check
// Times of FLOPs and bytes on a chip in bf16, both bounds, and how long the compute units wait.
import { chipChoice, decades, slider } from "./lib/figure.js";
import { bound } from "./lib/formulas.js";
import { box, end, GRID, INK, label, line, middle, MUTED, range, roundNumber, SERIES } from "./lib/svg.js";
import { text } from "./lib/units.js";
import { boundsWords, bytesMisfit, twoTimes } from "./lib/words.js";

// Pixels. ROWS are the middles of the three rows; TICK_ROOM is what a number of the axis needs.
const LEFT = 68;
const RIGHT = 14;
const BAR = 34;
const TICK_ROOM = 50;
const ROWS = { compute: 24, HBM: 70, bounds: 116 };
const AXIS = 158;

export const time = (catalog, _) => ({
  title: _("Move the FLOPs, the bytes and the chip: which of the two takes longer?"),
  controls: {
    flops: slider(_("operations"), decades(9, 15), 1e12, "FLOP"),
    bytes: slider(_("bytes from and to HBM"), decades(6, 12), 2e9, "B"),
    chip: chipChoice(catalog, _, "H100 SXM"),
  },

  compute({ flops, bytes, chip }) {
    const times = bound({ flops, bytes }, chip);
    const idle = 1 - times.t_math / times.lower;
    return {
      ...times, idle,
      words: {
        ...boundsWords(_, times),
        waiting:
          idle > 0
            ? _("At the lower bound the compute units wait for {idle} of the time.")
            : _("At the lower bound the compute units never wait."),
        fits: bytesMisfit(_, bytes, chip),
      },
    };
  },

  numbers: [...twoTimes(_), ["idle", _("idle fraction"), "%"]],
  says: _("On {chip}, arithmetic of {flops} takes {t_math} and traffic of {bytes} takes {t_comms}: {binding} binds. {bounds} {waiting}{fits}"),

  draw(v, wide, words) {
    const longest = 1.1 * v.upper;
    const length = (seconds) => ((wide - LEFT - RIGHT) * seconds) / longest;
    const x = (seconds) => LEFT + length(seconds);
    const names = { compute: _("compute"), HBM: "HBM", bounds: _("bounds") };

    // A time as a bar from zero, with its number inside if the bar is long.
    function bar(seconds, y, color) {
      const inside = seconds > 0.6 * v.upper;
      const look = { stroke: color, fill_opacity: 0.35, rx: 0 };
      return [
        box(LEFT, y - BAR / 2, length(seconds), BAR, color, look),
        label(x(seconds) + (inside ? -6 : 6), y + 4, text(seconds, "s"), inside ? end : {}),
      ];
    }
    // A line from the lower bound to the upper, with both numbers below it.
    function bounds(y) {
      const thick = { stroke_width: 2 };
      return [
        line(x(v.lower), y, x(v.upper), y, INK, thick),
        [v.lower, v.upper].map((bound) => line(x(bound), y - 8, x(bound), y + 8, INK, thick)),
        label(x(v.upper) + 4, y + 24, _("{lower} to {upper}", words), end),
      ];
    }
    function axis() {
      const tick = roundNumber(longest / 2.8);
      const ticks = range(Math.floor(longest / tick) + 1);
      const crowded = length(tick) <= TICK_ROOM; // then every second number is left out
      const fits = (i) => x(i * tick) <= wide - TICK_ROOM / 2;
      return [
        ticks.map((i) => line(x(i * tick), ROWS.compute - BAR / 2, x(i * tick), AXIS, GRID, { stroke_width: 0.6 })),
        ticks
          .filter((i) => fits(i) && (!crowded || i % 2 === 0))
          .map((i) => label(x(i * tick), AXIS + 16, text(i * tick, "s"), middle)),
        line(LEFT, AXIS, wide - RIGHT, AXIS, MUTED, { stroke_width: 1 }),
        label((LEFT + wide - RIGHT) / 2, AXIS + 34, _("time"), middle),
      ];
    }
    return {
      height: AXIS + 42,
      svg: [
        axis(),
        Object.entries(ROWS).map(([row, y]) => label(LEFT - 8, y + 4, names[row], end)),
        bar(v.t_math, ROWS.compute, SERIES[0]),
        bar(v.t_comms, ROWS.HBM, SERIES[1]),
        bounds(ROWS.bounds),
      ],
    };
  },
});
