// What a cell gave, in the look of the built pages.

import { made } from "./panel.js";

const isPlain = (kind) => ["stdout", "stderr", "plain", "error"].includes(kind);

export function element({ kind, text }) {
  if (isPlain(kind)) {
    const pre = made("pre", { textContent: text });
    const box = made("div", { className: "highlight" }, pre);
    const stream = kind.startsWith("std") ? "stream" : "text_plain";
    return made("div", { className: `output ${stream} given-${kind}` }, box);
  }
  const place = made("div", { className: "output given-html" });
  place.innerHTML = text;
  return place;
}

// A cell's place for outputs: puts new ones there, and the built ones back.
export function outputs(cell) {
  let place = cell.querySelector(".cell_output");
  const wasThere = Boolean(place);
  if (!place) {
    place = made("div", { className: "cell_output docutils container", hidden: true });
    cell.append(place);
  }
  const built = [...place.childNodes];
  // A figure keeps its caption, in which values follow too.
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
        if (output.kind !== "svg") return element(output);
        const holder = made("div");
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
    putBack() {
      figures.forEach(({ svg, frame }, index) => frame && put(index, svg));
      place.replaceChildren(...built);
      place.hidden = !wasThere;
    },
  };
}
