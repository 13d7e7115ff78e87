// Draws the scenes of kit/roofkit/pictures/scene.py as Python does; a test holds the two together.

const SPACE = "\u00a0";
const HEAD = 7; // px, an arrow's head
const FAR = 1e9; // px: what lies farther away, as infinity does, is drawn there
const COUNTS = ["", "k", "M", "G", "T", "P", "E", "Z", "Y"];
const TIMES = ["p", "n", "µ", "m", ""];
const RAISED = { "-": "⁻", 0: "⁰", 1: "¹", 2: "²", 3: "³", 4: "⁴", 5: "⁵", 6: "⁶", 7: "⁷", 8: "⁸", 9: "⁹" };

const join = (number, unit) => (unit ? number + SPACE + unit : number);
const exponent = (value, digits) => Number(value.toExponential(digits - 1).split("e")[1]);

// As Python writes it: a number half way between two goes to the even digit, where toFixed goes up.
function fixed(value, decimals) {
  const exact = value.toFixed(Math.min(100, decimals + 40));
  const end = exact.indexOf(".") + 1 + decimals;
  const tie = /^50*$/.test(exact.slice(end));
  const kept = decimals ? exact.slice(0, end) : exact.slice(0, end - 1);
  return tie && Number(kept.at(-1)) % 2 === 0 ? kept : value.toFixed(decimals);
}

function plain(value, digits) {
  if (value === 0) return "0";
  if (!isFinite(value)) return value > 0 ? "∞" : value < 0 ? "−∞" : "not a number";
  let shown = fixed(value, Math.max(0, digits - 1 - exponent(value, digits)));
  if (shown.includes(".")) shown = shown.replace(/\.?0+$/, "");
  const [whole, part] = shown.split(".");
  const grouped = whole.replace(/\B(?=(\d{3})+$)/g, ",");
  return (part ? `${grouped}.${part}` : grouped).replace("-", "−");
}

function scientific(value, unit, digits) {
  const [mantissa, power] = value.toExponential(digits - 1).split("e");
  const raised = [...String(Number(power))].map((sign) => RAISED[sign]).join("");
  return join(`${plain(Number(mantissa), digits)}×10${raised}`, unit);
}

// rooflib.units.text
function text(value, unit = "", digits = 3) {
  if (value === 0 || !isFinite(value)) return join(plain(value, digits), unit);
  let [signs, first, end] = [[""], 0, 1e15];
  if (/^(FLOP|OP|B)(\/s)?$/.test(unit)) [signs, first, end] = [COUNTS, 0, 1e27];
  else if (unit === "s") [signs, first] = [TIMES, -12];
  const size = Math.abs(Number(value.toPrecision(digits)));
  if (size < 10 ** (first - 6) || size >= end) return scientific(value, unit, digits);
  let at = 0;
  while (at + 1 < signs.length && Number(`1e${first + 3 * (at + 1)}`) <= size) at += 1;
  return join(plain(value / Number(`1e${first + 3 * at}`), digits), signs[at] + unit);
}

// rooflib.units.percent
function percent(fraction, digits = 2) {
  const share = 100 * fraction;
  while (share < 100 && Number(share.toPrecision(digits)) >= 100) digits += 1;
  return text(share, "", digits) + (Number.isNaN(share) ? "" : "%");
}

const FUNCTIONS = {
  abs: Math.abs,
  at: (options, place) => options[Math.trunc(place)],
  ceil: Math.ceil,
  cos: Math.cos,
  either: (condition, yes, no) => (condition ? yes : no),
  exp10: (x) => 10 ** x,
  floor: Math.floor,
  indexof: (list, one) => list.indexOf(one),
  log10: Math.log10,
  max: Math.max,
  min: Math.min,
  mod: (a, b) => {
    const rest = a % b;
    return rest && rest < 0 !== b < 0 ? rest + b : rest;
  },
  percent,
  pi: Math.PI,
  pow: Math.pow,
  sin: Math.sin,
  sqrt: Math.sqrt,
  text,
};

// A formula as a function of the names in a scope. The figure's formulas come with the page, as
// its scripts do. A word in a string is taken for a name, too, which does no harm.
const made = new Map();
function value(formula, scope) {
  if (typeof formula !== "string") return formula;
  let does = made.get(formula);
  if (!does) {
    const names = [...new Set(formula.match(/(?<![\w.])[a-zA-Z]\w*/g))].filter(isName);
    does = new Function("scope", `const { ${names} } = scope; return (${formula});`);
    made.set(formula, does);
  }
  return does(scope);
}
// A word of the language cannot be a name; in a string it may stand.
function isName(word) {
  try {
    return Boolean(new Function(`const ${word} = 0;`));
  } catch {
    return false;
  }
}

// SVG knows neither infinity nor nan.
const short = (number) => {
  const near = Math.min(FAR, Math.max(-FAR, Number.isNaN(number) ? 0 : number));
  // Only an eighth can lie half way between two hundredths.
  const shown = ((8 * near) % 1 ? near.toFixed(2) : fixed(near, 2)).replace(/\.?0+$/, "");
  return shown === "-0" ? "0" : shown;
};
const safe = (words) =>
  words.replace(/[&<>"']/g, (sign) => `&#${sign.charCodeAt(0)};`);
const written = (look) => (typeof look === "string" ? safe(look) : short(Number(look)));
const attributes = (looks) =>
  Object.entries(looks)
    .map(([key, look]) => `${key}="${written(look)}"`)
    .join(" ");

function arrow({ x1, y1, x2, y2, ...looks }) {
  const length = Math.hypot(x2 - x1, y2 - y1);
  if (length === 0) return "";
  const head = Math.min(HEAD, length);
  const [along, up] = [(x2 - x1) / length, (y2 - y1) / length];
  const [x, y, side] = [x2 - head * along, y2 - head * up, 0.45 * head];
  const ends = [x - side * up, y + side * along, x2, y2, x + side * up, y - side * along].map(short);
  const tip = `M${ends[0]} ${ends[1]}L${ends[2]} ${ends[3]}L${ends[4]} ${ends[5]}Z`;
  const faded = "opacity" in looks ? { opacity: looks.opacity } : {};
  const line = attributes({ x1, y1, x2: x, y2: y, ...looks });
  return `<line ${line}/><path ${attributes({ d: tip, fill: looks.stroke ?? "currentColor", ...faded })}/>`;
}

function drawnShape(shape, looks) {
  if (shape === "arrow") return arrow(looks);
  const { text: words, ...others } = looks;
  const inner = shape === "text" ? `>${written(words ?? "")}</text>` : "/>";
  return `<${shape} ${attributes(others)}${inner}`;
}

function drawnMark({ shape, look, each = 1, where = {}, shown = 1, name = "" }, scope) {
  let shapes = "";
  const times = Math.trunc(value(each, scope));
  for (let i = 0; i < times; i += 1) {
    const own = Object.assign(Object.create(scope), { i });
    for (const [word, formula] of Object.entries(where)) own[word] = value(formula, own);
    if (!value(shown, own)) continue;
    const looks = {};
    for (const [key, formula] of Object.entries(look)) looks[key] = value(formula, own);
    shapes += drawnShape(shape, looks);
  }
  return shapes && `<g${name ? ` data-mark="${name}"` : ""}>${shapes}</g>`;
}

// The same face as a chart's: names that are set and read, and a picture that follows.
function scene(place, { marks, height, given, formulas, units }) {
  const names = Object.assign(Object.create(null), FUNCTIONS, given);
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  svg.setAttribute("aria-hidden", "true");
  place.append(svg);

  function show() {
    // A place that is not laid out has no width yet.
    names.wide = place.clientWidth || names.wide || 400;
    for (const [name, formula] of Object.entries(formulas)) names[name] = value(formula, names);
    const high = value(height, names);
    svg.setAttribute("width", short(names.wide));
    svg.setAttribute("height", short(high));
    svg.setAttribute("viewBox", `0 0 ${short(names.wide)} ${short(high)}`);
    svg.innerHTML = marks.map((mark) => drawnMark(mark, names)).join("");
  }

  new ResizeObserver(() => {
    if (place.clientWidth && place.clientWidth !== names.wide) show();
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
