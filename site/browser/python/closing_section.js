// @ts-check
// The section below an exercise's last part: a question to think about, with a text field and a
// button that compares the answer, and what to do next.

import { asHtml } from "./notebook_markdown.js";
import { element } from "./panel.js";
import { closingOf, text } from "./released_notebook.js";

// Return the paragraph that replaces the notebook's own one about kernels and JupyterLab.
const next = (name) =>
  phrase("Each check on this page runs all that stands above it, so there is nothing to restart. **Check all** checks every part again. If somebody collects the notebook, download it and hand it in as `{file}`.", { file: `${name}.ipynb` });

export function closingSection(released, own, name, comparing) {
  const place = element("div");
  const fields = [];
  let heading;
  for (const cell of closingOf(released)) {
    const source = text(cell);
    if (/^\*[^*]+\*$/.test(source.trim())) {
      const field = element("textarea", { rows: 6, className: "own-words", placeholder: source.trim().slice(1, -1) });
      field.setAttribute("aria-label", phrase("Your answer to {heading}", { heading }));
      field.addEventListener("input", () => own.replaceText(cell.id, field.value));
      fields.push([cell.id, field]);
      place.append(field, ...comparing);
      continue;
    }
    const [first, ...paragraphs] = source.split(/\n\s*\n/);
    // The first paragraph of the last section is about JupyterLab: next() replaces it.
    const isLast = cell === closingOf(released).at(-1);
    const words = isLast ? [first, next(name), ...paragraphs.slice(1)].join("\n\n") : source;
    const { heading: title, html } = asHtml(words);
    heading = title;
    const question = element("div");
    question.innerHTML = html;
    place.append(element("h3", { textContent: title }), question);
  }
  const fill = () => {
    for (const [id, field] of fields) {
      field.value = own.textFor(id) ?? "";
    }
  };
  own.addEventListener("loaded", fill);
  return place;
}
