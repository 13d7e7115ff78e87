// @ts-check
// A chip: compute units, memories, and bandwidths as widths.
import { chipChoice } from "./lib/figure.js";
import { ridge as ridgeOf, total } from "./lib/formulas.js";
import { bold, box, flat, INK, label, line, range, SERIES, ZONES } from "./lib/svg.js";
import { percent, text } from "./lib/units.js";

// Pixels. The lengths of connections have no meaning; they are short to fit on a phone.
const LEFT = 16;
const EDGE = 8;
const HBM_BOTTOM = 92;
const CHIP_TOP = 136;
const CHIP_BOTTOM = 262;
const PEERS = CHIP_BOTTOM + 32;
const WORDS = PEERS + 25;
const KEY = WORDS + 86;
const HIGH = KEY + 62;

// A connection without a stroke, which would widen it.
const road = (x, y, wide, high, series) => box(x, y, wide, high, SERIES[series], flat);
// A square, vertically centered at y.
function square(x, y, area, fill, looks = {}) {
  const side = Math.sqrt(area);
  return box(x, y - side / 2, side, side, fill, looks);
}
const hairline = (x1, y1, x2, y2) => line(x1, y1, x2, y2, undefined, { stroke_width: 1, stroke_dasharray: "1 3" });
const toNeighbors = ({ topology }) => ["torus", "mesh"].includes(topology); // its links lead to different chips

export const chip = (catalog, _) => {
  const known = catalog.chips.filter(({ peak }) => peak);
  const widest = Math.max(...known.map(({ bandwidth }) => bandwidth));
  const strongest = Math.max(...known.map(({ peak }) => peak));
  const flops = (number) => {
    const count = text(number);
    return count === "1" ? _("{count}\u00a0FLOP", { count }) : _("{count}\u00a0FLOPs", { count });
  };
  const linkName = (link) => (link.name && link.name !== "link" ? link.name : _("link"));
  const memoryName = (name) => (name === "L1 and shared memory" ? _("L1 and shared memory") : name);
  const where = (link) =>
    ({
      torus: _("to {count} neighbors", { count: text(link.lanes) }),
      mesh: _("to {count} neighbors", { count: text(link.lanes) }),
      switch: _("to any one peer"),
      host: _("by the host"),
    })[link.topology] ?? _("to one peer");

  function compute({ chip: chosen }) {
    const { peak: ceiling, bandwidth, memory, links, memories } = chosen;
    const [first] = links;
    const held = total(Object.values(memories));
    const ratio = bandwidth / first.link;
    const ridge = ridgeOf(chosen);
    const peer = ceiling / first.link;
    return {
      ceiling, ridge, ratio,
      capacity: memory,
      rate_0: first.link,
      ridge_0: peer,
      total_0: first.total,
      words: {
        link: first.topology ? linkName(first) : _("its link"),
        times: text(ratio),
        each: flops(ridge),
        each_0: flops(peer),
        wider: text(ratio) === "1"
          ? _("as much as {link} carries to one peer, one way ({rate_0}).")
          : _("{times} times what {link} carries to one peer, one way ({rate_0})."),
        all_held: text(held, "B"),
        held_share: percent(held / memory),
        memories: [
          "",
          _(" The memory on the chip holds {all_held}, {held_share} of what HBM holds."),
          _(" The memories on the chip hold {all_held} together, {held_share} of what HBM holds."),
        ][Math.min(2, Object.keys(memories).length)],
      },
    };
  }

  function draw(v, wide) {
    const narrow = Math.min(wide, 720);
    // Pixels for a byte/s, the same for every chip of the catalog.
    const scale = (0.55 * narrow) / Math.max(widest, v.bandwidth, v.total_0);
    const main = v.bandwidth * scale;
    // Square pixels for a byte, fewer if the reader's own chip would not fit; and for a FLOP/s.
    const area = Math.min(narrow / 6e9, (86 * (main + 2 * EDGE)) / v.capacity);
    const compute = (76 * 76) / Math.max(strongest, v.ceiling);
    const beside = LEFT + main + 14;
    const width = main + 2 * EDGE;
    const high = (v.capacity * area) / width;
    const units = LEFT + 12 + Math.sqrt(v.ceiling * compute);

    const memories = Object.entries(v.memories).map(([name, size], i) => {
      const at = CHIP_TOP + 102 + 16 * i;
      const words = `${memoryName(name)} ${text(size, "B")}`;
      return [square(LEFT, at - 4, size * area, INK, { stroke_width: 0 }), label(LEFT + 12, at, words)];
    });

    const links = v.links.map((link, i) => {
      const left = i === 0 ? LEFT : wide * (0.42 + 0.3 * (i - 1));
      // Each connection to a neighbor is drawn; those of any other link as one.
      const each = toNeighbors(link);
      const across = (each ? link.lane : link.total) * scale;
      const roads = range(each ? link.lanes : 1).map((n) => {
        const at = left + 5 + n * (across + 10);
        return [
          road(at, CHIP_BOTTOM, across, PEERS - CHIP_BOTTOM, i === 0 ? 1 : 2),
          across < 1 && hairline(at + across / 2, CHIP_BOTTOM, at + across / 2, PEERS),
          box(at - 3, PEERS, across + 6, 9, ZONES[3]),
        ];
      });
      const lines = [
        linkName(link),
        where(link),
        (each ? `${text(link.lanes)} × ` : "") + text(link.link, "B/s"),
        text(v.ceiling / link.link),
        "FLOP/byte",
      ];
      return [roads, lines.map((words, row) => label(left, WORDS + 15 * row, words, row === 2 ? bold : {}))];
    });

    // The key, in two columns: what is to scale, and the scales.
    const rows = [0, 1, 2, 3].map((row) => KEY + 18 * row);
    const right = Math.max(176, 0.58 * narrow);
    const keyed = LEFT + Math.max(1e12 * scale, Math.sqrt(1e14 * compute)) + 8;
    const key = [
      label(LEFT, rows[0], _("To scale, and nothing else is:"), bold),
      road(LEFT, rows[1] - 9, 1e12 * scale, 9, 0),
      label(keyed, rows[1], _("road: {amount}", { amount: text(1e12, "B/s") })),
      square(right, rows[1] - 4, 1e9 * area, ZONES[1]),
      label(right + 18, rows[1], _("memory: {amount}", { amount: text(1e9, "B") })),
      square(LEFT, rows[2] - 4, 1e14 * compute, ZONES[2], { stroke: INK }),
      label(keyed, rows[2], _("compute: {amount}", { amount: text(1e14, "FLOP/s") })),
      hairline(right, rows[2] - 4, right + 14, rows[2] - 4),
      label(right + 18, rows[2], _("under a pixel")),
      label(LEFT, rows[3], _("FLOP/byte: what each byte has to feed")),
    ];
    return {
      height: HIGH,
      svg: [
        box(LEFT - EDGE, HBM_BOTTOM - high, width, high, ZONES[1]),
        label(beside, HBM_BOTTOM - 24, "HBM"),
        label(beside, HBM_BOTTOM - 8, text(v.capacity, "B")),
        road(LEFT, HBM_BOTTOM, main, CHIP_TOP - HBM_BOTTOM, 0),
        label(beside, HBM_BOTTOM + 19, text(v.bandwidth, "B/s"), bold),
        label(beside, HBM_BOTTOM + 35, text(v.ridge, "FLOP/byte")),
        box(EDGE / 2, CHIP_TOP, wide - EDGE, CHIP_BOTTOM - CHIP_TOP, ZONES[3], { rx: 6 }),
        square(LEFT, CHIP_TOP + 46, v.ceiling * compute, ZONES[2], { stroke: INK }),
        label(units, CHIP_TOP + 41, _("compute units")),
        label(units, CHIP_TOP + 59, _("{peak} in bf16", { peak: text(v.ceiling, "FLOP/s") }), bold),
        memories.length ? memories : label(LEFT, CHIP_TOP + 102, _("memory on the chip: no figure")),
        links,
        key,
      ],
      handles: [
        {
          name: _("the width of the road from HBM"),
          x: LEFT + main,
          y: (HBM_BOTTOM + CHIP_TOP) / 2,
          value: v.bandwidth, least: widest / 200, most: widest,
          says: text(v.bandwidth, "B/s"),
          to: (px) => ({
            // Not beyond the widest chip: the scale would change while the reader drags.
            bandwidth: Math.min(widest, Math.max(widest / 200, (px - LEFT) / scale)),
            peak: v.ceiling, memory: v.capacity, link: v.rate_0,
          }),
        },
      ],
    };
  }

  return {
    title: _("How wide are the roads to the compute units of a chip?"),
    controls: { chip: chipChoice(catalog, _, "H100 SXM") },
    compute,
    numbers: [
      ["ceiling", _("compute units, dense bf16"), "FLOP/s"],
      ["capacity", "HBM", "B"],
      ["bandwidth", _("road from HBM"), "B/s"],
      ["ridge", _("ridge, HBM"), "FLOP/byte"],
      ["rate_0", _("road to one peer, one way"), "B/s"],
      ["ridge_0", _("ridge, one peer"), "FLOP/byte"],
      ["total_0", _("all roads to peers, one way"), "B/s"],
      ["ratio", _("road from HBM ÷ road to one peer"), ""],
    ],
    says: _("On {chip}, the road from HBM carries {bandwidth}: {wider} To keep the compute units busy at their peak of {ceiling}, every byte from HBM has to feed {each}, and every byte from one peer {each_0}.{memories}"),
    draw,
  };
};
