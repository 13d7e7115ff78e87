// @ts-check
// Shows how many parts of each exercise are done in this browser: beside its link in the sidebar, and
// as a list in the overview of the exercises.
(() => {
  const { overview } = document.currentScript.dataset;
  function counted(name) {
    try {
      return JSON.parse(localStorage.getItem(`roofline-parts:${name}`));
    } catch {
      return null; // storage is disabled
    }
  }
  const found = [];
  for (const link of document.querySelectorAll(".bd-sidebar-primary a.reference")) {
    // A page's link to itself is "#"; `link.href` has the full address.
    const name = /\/exercises\/([\w-]+)\.html$/.exec(new URL(link.href).pathname)?.[1];
    const count = name && counted(name);
    if (!count?.done) continue;
    const words = phrase("{done} of {all} parts done", { done: count.done, all: count.parts });
    found.push({ text: link.textContent.trim(), href: link.href, words });
    const mark = document.createElement("span");
    mark.className = "parts-done";
    mark.textContent = phrase(" ({remark})", { remark: words });
    link.append(mark);
  }
  if (!overview || !found.length) return;
  const list = document.createElement("ul");
  for (const { text, href, words } of found) {
    const link = Object.assign(document.createElement("a"), { href, textContent: text });
    link.className = "reference internal";
    const item = document.createElement("li");
    item.append(link, phrase(": "), words);
    list.append(item);
  }
  const heading = document.createElement("p");
  heading.textContent = phrase("In this browser:");
  document.querySelector(".bd-article section > p")?.after(heading, list);
})();
