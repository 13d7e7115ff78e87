// @ts-check
// What style sheets cannot do: which heading is being read, boxes that scroll by keyboard, paper.
(() => {
  const { documentElement: html } = document;

  // The contents of the page follow the reading: the theme would load all of Bootstrap for it.
  const links = new Map();
  for (const link of document.querySelectorAll(".bd-toc-nav a[href^='#']")) {
    const heading = document.getElementById(decodeURIComponent(link.hash.slice(1)));
    if (heading) links.set(heading, link);
  }
  function follow() {
    let current;
    for (const [section, link] of links) {
      if (section.getBoundingClientRect().top < innerHeight / 3) current = link;
    }
    for (const link of links.values()) {
      link.classList.toggle("active", link === current);
      if (link === current) link.setAttribute("aria-current", "true");
      else link.removeAttribute("aria-current");
    }
  }
  if (links.size) {
    let asked = false;
    const ask = () => {
      if (!asked) requestAnimationFrame(() => ((asked = false), follow()));
      asked = true;
    };
    addEventListener("scroll", ask, { passive: true });
    follow();
  }

  // Who has no mouse scrolls a wide box with the arrow keys, so it must take the focus.
  const boxes = document.querySelectorAll(
    ".pst-scrollable-table-container, div.math, .cell_output, .cell_output .text_html",
  );
  const fit = new ResizeObserver((changes) => {
    for (const change of changes) {
      const target = /** @type {HTMLElement} */ (change.target);
      if (target.scrollWidth > target.clientWidth) target.tabIndex = 0;
      else target.removeAttribute("tabindex");
    }
  });
  boxes.forEach((box) => fit.observe(box));

  // On paper nothing can be opened, and ink is dark.
  let opened = [];
  let theme;
  addEventListener("beforeprint", () => {
    opened = [...document.querySelectorAll("details:not([open]):not(.above-input)")];
    opened.forEach((details) => (details.open = true));
    theme = html.dataset.theme;
    html.dataset.theme = "light";
  });
  addEventListener("afterprint", () => {
    opened.forEach((details) => (details.open = false));
    html.dataset.theme = theme;
  });
})();
