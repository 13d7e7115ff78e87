// @ts-check
// Evaluates formulas and formats numbers like expressions.py. Tests compare the two.

const SPACE = "\u00a0";
const COUNTS = ["", "k", "M", "G", "T", "P", "E", "Z", "Y"];
const TIMES = ["p", "n", "µ", "m", ""];
const RAISED = { "-": "⁻", 0: "⁰", 1: "¹", 2: "²", 3: "³", 4: "⁴", 5: "⁵", 6: "⁶", 7: "⁷", 8: "⁸", 9: "⁹" };

const join = (number, unit) => (unit ? number + SPACE + unit : number);
const exponent = (value, digits) => Number(value.toExponential(digits - 1).split("e")[1]);

// Rounds ties to even, as Python does; toFixed rounds them up.
function fixed(value, decimals) {
  const exact = value.toFixed(decimals + 40);
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

// Same as rooflib.quantities.text.
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

// Same as rooflib.quantities.percent.
function percent(fraction, digits = 2) {
  const share = 100 * fraction;
  while (share < 100 && Number(share.toPrecision(digits)) >= 100) digits += 1;
  return text(share, "", digits) + (Number.isNaN(share) ? "" : "%");
}

// Removes the spaces between Chinese words where placeholders of a sentence were filled in.
const SPACE_IN_CHINESE =
  /(?<=[\u3400-\u9fff]) (?=[\u3400-\u9fff])|(?<=[，。；：？！（）、]) | (?=[，。；：？！（）、])/g;
const joined = (words) => words.replace(SPACE_IN_CHINESE, "");

// Escapes text for HTML.
const safe = (words) =>
  words.replace(/[&<>"']/g, (sign) => `&#${sign.charCodeAt(0)};`);

const FUNCTIONS = {
  abs: Math.abs,
  at: (options, place) => options[Math.trunc(place)],
  ceil: Math.ceil,
  cos: Math.cos,
  each: (formula, entries, ...others) => entries.map((entry) => formula(entry, ...others)),
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
  sum: (numbers) => numbers.reduce((total, number) => total + number, 0),
  text,
};

// The formulas of formulas.toml that a figure uses, as functions: { "double(x)": "2 * x" }.
function fromTable(table) {
  const rl = {};
  const names = [...Object.keys(FUNCTIONS), "rl"];
  for (const [head, formula] of Object.entries(table)) {
    const [, name, parameters] = /^(\w+)\((.*)\)$/.exec(head);
    const make = new Function(...names, `return (${parameters}) => (${formula});`);
    rl[name] = make(...Object.values(FUNCTIONS), rl);
  }
  return rl;
}

// Evaluates a formula with the names in a scope. Formulas are as trusted as the page's scripts.
// Words inside strings are looked up as names too, which is harmless.
const compiled = new Map();
function value(formula, scope) {
  if (typeof formula !== "string") return formula;
  let compute = compiled.get(formula);
  if (!compute) {
    const names = [...new Set(formula.match(/(?<![\w.])[a-zA-Z]\w*/g))].filter(isName);
    compute = new Function("scope", `const { ${names} } = scope; return (${formula});`);
    compiled.set(formula, compute);
  }
  return compute(scope);
}
// Returns whether a word can be a name; reserved words of JavaScript may occur in strings.
function isName(word) {
  try {
    return Boolean(new Function(`const ${word} = 0;`));
  } catch {
    return false;
  }
}
