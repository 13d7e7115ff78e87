// @ts-check
// Shows the figures of a page.
import { inside, phrases, show } from "./figure.js";
import { percent, text } from "./units.js";

const MAX_CONFIG = 2 ** 23 + 1; // bytes: one more than rooflib reads
const READ_SECONDS = 60;

// Returns a function that gives what is inside a figure before any script runs, for the build.
export const still = (figures, catalog) => (name, given, words, own) => {
  const _ = phrases(words);
  return inside(figures[name](catalog, _, given), catalog, _, own);
};

// Shows the page's figures, each an element with the figure's name and what its cell gives. The script of each
// is fetched from beside this one.
export function start(figures, catalog, version) {
  const _ = phrases(/** @type {any} */ (window).courseWords ?? {});
  const own = /** @type {HTMLScriptElement} */ (document.currentScript);
  // The address of the script that measures the browser.
  const { measure } = own.dataset;
  const asked = {};
  const fetched = (name) => (asked[name] ??= loaded(new URL(`figures/${name}.js?v=${version}`, own.src).href));
  const host = { ...python(_), measure: (figure, live) => offerMeasurement(figure, live, measure, _) };
  const shown = new WeakSet();
  function showAll() {
    for (const figure of document.querySelectorAll("figure.live")) {
      if (shown.has(figure)) continue;
      shown.add(figure);
      const { figure: name, given = "{}" } = figure.dataset;
      fetched(name).then(() => show(figure, figures[name](catalog, _, JSON.parse(given)), catalog, _, host));
    }
  }
  showAll();
  // Cells that the reader runs in the page bring figures, too.
  new MutationObserver(showAll).observe(document.body, { childList: true, subtree: true });
}

// Reads config files with the page's Python, if the page has it.
function python(_) {
  const script = document.querySelector("script[data-python]");
  // A page that was opened as a file can't load it.
  if (!script || location.protocol === "file:") return {};
  const { python: folder, megabytes } = script.dataset;
  return {
    hint: _("Choose the config.json of your model. Python reads it in this page: the first file fetches it, {megabytes} MB. The file does not leave your browser.", { megabytes }),
    async readConfig(file, rows) {
      const { run } = await import(new URL(`${folder}python.js`, document.baseURI).href);
      const bytes = new Uint8Array(await file.slice(0, MAX_CONFIG).arrayBuffer());
      const content = Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
      // A string in JSON is one in Python, too.
      const [name, kept] = [file.name, JSON.stringify(rows)].map((words) => JSON.stringify(words));
      const code = `import json
from roofkit.figures.model_rows import answer
print(answer(bytes.fromhex("${content}"), ${name}, json.loads(${kept})))`;
      const printed = [];
      await run([{ code }], 0, ({ outputs = [] }) => printed.push(...outputs), READ_SECONDS);
      const failure = printed.find(({ kind }) => kind === "error");
      if (failure) throw new Error(failure.text.split("\n").at(-1));
      const lines = printed.filter(({ kind }) => kind === "stdout").map((output) => output.text);
      return JSON.parse(lines.join(""));
    },
  };
}

// The script that measures is fetched when its button is pressed; from then on it handles the buttons.
function offerMeasurement(figure, live, address, _) {
  async function begin() {
    try {
      await loaded(address);
    } catch (error) {
      const told = figure.querySelector('[data-part="told"]');
      told.textContent = _("The script that measures did not load. Press again to try again.");
      offer();
      throw error;
    }
    await /** @type {any} */ (window).rooflineMeasure(figure, { ...live, text, percent });
  }
  const press = figure.querySelector('[data-part="measure"]');
  const offer = () => press.addEventListener("click", begin, { once: true });
  offer();
}

function loaded(address) {
  return new Promise((done, failed) => {
    const script = document.createElement("script");
    script.src = address;
    script.onload = done;
    script.onerror = () => failed(new Error(`not loaded: ${address}`));
    document.head.append(script);
  });
}
