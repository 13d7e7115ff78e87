// How many parts of each exercise are done in this browser: beside the exercises in the contents of
// the site, and in the overview of the exercises as a list.
(() => {
  const { overview } = document.currentScript.dataset;
  function counted(name) {
    try {
      return JSON.parse(localStorage.getItem(`roofline-parts:${name}`));
    } catch {
      return null; // no storage, so nothing was begun
    }
  }
  const found = [];
  for (const link of document.querySelectorAll(".bd-sidebar-primary a.reference")) {
    // The page itself stands there as "#".
    const name = /\/([\w-]+)\/\1\.html$/.exec(new URL(link.href).pathname)?.[1];
    const count = name && counted(name);
    if (!count?.done) continue;
    const words = `${count.done} of ${count.parts} parts done`;
    found.push({ text: link.textContent.trim(), href: link.href, words });
    const mark = document.createElement("span");
    mark.className = "parts-done";
    mark.textContent = ` (${words})`;
    link.append(mark);
  }
  if (!overview || !found.length) return;
  const list = document.createElement("ul");
  for (const { text, href, words } of found) {
    const link = Object.assign(document.createElement("a"), { href, textContent: text });
    link.className = "reference internal";
    const item = document.createElement("li");
    item.append(link, `: ${words}`);
    list.append(item);
  }
  const heading = document.createElement("p");
  heading.textContent = "In this browser:";
  document.querySelector(".bd-article section > p")?.after(heading, list);
})();
