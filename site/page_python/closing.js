// What an exercise's notebook has below its last part: a question to think about, with a field for
// the answer, and what to do next.

import { asHtml } from "./notebook_words.js";
import { made } from "./panel.js";
import { closingOf, text } from "./released.js";

// The notebook speaks of a kernel here, and of JupyterLab.
const NEXT = (name) =>
  `Each check on this page runs all that stands above it, so there is nothing to restart. **Check all** checks every part again. If somebody collects the notebook, download it and hand it in as \`${name}.ipynb\`.`;

export function closing(released, own, name) {
  const place = made("div");
  const fields = [];
  let heading = "";
  for (const cell of closingOf(released)) {
    const source = text(cell);
    if (/^\*[^*]+\*$/.test(source.trim())) {
      const field = made("textarea", { rows: 6, className: "own-words", placeholder: source.trim().slice(1, -1) });
      field.setAttribute("aria-label", `Your answer to ${heading}`);
      field.addEventListener("input", () => own.replaceText(cell.id, field.value));
      fields.push([cell.id, field]);
      place.append(field);
      continue;
    }
    const [first, ...paragraphs] = source.split(/\n\s*\n/);
    // Only a last section of several paragraphs says how to go on in JupyterLab.
    const isLast = cell === closingOf(released).at(-1);
    const words = isLast ? [first, NEXT(name), ...paragraphs.slice(1)].join("\n\n") : source;
    const { heading: title, html } = asHtml(words);
    heading = title;
    const question = made("div");
    question.innerHTML = html;
    place.append(made("h3", { textContent: title }), question);
  }
  const fill = () => {
    for (const [id, field] of fields) {
      const written = own.textFor(id) ?? "";
      if (field.value !== written) field.value = written;
    }
  };
  own.addEventListener("taken", fill);
  fill();
  return place;
}
