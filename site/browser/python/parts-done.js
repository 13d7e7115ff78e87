// @ts-check
// Shows how many parts of each exercise are done in this browser: beside its link in the sidebar, and
// as a list in the overview of the exercises.
(() => {
  const { overview } = document.currentScript.dataset;
  const found = [];
  for (const link of document.querySelectorAll(".bd-links a")) {
    // A page's link to itself is "#"; `link.href` has the full address.
    const name = /\/exercises\/([\w-]+)\.html$/.exec(new URL(link.href).pathname)?.[1];
    const count = name && stored.get(`roofline-parts:${name}`);
    if (!count?.done) continue;
    const words = phrase("{done} of {all} parts done", { done: count.done, all: count.parts });
    found.push({ text: link.textContent.trim(), href: link.href, words });
    link.append(made("span", { className: "parts-done", textContent: phrase(" ({remark})", { remark: words }) }));
  }
  if (!overview || !found.length) return;
  const items = found.map(({ text, href, words }) =>
    made("li", {}, made("a", { className: "reference internal", href, textContent: text }), phrase(": "), words));
  const heading = made("p", { textContent: phrase("In this browser:") });
  document.querySelector(".bd-article section > p")?.after(heading, made("ul", {}, ...items));
})();
