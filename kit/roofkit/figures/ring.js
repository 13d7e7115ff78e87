// @ts-check
// An all-reduce on a ring as reduce-scatter and all-gather: what each chip holds, and what it has sent.
//
// Source: Patarasuk and Yuan, 2009, as in rooflib.operations; the order is that of the chapter. In step t
// of the reduce-scatter (from 0), chip k sends piece k - t to chip k + 1, which adds it to its own. In step
// t of the all-gather it sends piece k + 1 - t, which replaces that of chip k + 1.
import { decades, slider, steps } from "./lib/figure.js";
import { allReduce, ringSteps, total } from "./lib/formulas.js";
import { arrow, bold, box, end, flat, INK, label, line, middle, MUTED, range, SERIES, square, ZONES } from "./lib/svg.js";
import { text } from "./lib/units.js";

const LETTERS = "abcdefgh";
const MOST_CHIPS = LETTERS.length;
const ACCENT = SERIES[1];
// Pixels. The way back from the last chip to the first runs in the margins, MARGIN from the edges; TOKEN is
// the width of a piece that travels, and BAR the height of the parts in a cell.
const TOP = 66;
const ROW = 40;
const CELL = 32;
const BAR = 9;
const MARGIN = 13;
const TOKEN = 22;

const mod = (number, N) => ((number % N) + N) % N;

export const ring = (catalog, _) => ({
  title: _("Step around the ring: how many bytes does each chip send?"),
  controls: {
    step: steps(_("step"), range(2 * MOST_CHIPS - 1).map((step) => text(step)), { start: 3, last: "last" }),
    N: slider(_("N (chips)"), range(MOST_CHIPS - 1).map((i) => i + 2), 4),
    size: slider(_("array on each chip"), decades(6, 9), 1e8, "B"),
  },

  compute({ step, N, size }) {
    const [half, last] = [ringSteps(N, 1), ringSteps(N, 2)];
    const done = Math.min(step, last); // with the part of a step that is under way
    const happened = Math.floor(done);
    const share = happened / N;
    const totalShare = last / N;
    const stages = [
      [_("before the first step"), _("Each chip has its own part of every sum.")],
      [_("reduce-scatter"), _("What arrives is added to the chip’s own part.")],
      [_("reduce-scatter, done"), _("Each chip owns one piece with all {n} parts.", { n: text(N) })],
      [_("all-gather"), _("What arrives replaces the chip’s own part.")],
      [_("all-gather, done"), _("Every chip has every piece finished.")],
    ];
    // Exactly at `half`, the reduce-scatter is complete and the all-gather has not started.
    const [phase, holds] = stages[[done > 0, done >= half, done > half, done >= last].filter(Boolean).length];
    return {
      half, last, done, share,
      piece: size / N,
      sent: (happened * size) / N,
      total: allReduce(size, N),
      total_share: totalShare,
      words: {
        phase, holds,
        count: _("{n} of {all}", { n: text(happened), all: text(last) }),
        of_size: `${text(half)}/${text(N)}`,
        so_far: share === 1 ? _("as much as the array") : _("{count} times the array", { count: text(share) }),
        in_all: totalShare === 1
          ? _("as much as its size")
          : _("{count} times its size", { count: text(totalShare) }),
      },
    };
  },

  numbers: [
    ["piece", _("one piece"), "B"],
    ["sent", _("sent by each chip so far"), "B"],
    ["share", _("sent so far, in arrays"), ""],
    ["total", _("sent in all steps"), "B"],
    ["total_share", _("sent in all, in arrays"), ""],
  ],
  says: _("{N} chips in a ring, {count} steps done: {phase}. {holds} In each step every chip sends one of {N} pieces, {piece}, to the next chip. So far each has sent {sent}, {so_far} of {size}. In all it sends {total}: 2 times {of_size} of the array, {in_all}."),

  draw(v, wide, words) {
    const bottom = TOP + ROW * v.N + 4;
    return {
      height: bottom + 240,
      svg: [chipsOfRing(_, v, wide, bottom, words), sentBytes(_, v, wide, bottom, words)],
    };
  },
});

// ---- the upper part: a column for each chip, a row for each piece, and the way back around

// The piece that chip k sends in step t.
const pieceOf = (N, k, t) => mod(t < N - 1 ? k - t : k + 1 - (t - (N - 1)), N);

// Whose parts are in piece c of chip k after some steps: its own, then those of the chips from c to k, then all.
function partsOf(k, c, steps, N) {
  const way = mod(k - c, N); // steps from chip c to chip k
  if (way + N - 1 < steps) return range(N);
  return way <= steps ? range(way + 1).map((i) => mod(c + i, N)) : [k];
}

function chipsOfRing(_, v, wide, bottom, words) {
  const { N, last, done } = v;
  const now = Math.ceil(done);
  const way = done - Math.floor(done); // the part of the step that has passed
  const held = range(N).map((k) => range(N).map((c) => partsOf(k, c, Math.floor(done), N)));
  const pitch = Math.min((wide - 72) / N, 150);
  const left = 44 + (wide - 72 - N * pitch) / 2;
  const cell = 0.74 * pitch;
  const road = { from: left - 44 + MARGIN, to: left + N * pitch + 28 - MARGIN };
  const center = (k) => left + pitch * (k + 0.5);
  const laneOf = (piece) => TOP + ROW * piece + CELL - 3 - BAR / 2; // where a piece travels
  const all = range(N);

  function headings() {
    const narrow = pitch < 50;
    const number = (k) => (narrow ? text(k + 1) : _("chip {n}", { n: text(k + 1) }));
    const step = { now: text(now), last: text(last), phase: words.phase };
    return [
      label(8, 16, _("Step {now} of {last}: {phase}", step), bold),
      label(8, 34, words.holds),
      all.map((k) => label(center(k), TOP - 8, number(k), middle)),
      narrow && label(left - 4, TOP - 8, _("chip"), end),
      all.map((c) => label(left - 8, TOP + ROW * c + 14, LETTERS[c], middle)),
    ];
  }
  function wayBack() {
    const first = laneOf(0);
    const around = _("the ring: from chip {last} back to chip {first}", { last: text(N), first: text(1) });
    return [
      line(road.to, first, road.to, bottom, MUTED),
      arrow(road.to, bottom, road.from, bottom, MUTED),
      line(road.from, bottom, road.from, first, MUTED),
      label((road.from + road.to) / 2, bottom + 21, around, middle),
    ];
  }
  // The bars of the parts in a piece.
  const bars = (parts, x, y, unit, gap) =>
    parts.map((j) => box(x + j * unit, y, unit - gap, BAR, SERIES[0], flat));
  // A piece on a chip; its edge says whether it came in the step that is under way, or done last.
  function cellOf(k, c) {
    const parts = held[k][c];
    const [x, y] = [center(k) - cell / 2, TOP + ROW * c];
    const finished = parts.length === N;
    const unit = (cell - 4) / N;
    const came = now > 0 && pieceOf(N, mod(k - 1, N), now - 1) === c;
    const edge = came ? { stroke: ACCENT, stroke_width: 2.5 } : {};
    const bar = y + CELL - BAR - 3;
    return [
      box(x, y, cell, CELL, finished ? ZONES[2] : "none", edge),
      label(center(k), y + 15, `${text(parts.length)}/${text(N)}`, finished ? { ...middle, ...bold } : middle),
      box(x + 2, bar, cell - 4, BAR, "none", { stroke_width: 0.5, rx: 0 }),
      bars(parts, x + 2, bar, unit, unit > 4 ? 1 : 0.5),
    ];
  }
  // The way of a piece from chip k, straight to the next chip, or from the last one out, down, back, up and in;
  // `beside` is how far from the middle of a chip it begins and ends.
  function wayOf(k, beside) {
    const y = laneOf(pieceOf(N, k, now - 1));
    const [first, last] = [[center(k) + beside, y], [center((k + 1) % N) - beside, y]];
    const around = [[road.to, y], [road.to, bottom], [road.from, bottom], [road.from, y]];
    return [first, ...(k < N - 1 ? [] : around), last];
  }
  function arrowOf(k) {
    const corners = wayOf(k, cell / 2 + 1);
    const last = corners.length - 2;
    return corners.slice(1).map((to, i) =>
      (i === 2 || i === last ? arrow : line)(...corners[i], ...to, ACCENT, { stroke_width: 2 }));
  }
  // At constant speed.
  function traveling(k) {
    const [x, y] = along(wayOf(k, 0), way);
    return [
      box(x - TOKEN / 2, y - 7, TOKEN, 14, ZONES[0], { stroke: ACCENT, stroke_width: 1.5 }),
      bars(held[k][pieceOf(N, k, now - 1)], x - TOKEN / 2 + 1, y - BAR / 2, (TOKEN - 2) / N, 0.5),
    ];
  }
  return [
    headings(),
    wayBack(),
    all.map((c) => all.map((k) => cellOf(k, c))),
    now > 0 && all.map(arrowOf),
    way > 0 && all.map(traveling),
  ];
}

// The point at a share of the way along the lines between corners.
function along(corners, share) {
  const long = corners.slice(1).map(([x, y], i) => Math.hypot(x - corners[i][0], y - corners[i][1]));
  let rest = share * total(long);
  let i = 0;
  for (; rest > long[i] && i < long.length - 1; i += 1) rest -= long[i];
  const part = rest / long[i];
  return [0, 1].map((xy) => corners[i][xy] + (corners[i + 1][xy] - corners[i][xy]) * part);
}

// ---- the lower part: the array, and the bytes that a chip has sent, on one scale
function sentBytes(_, v, wide, bottom, words) {
  const { N, size, half, last, done, piece, sent, share } = v;
  const unit = (wide - 16) / last;
  const x = (pieces) => 8 + unit * pieces;
  const y = (down) => bottom + down;
  const n = text(N);
  const pass = { share: words.of_size };
  const happened = text(Math.floor(done));
  const inAll = { ...pass, times: text(v.total_share), bytes: text(v.total, "B") };
  return [
    label(8, y(48), _("1/{n} to {n}/{n}: how many chips’ parts are in", { n })),
    arrow(8, y(68), 30, y(68), ACCENT, { stroke_width: 2 }),
    label(36, y(72), _("Each arrow carries 1 of {n} pieces: {bytes}", { n, bytes: text(piece, "B") })),
    label(8, y(98), _("The array: {n} pieces, {bytes}", { n, bytes: text(size, "B") })),
    range(N).map((i) => box(x(i), y(104), unit, 18, "none", square)),
    range(N).map((i) => label(x(i + 0.5), y(117), LETTERS[i], middle)),
    label(8, y(144), _("Each chip has sent {done} of {all} pieces:", { done: happened, all: text(last) })),
    label(8, y(160), _("{times} × the array = {bytes}", { times: text(share), bytes: text(sent, "B") })),
    range(last).map((i) => box(x(i), y(166), unit * Math.min(1, Math.max(0, done - i)), 18, SERIES[0], flat)),
    range(last).map((i) => box(x(i), y(166), unit, 18, "none", square)),
    line(x(half), y(162), x(half), y(202), INK),
    label(x(half / 2), y(199), _("reduce-scatter: {share}", pass), middle),
    label(x(half * 1.5), y(199), _("all-gather: {share}", pass), middle),
    label(8, y(226), _("In all 2 × {share} = {times} × the array: {bytes}", inAll), bold),
  ];
}
