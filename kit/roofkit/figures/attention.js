// @ts-check
// Time per token against tokens per second, for decode steps with batches of all sizes.
//
// All counts are for one chip, as in rooflib.llm. Data types without a control are bf16.
import { chipChoice, choice, sizes, slider } from "./lib/figure.js";
import { bound, step } from "./lib/formulas.js";
import { axes, bold, clipped, curve, DASHES, dot, end, INK, label, log, SERIES, spread } from "./lib/svg.js";
import { text } from "./lib/units.js";
import { boundsWords, misfit, timesAndLink } from "./lib/words.js";

const MODELS = ["Llama 2 7B", "Llama 2 13B", "Llama 2 70B", "Llama 3 8B", "Llama 3 70B", "Llama 3.1 405B"];
const TYPES = ["bf16", "int8"];
const KINDS = 9; // of operations in a step
const ATTENTION = 2; // the place of attention among them
const LARGEST = 2 ** 18; // the batch at which a curve ends
const BATCHES = spread(1, LARGEST, 91);

export const attention = (catalog, _) => ({
  title: _("Move the batch: how long does each token take, and how many come out?"),
  controls: {
    B: slider(_("B (sequences)"), sizes(0, 12), 16),
    S: slider(_("S (positions)"), sizes(7, 17), 8192),
    model: choice(_("model"), MODELS, "Llama 3 8B"),
    chip: chipChoice(catalog, _, "H100 SXM"),
    chips: slider(_("chips"), [1, 2, 4, 8], 1),
    w: choice(_("type of weights"), TYPES, "bf16"),
    kv: choice(_("type of the cache"), TYPES, "bf16"),
  },

  compute({ B, S, model, chip, chips, w, kv }) {
    const setting = {
      S, chips,
      w: Array(KINDS).fill(catalog.bytes[w]),
      kv: catalog.bytes[kv],
      x: catalog.bytes.bf16,
      adds: chip.reduces,
    };
    const stepOf = (batch) => step(catalog.models[model], { ...setting, B: batch });
    function pointOf(batch) {
      const { lower } = bound(stepOf(batch), chip);
      return { rate: batch / lower, lower };
    }
    const now = stepOf(B);
    const times = bound(now, chip);
    // Weights stay in HBM; each sequence adds its caches.
    const resting = stepOf(0).held;
    const fitting = Math.max(0, Math.floor((chip.memory - resting) / (stepOf(1).held - resting)));
    return {
      ...times, fitting, pointOf,
      rate: B / times.lower,
      caches: now.rows.bytes[ATTENTION] / now.bytes,
      held: now.held,
      words: {
        ...boundsWords(_, times),
        room: fitting
          ? _("At this length HBM has room for a batch of {fitting}.")
          : _("The weights alone are too large for it."),
        fits: misfit(_, now.held, chip),
      },
    };
  },

  numbers: [
    ["lower", _("time per token, at least"), "s"],
    ["rate", _("tokens per second, at most"), ""],
    ["fitting", _("sequences that fit"), ""],
    ["caches", _("caches, of the bytes moved"), "%"],
    ...timesAndLink(_),
    ["upper", _("upper bound"), "s"],
    ["held", _("held by a chip"), "B"],
    ["memory", _("its HBM"), "B"],
  ],
  says: _("A step of {model} on {chips} × {chip}, with a batch of {B} and {S} positions in each: a chip computes for {t_math}, moves bytes from and to HBM for {t_comms} and sends for {t_link}, so {binding} binds. {bounds} At best {rate} tokens come out per second. {room}{fits}"),

  draw({ B, fitting, rate, lower, pointOf }, wide) {
    const height = wide < 480 ? 280 : 350;
    // The axes show batches up to twice the largest that fits, and the chosen one.
    const shortest = pointOf(1).lower / 2.2;
    const longest = Math.max(1.3 * pointOf(Math.max(2 * fitting, B, 8)).lower, 20 * shortest);
    const x = log(1 / (1.3 * 2.2 * shortest), 3 * pointOf(LARGEST).rate, 56, wide - 30);
    const y = log(shortest, longest, height - 42, 28);

    function curveOf(batchAt, dashes) {
      const points = BATCHES.map(batchAt).map(pointOf).map((at) => [x.at(at.rate), y.at(at.lower)]);
      return curve(points, SERIES[0], { stroke_dasharray: dashes });
    }
    // A ring at the largest batch that fits.
    function largest() {
      const at = pointOf(fitting);
      const [left, top] = [x.at(at.rate), y.at(at.lower)];
      const words = _("{count} fit", { count: text(fitting) });
      return [
        dot(left, top, "none", 6.2, { stroke: INK, stroke_width: 2 }),
        // Beside the axis there is no room at the left of the ring.
        left < x.start + 54 ? label(x.start + 4, top - 12, words) : label(left - 10, top - 6, words, end),
      ];
    }
    // A solid curve for batches that fit, and a dotted one for those that don't.
    const inside = [
      fitting > 0 && curveOf((batch) => Math.min(fitting, batch), DASHES[0]),
      curveOf((batch) => Math.max(fitting, batch), DASHES[2]),
      fitting > 0 && largest(),
      dot(x.at(rate), y.at(lower), SERIES[1], 5.9),
    ];
    const titles = [_("tokens per second"), _("time per token")];
    return {
      height,
      svg: [
        axes(x, y, titles, { unit: "s", room: [54, 18], more: true }),
        clipped(inside, x, y),
        label(x.at(rate) + 8, y.at(lower) + 20, `B = ${text(B)}`, bold),
      ],
    };
  },
});
