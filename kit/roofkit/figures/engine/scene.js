// @ts-check
// Draws scenes like scene.py: marks whose positions and attributes are formulas. The build puts
// expressions.js before this script.

const HEAD_LENGTH = 7; // px, length of an arrowhead
const MAX_PIXELS = 1e9; // larger coordinates, including infinity, are clamped to this

// Formats a coordinate; SVG has no infinity and no nan.
const short = (number) => {
  const near = Math.min(MAX_PIXELS, Math.max(-MAX_PIXELS, Number.isNaN(number) ? 0 : number));
  // toFixed rounds like Python except for ties, and only multiples of 1/8 can be ties here.
  const shown = ((8 * near) % 1 ? near.toFixed(2) : fixed(near, 2)).replace(/\.?0+$/, "");
  return shown === "-0" ? "0" : shown;
};
const written = (look) => (typeof look === "string" ? safe(look) : short(Number(look)));
const attributes = (looks) =>
  Object.entries(looks)
    .map(([key, look]) => `${key}="${written(look)}"`)
    .join(" ");

function arrow({ x1, y1, x2, y2, ...looks }) {
  const length = Math.hypot(x2 - x1, y2 - y1);
  if (length === 0) return "";
  const head = Math.min(HEAD_LENGTH, length);
  const [along, up] = [(x2 - x1) / length, (y2 - y1) / length];
  const [x, y, side] = [x2 - head * along, y2 - head * up, 0.45 * head];
  const ends = [x - side * up, y + side * along, x2, y2, x + side * up, y - side * along].map(short);
  const tip = `M${ends[0]} ${ends[1]}L${ends[2]} ${ends[3]}L${ends[4]} ${ends[5]}Z`;
  const opacity = "opacity" in looks ? { opacity: looks.opacity } : {};
  const line = attributes({ x1, y1, x2: x, y2: y, ...looks });
  return `<line ${line}/><path ${attributes({ d: tip, fill: looks.stroke ?? "currentColor", ...opacity })}/>`;
}

function drawnShape(shape, looks) {
  if (shape === "arrow") return arrow(looks);
  const { text: words, ...others } = looks;
  const inner = shape === "text" ? `>${written(typeof words === "string" ? joined(words) : (words ?? ""))}</text>` : "/>";
  return `<${shape} ${attributes(others)}${inner}`;
}

function drawnCurve(points) {
  const d = `M${points.map(({ x, y }) => `${short(Number(x))} ${short(Number(y))}`).join("L")}`;
  const { x, y, ...look } = points[0];
  return `<path ${attributes({ d, fill: "none", ...look })}/>`;
}

// Clips shapes with an inner SVG; unlike a clipping path, it needs no unique id.
function clipped(shapes, box) {
  const [x, y, width, height] = box;
  const place = `x="${x}" y="${y}" width="${width}" height="${height}"`;
  return `<svg ${place} viewBox="${box.join(" ")}" overflow="hidden">${shapes}</svg>`;
}

function drawnMark({ shape, look, each = 1, where = {}, shown = 1, clip, name = "" }, scope) {
  const all = [];
  const times = Math.trunc(value(each, scope));
  for (let i = 0; i < times; i += 1) {
    const own = Object.assign(Object.create(scope), { i });
    for (const [word, formula] of Object.entries(where)) own[word] = value(formula, own);
    if (!value(shown, own)) continue;
    const looks = {};
    for (const [key, formula] of Object.entries(look)) looks[key] = value(formula, own);
    all.push(looks);
  }
  if (!all.length) return "";
  let shapes = shape === "curve" ? drawnCurve(all) : all.map((one) => drawnShape(shape, one)).join("");
  if (clip) shapes = clipped(shapes, clip.map((side) => short(Number(value(side, scope)))));
  return `<g${name ? ` data-mark="${name}"` : ""}>${shapes}</g>`;
}

// Creates a picture as wide as its container `place`, which gets an event `resized` when the picture
// was redrawn for another width. `set` and `get` access its names, and `show` redraws it.
function scene(place, { marks, height, given, formulas, units, table = {} }) {
  const names = Object.assign(Object.create(null), FUNCTIONS, { rl: fromTable(table) }, given);
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  place.append(svg);

  function show() {
    // Before layout, the container has no width.
    names.wide = place.clientWidth || 400;
    for (const [name, formula] of Object.entries(formulas)) names[name] = value(formula, names);
    const high = value(height, names);
    svg.setAttribute("width", short(names.wide));
    svg.setAttribute("height", short(high));
    svg.setAttribute("viewBox", `0 0 ${short(names.wide)} ${short(high)}`);
    svg.innerHTML = marks.map((mark) => drawnMark(mark, names)).join("");
  }

  new ResizeObserver(() => {
    if (place.clientWidth === names.wide) return;
    show();
    place.dispatchEvent(new Event("resized"));
  }).observe(place);
  return {
    svg,
    names,
    set: (name, to) => {
      names[name] = to;
    },
    get: (name) => {
      const number = name.endsWith("_text") ? name.slice(0, -5) : "";
      if (!(number in units)) return names[name];
      const unit = units[number].startsWith("@") ? names[units[number].slice(1)] : units[number];
      return unit === "%" ? percent(names[number]) : text(names[number], unit);
    },
    show,
  };
}
