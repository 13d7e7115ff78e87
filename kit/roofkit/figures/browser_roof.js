// @ts-check
// The measured roof of the reader's browser, in front of the roof that the run on the page found. The scripts
// in site/browser/roof set what they find; `given` has the run's peak and bandwidth, if there is a run.
import { end, INK, label, line, log, MUTED, rooflinePlot, SERIES } from "./lib/svg.js";

const near = (one, other) => Math.abs(one - other) < 20; // pixels between two lines

export const browser_roof = (_catalog, _, given = {}) => {
  const stored = given.peak ? given : undefined;
  const before = stored
    ? _("Not measured here yet. The gray roof is the one that numpy measured for this page.")
    : _("Not measured here yet.");

  // Roofs by name, and what the sentence says of the measurement.
  /** @param {any} settings */
  function compute({ why = before, measured = 0, found = {}, told = {} }) {
    return { ...found, measured, problem: why, ridge: found.peak / found.read || 0, words: told };
  }

  function draw(v, wide) {
    const height = 340;
    const x = log(0.1, 100, 42, wide - 26);
    const y = log(1e8, 1e13, height - 44, 32);
    const plot = rooflinePlot(_, x, y);
    const dashed = { stroke_dasharray: "6 3", stroke_width: 1.5 };
    const top = v.measured ? y.inside(v.peak) : Infinity;
    const behind = stored ? y.inside(stored.peak) : Infinity;
    // Each name is above its line; if two lines are close, the lower line has its name below.
    const isClose = near(top, behind);
    const run = stored && [
      plot.slope(stored.bandwidth, stored.peak, MUTED, dashed),
      line(x.inside(stored.peak / stored.bandwidth), behind, x.end, behind, MUTED, dashed),
      label(x.end, behind + (isClose && stored.peak < v.peak ? 16 : -7), _("numpy, the run above"), { fill: MUTED, ...end }),
    ];
    const own = v.measured && [
      plot.slope(v.read, v.peak, SERIES[0], { stroke_width: 2.5 }),
      line(x.inside(v.peak / v.read), top, x.end, top, INK, { stroke_width: 2.5 }),
      label(x.end, top + (isClose && stored && stored.peak >= v.peak ? 18 : -8), _("this browser"), end),
    ];
    return { height, svg: [plot.axes, run, own] };
  }

  return {
    title: _("Press, and measure the roof of the browser that shows you this page"),
    controls: {},
    measures: true,
    compute,
    numbers: [
      ["peak", _("peak, fp32"), "FLOP/s"],
      ["read", _("memory, read"), "B/s"],
      ["nearest", _("nearest cache, read"), "B/s"],
      ["ridge", _("ridge point"), "FLOP/byte"],
    ],
    says: _("This is the roof of this browser on this machine, not the machine’s. It was found in {seconds} by {workers} with {by}, four numbers at a time, and {memory} of memory each: {peak} at best, {read} read from memory, and a ridge point of {ridge}. Three runs of the same work lie up to {spread} apart."),
    draw,
  };
};
