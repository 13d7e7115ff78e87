// @ts-check
// Shows the figures of a page.
import { inside, phrases, show } from "./figure.js";

const MAX_CONFIG = 2 ** 23 + 1; // bytes: one more than rooflib reads
const READ_SECONDS = 60;

// Returns a function that gives what is inside a figure before any script runs, for the build.
export const still = (figures, catalog) => (name, given, words, own) => {
  const _ = phrases(words);
  return inside(figures[name](catalog, _, given), catalog, _, own);
};

// Shows the page's figures, each an element with the figure's name and what its cell gives. The script of each
// is fetched from beside this one.
export function start(figures, catalog) {
  const page = /** @type {any} */ (window);
  const _ = phrases(page.courseWords ?? {});
  const { src } = /** @type {HTMLScriptElement} */ (document.currentScript);
  const asked = {};
  const fetched = (name) => (asked[name] ??= loaded(new URL(`figures/${name}.js${new URL(src).search}`, src).href));
  // A page whose figure measures the browser has a script for that.
  const host = { ...python(_), measure: page.rooflineMeasure };
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
    async readConfig(file) {
      const { run } = await import(new URL(`${folder}python.js`, document.baseURI).href);
      const bytes = new Uint8Array(await file.slice(0, MAX_CONFIG).arrayBuffer());
      const content = Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
      // A string in JSON is one in Python, too.
      const code = `from roofkit.figures.model_rows import answer
print(answer(bytes.fromhex("${content}"), ${JSON.stringify(file.name)}))`;
      const printed = [];
      await run([{ code }], 0, ({ outputs = [] }) => printed.push(...outputs), READ_SECONDS);
      const failure = printed.find(({ kind }) => kind === "error");
      if (failure) throw new Error(failure.text.split("\n").at(-1));
      const lines = printed.filter(({ kind }) => kind === "stdout").map((output) => output.text);
      return JSON.parse(lines.join(""));
    },
  };
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
