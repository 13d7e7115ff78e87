// @ts-check
// A bf16 matmul split over N chips: what each chip holds of each matrix, and what it sends.
//
// Source: the table of rooflib.operations.split. `cut` says how a matrix lies on the chips: WHOLE on each
// of them, or in strips of rows or of columns.
import { choice, slider } from "./lib/figure.js";
import { reduceScatter } from "./lib/formulas.js";
import { arrow, bold, box, flat, INK, label, middle, MUTED, range, SERIES, square, ZONES } from "./lib/svg.js";
import { text } from "./lib/units.js";

const SIZE = 2; // bytes for each element in bf16
const SIDES = [4096, 8192, 16384];
const [EVERYWHERE, IN_PARTS] = ["whole on every chip", "a part on each chip"];
const [WHOLE, ROWS, COLUMNS] = [0, 1, 2];
const CUTS = {
  B: { x: ROWS, w: WHOLE, out: ROWS },
  D: { x: COLUMNS, w: ROWS, out: WHOLE },
  F: { x: WHOLE, w: COLUMNS, out: COLUMNS },
};
const TRAVELS = SERIES[1];

// Pixels: margins and gaps, how far behind the last sheet of a pile is, and the greatest widths.
const TOP = 72;
const DOWN = 52;
const ACROSS = 36;
const BAND = 86;
const LEFT = 22;
const PILE = 16;
const WIDEST = 480;
const CAPTION = 80;
const SENTENCE = 156; // left of the last matrix, for the words on the bytes that are sent
const WIDEST_SHARE = 1.75; // of out: with eight chips, an all-reduce sends 2 × 7/8 of it

export const shards = (_catalog, _) => ({
  title: _("Choose the dimension that is split: who holds what, and what has to travel?"),
  controls: {
    split: choice(_("split dimension"), ["B", "D", "F"], "D"),
    N: slider(_("N (chips)"), [2, 4, 8], 4),
    result: choice(_("out at the end"), [EVERYWHERE, IN_PARTS], EVERYWHERE, {
      [EVERYWHERE]: _("whole on every chip"), [IN_PARTS]: _("a part on each chip"),
    }),
    B: slider(_("B (tokens)"), SIDES, 8192),
    D: slider("D", SIDES, 8192),
    F: slider("F", SIDES, 8192),
  },

  compute({ split, N, result, B, D, F }) {
    const byD = split === "D"; // then each chip has partial sums for all of out
    const cut = { ...CUTS[split], end: WHOLE };
    if (result === IN_PARTS) cut.end = byD ? ROWS : cut.out;
    const part = (...dimensions) => (dimensions.includes(split) ? 1 / N : 1);
    const [x, w] = [SIZE * B * D * part("B", "D"), SIZE * D * F * part("D", "F")];
    const out = SIZE * B * F;
    const written = out * part("B", "F");
    // Passes of the ring: one adds up partial sums, one brings all parts to all chips.
    const passes = Number(byD) + Number(result === EVERYWHERE);
    const collectives = [_("nothing travels"), byD ? _("reduce-scatter") : _("all-gather"), _("all-reduce")];
    const collective = collectives[passes];

    const partOf = (matrix) => _("1/{n} of {matrix}", { n: text(N), matrix });
    const has = (matrix, how) => (how === WHOLE ? _("all of {matrix}", { matrix }) : partOf(matrix));
    return {
      cut, passes, written,
      partial: byD,
      share: (passes * (N - 1)) / N,
      x_part: x,
      w_part: w,
      out_bytes: out,
      sent: passes * reduceScatter(out, N),
      held: x + w + Math.max(written, cut.end === WHOLE ? out : out / N),
      words: {
        has_x: has("x", cut.x),
        has_w: has("w", cut.w),
        has_out: byD ? _("partial sums for all of out") : partOf("out"),
        ends: has("out", cut.end),
        collective,
        then: passes
          ? _("Each chip then sends {sent} ({collective}) and ends with {ends}.", { collective })
          : _("Nothing travels: each chip sends {sent} and ends with {ends}."),
      },
    };
  },

  numbers: [
    ["x_part", _("x on each chip"), "B"],
    ["w_part", _("w on each chip"), "B"],
    ["written", _("computed by each chip"), "B"],
    ["sent", _("sent by each chip"), "B"],
    ["held", _("held by each chip at most"), "B"],
  ],
  says: _("Split along {split} over {N} chips, each chip holds {has_x} ({x_part}) and {has_w} ({w_part}) and computes {has_out} ({written}). {then}"),

  draw(v, wide, words) {
    const { split, N, B, D, F, cut, partial } = v;
    const n = text(N);
    const unit = pixels(v, wide);
    const outLeft = Math.max(SENTENCE + 8, (wide + (D - F) * unit + LEFT + ACROSS - PILE - 4) / 2);
    const outTop = TOP + DOWN + unit * D;
    const below = outTop + unit * B;
    const endTop = below + BAND;
    const xLeft = outLeft - unit * D - ACROSS;
    const keyTop = endTop + Math.max(unit * B + 32, 72);
    const center = outLeft + (unit * F) / 2;

    // A matrix with its name and what each chip has of it, above numbered strips or a pile of sheets.
    function matrix(name, how, rows, columns, left, top, sums = false) {
      const shape = { left, top, long: unit * columns, high: unit * rows };
      const above = top - 8 - (how === WHOLE ? PILE : 0);
      const caption = Math.min(left, wide - CAPTION);
      const whole = sums ? _("partial sums") : _("all on each");
      return [
        how === WHOLE ? sheets(shape, N, sums, _("1 to {n}", { n })) : strips(shape, N, how),
        label(caption, above - 14, name, bold),
        label(caption, above, how === WHOLE ? whole : _("1/{n} on each", { n })),
      ];
    }
    const side = (x, y, name) => label(x, y, name, { ...middle, fill: MUTED });
    // A bar for the bytes that are sent, and a frame for those of out, on one scale.
    function sent() {
      const left = outLeft - SENTENCE;
      const full = (SENTENCE - 14) / WIDEST_SHARE;
      const does = v.passes
        ? _("Each chip sends\n{times} × out = {bytes}", { times: text(v.share), bytes: text(v.sent, "B") })
        : _("Each chip keeps\nits part of out.");
      const [first, second] = does.split("\n");
      return [
        v.passes && arrow(center, below + 6, center, endTop - PILE - 38, TRAVELS, { stroke_width: 2.5 }),
        label(left, endTop - 20, words.collective, bold),
        label(left, endTop - 4, first),
        label(left, endTop + 12, second),
        box(left, endTop + 20, v.share * full, 14, TRAVELS, flat),
        box(left, endTop + 20, full, 14, "none", { ...square, stroke: INK, stroke_width: 1.5 }),
        label(left, endTop + 50, _("The frame: out, {bytes}", { bytes: text(v.out_bytes, "B") })),
      ];
    }
    const key = [
      _("A number: the chip that holds the strip."),
      _("A pile: a sheet of that size on every chip."),
      _("Dashed: parts of sums that must still be added."),
    ];
    return {
      height: keyTop + 38,
      svg: [
        label(8, 16, _("Split: {split} over {n} chips. Sides to scale.", { split, n }), bold),
        matrix("x[B, D]", cut.x, B, D, xLeft, outTop),
        matrix("w[D, F]", cut.w, D, F, outLeft, TOP),
        matrix("out[B, F]", cut.out, B, F, outLeft, outTop, partial),
        matrix(_("out, at end"), cut.end, B, F, outLeft, endTop),
        side(xLeft - 10, outTop + (unit * B) / 2 + 4, "B"),
        side(xLeft + (unit * D) / 2, below + 14, "D"),
        side(outLeft - 10, TOP + (unit * D) / 2 + 4, "D"),
        side(center, endTop + unit * B + 14, "F"),
        sent(),
        key.map((line, row) => label(8, keyTop + 16 * row, line)),
      ],
    };
  },
});

// Pixels for each element. On a phone the drawing is lower, so that it, the controls and the numbers fit on
// the screen.
function pixels({ B, D, F }, wide) {
  const room = Math.min(wide, WIDEST);
  return Math.min(
    (room - LEFT - ACROSS - PILE - 4) / (D + F),
    (room - SENTENCE - PILE - 12) / F,
    Math.min(380, 116 + 0.4 * wide) / (D + 2 * B),
  );
}

const tint = (i) => ZONES[i % 4];

// A numbered strip for each chip; where there is no room, every second, fourth or eighth number.
function strips({ left, top, long, high }, N, how) {
  const [width, height] = how === ROWS ? [long, high / N] : [long / N, high];
  const room = how === ROWS ? height / 10 : width / 9;
  const every = [1, 2, 4].find((step) => room * step >= 1) ?? 8;
  return range(N).map((i) => {
    const [x, y] = how === ROWS ? [left, top + i * height] : [left + i * width, top];
    const number = i % every === 0 && label(x + width / 2, y + height / 2 + 4, text(i + 1), middle);
    return [box(x, y, width, height, tint(i), square), number];
  });
}

// A pile of sheets, one for each chip; the first chip's is in front. Dashed edges: partial sums.
function sheets({ left, top, long, high }, N, sums, words) {
  const edge = { ...square, stroke_dasharray: sums ? "4 2" : "none" };
  return [
    range(N).reverse().map((i) => {
      const behind = (i * PILE) / (N - 1);
      return box(left + behind, top - behind, long, high, tint(i), edge);
    }),
    label(left + long / 2, top + high / 2 + 4, words, middle),
  ];
}
