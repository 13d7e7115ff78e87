// @ts-check
// A cell's outputs, styled like those of the built pages.

import { element } from "./panel.js";

const isPlain = (kind) => ["stdout", "stderr", "plain", "error"].includes(kind);

export function outputElement({ kind, text }) {
  if (isPlain(kind)) {
    const pre = element("pre", { textContent: text });
    const box = element("div", { className: "highlight" }, pre);
    const stream = kind.startsWith("std") ? "stream" : "text_plain";
    return element("div", { className: `output ${stream} given-${kind}` }, box);
  }
  const place = element("div", { className: "output given-html" });
  place.innerHTML = text;
  return place;
}

// Return the place of a cell's outputs, which shows new outputs and restores the built ones.
export function outputs(cell) {
  let place = cell.querySelector(".cell_output");
  const hadOutputs = Boolean(place);
  if (!place) {
    place = element("div", { className: "cell_output docutils container", hidden: true });
    cell.append(place);
  }
  const built = [...place.childNodes];
  // A figure keeps its caption, whose values are updated too.
  const figures = [...place.querySelectorAll("svg.figure")].map((svg) => ({
    svg,
    frame: svg.parentElement === place ? null : [...place.children].find((e) => e.contains(svg)),
  }));
  const drawn = figures.map(({ svg }) => svg);

  function put(index, svg) {
    drawn[index].replaceWith(svg);
    drawn[index] = svg;
  }
  return {
    show(given) {
      let next = 0;
      const parts = given.map((output) => {
        if (output.kind !== "svg") return outputElement(output);
        const holder = element("div");
        holder.innerHTML = output.text;
        const svg = holder.firstElementChild;
        const index = next++;
        const frame = figures[index]?.frame;
        if (!frame) return svg;
        const name = drawn[index].getAttribute("aria-label");
        if (name) svg.setAttribute("aria-label", name);
        put(index, svg);
        return frame;
      });
      place.replaceChildren(...parts);
      place.hidden = !parts.length;
    },
    restore() {
      figures.forEach(({ svg, frame }, index) => frame && put(index, svg));
      place.replaceChildren(...built);
      place.hidden = !hadOutputs;
    },
  };
}
