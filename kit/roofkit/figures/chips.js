// @ts-check
// Roofs of a matmul split over N chips, and the critical depth.
import { choice, OWN, sizes, slider } from "./lib/figure.js";
import { allReduceOver, bound, matmul, reduceScatter, toGroup } from "./lib/formulas.js";
import { axes, clipped, curve, DASHES, dot, end, INK, label, log, middle, SERIES, spaced, spread, upright } from "./lib/svg.js";
import { text } from "./lib/units.js";
import { boundsWords, misfit, timesAndLink } from "./lib/words.js";

const LOW = 2 ** 9;
const HIGH = 2 ** 17;
const DEPTHS = spread(LOW, HIGH, 33); // at which curves are drawn
const TICKS = [0, 1, 2, 3, 4].map((power) => LOW * 4 ** power);

// rooflib.split in bf16: what each chip computes, and what it sends for its output of `size` bytes. `adds` says
// whether the link's switch adds up.
const part = (size, dimension, { split, N }) => (split === dimension ? size / N : size);
const sent = (size, { split, N }, adds) => (split === "D" ? allReduceOver(size, N, adds) : reduceScatter(size, N));
function shared(s, adds, D = s.D) {
  const op = matmul(part(s.B, "B", s), part(D, "D", s), part(s.F, "F", s), 2, 2, 2);
  return { ...op, sent: sent(2 * s.B * s.F, s, adds) };
}
// Divided last, so that a whole number of rows comes out whole.
const criticalDepth = (s, adds, { peak, link }) => (s.N * peak * sent(1, s, adds)) / link;

export const chips = (catalog, _) => {
  // Chips with one of their links in place of the first.
  const links = Object.fromEntries(
    catalog.chips
      .filter(({ peak }) => peak)
      .flatMap((chip) => chip.links.map((link) => [`${chip.name}, ${link.name}`, { ...chip, ...link }])),
  );

  function compute({ own, ...s }) {
    const chip = s.over === OWN ? own : links[s.over];
    const adds = chip.reduces;
    const roof = { ...chip, link: toGroup(chip, s.N) };
    const op = shared(s, adds);
    const b = bound(op, roof);
    const times = (D) => bound(shared(s, adds, D), roof);
    // A chip holds its parts of x and w, and at the end the whole output.
    const held = op.loaded + 2 * s.B * s.F;
    const threshold = criticalDepth(s, adds, roof);
    return {
      ...b, times, held, threshold,
      memory: chip.memory,
      busy: b.t_math / b.lower,
      first: Math.ceil(threshold),
      words: { ...boundsWords(_, b), fits: misfit(_, held, chip) },
    };
  }

  function draw(v, wide) {
    const height = wide < 480 ? 280 : 350;
    const x = log(LOW, HIGH, 52, wide - 28);
    // The shortest and longest time at the ends of the curves, with some margin.
    const ends = [v.times(LOW), v.times(HIGH)];
    const shortest = Math.min(ends[0].t_math, ends[0].t_comms, v.t_link);
    const longest = Math.max(ends[1].t_math, ends[1].t_comms, v.t_link);
    const margin = (longest / shortest) ** 0.08;
    const y = log(shortest / margin, longest * margin, height - 42, 28);
    // A ring where the link takes as long as the arithmetic, and beside it from which D on that is so: on the side
    // of the link's line where the arithmetic has no curve.
    const isShown = v.threshold >= LOW && v.threshold <= HIGH;
    const [at, right] = [x.at(v.threshold), v.threshold < 3e4];
    const numberAt = { x: at + (right ? 8 : -8), y: y.at(v.t_link) + (right ? 20 : -10) };
    const ring = isShown && [
      dot(at, y.at(v.t_link), "none", 6.2, { stroke: INK, stroke_width: 2 }),
      label(numberAt.x, numberAt.y, `D = ${text(v.first)}`, right ? {} : end),
    ];

    // Beside which D the name of a curve may stand; pixels to its middle, from there to its ends, and down to its
    // baseline. It takes the first place where it meets no curve, no other text and not the line at the chosen D.
    const names = {
      t_math: [_("compute"), [2 ** 16, 2 ** 17, 2 ** 14, 2 ** 12], -40, 30, -6],
      t_comms: ["HBM", [2 ** 12, 2 ** 10, 2 ** 14, 2 ** 15, 2 ** 11, 2 ** 16], 27, 18, 15],
      t_link: [_("link"), [LOW, 2 ** 11, 2 ** 14], 18, 15, -6],
    };
    const taken = isShown ? [{ at: numberAt.x + (right ? 34 : -34), base: numberAt.y, half: 34 }] : [];
    const isFree = ({ at, base, half }) => {
      const crosses = (time) => {
        const down = [-half, half].map((far) => y.at(v.times(x.back(at + far))[time]) - base);
        return Math.max(...down) > -11 && Math.min(...down) < 3;
      };
      const meets = (other) => Math.abs(other.at - at) < half + other.half && Math.abs(other.base - base) < 14;
      return Math.abs(x.at(v.D) - at) >= half && !taken.some(meets) && !Object.keys(names).some(crosses);
    };
    const curves = Object.entries(names).map(([time, [words, places, toMiddle, half, down]], i) => {
      const color = SERIES[i];
      const all = places.map((D) => ({ at: x.at(D) + toMiddle, base: y.at(v.times(D)[time]) + down, half }));
      const place = all.find(isFree) ?? all.at(-1);
      taken.push(place);
      const path = curve(DEPTHS.map((D) => [x.at(D), y.at(v.times(D)[time])]), color, { stroke_dasharray: DASHES[i] });
      return [
        clipped(path, x, y),
        label(place.at, place.base, words, { fill: color, ...middle }),
        dot(x.at(v.D), y.at(v[time]), color, 4.7),
      ];
    });
    return {
      height,
      svg: [
        axes(x, y, ["D", _("time")], { unit: "s", room: [42, 18], more: true, numbers: spaced(x, TICKS) }),
        upright(x, y, v.D),
        curves,
        ring,
      ],
    };
  }

  return {
    title: _("Move the number of chips and D: when does the link stop binding?"),
    controls: {
      N: slider(_("N (chips)"), [1, 2, 3, 4, 5, 6, 7, 8].map((power) => 2 ** power), 2),
      D: slider("D", sizes(9, 17), 4096),
      split: choice(_("split dimension"), ["B", "D", "F"], "D"),
      over: choice(_("chip and link"), [...Object.keys(links), OWN], "TPU v5e, ICI", { [OWN]: _("my own chip") }),
      B: slider(_("B (tokens)"), sizes(9, 17), 4096),
      F: slider("F", sizes(9, 17), 16384),
    },
    compute,
    numbers: [
      ["busy", _("of peak"), "%"],
      ["first", _("D at least"), ""],
      ["lower", _("lower bound"), "s"],
      ["upper", _("upper bound"), "s"],
      ["held", _("held by a chip"), "B"],
      ["memory", _("its HBM"), "B"],
      ...timesAndLink(_),
    ],
    says: _("Each of {N} chips computes for {t_math}, moves bytes from and to HBM for {t_comms} and sends for {t_link}: {binding} binds. {bounds} Split along {split} over {over}, the link takes no longer than computing from D = {first} on; here D is {D}.{fits}"),
    draw,
  };
};
