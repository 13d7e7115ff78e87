/* global Scorer, Search */
// Of equal results, a section whose heading has the query in it comes before pages that have its words in
// several headings, and an earlier chapter before a later one.
const chapter = (title) => Number(/section-number">(\d+)/.exec(title)?.[1] ?? 99);

// Sphinx keeps a query's words for the page that a reader opens next, and ends with an error where the browser
// keeps nothing. Then that page has no marks.
try {
  localStorage.setItem("sphinx_highlight_terms", "");
} catch {
  Object.defineProperty(window, "localStorage", { value: { setItem() {}, getItem: () => null, removeItem() {} } });
}

// A result is [page, title, anchor, description, score, file].
Scorer.score = (result) => result[4] + (result[2] ? 1 : 0) - chapter(result[1]) / 1000;

// Sphinx leaves numbers out of a query, but "4090" is the name of a chip.
const parsed = Search._parseQuery;
Search._parseQuery = (query) => {
  const found = parsed(query);
  for (const number of query.match(/\b\d{3,}\b/g) ?? []) found[1].add(number), found[3].add(number);
  return found;
};

// Pages that have nearly all of a query's words, with the mean of what these count. Sphinx asks for all words,
// or for those of three letters and more; but no Chinese word is so long, and of its pairs of characters some
// join two words, as no page may do.
const pagesWith = Search.performTermsSearch;
Search.performTermsSearch = (words, excluded) => {
  const found = new Map();
  for (const word of words) {
    for (const [page, ...result] of pagesWith(new Set([word]), excluded)) {
      const [scores] = found.get(page) ?? [[]];
      found.set(page, [[...scores, result[3]], result]);
    }
  }
  const most = Math.max(...[...found.values()].map(([scores]) => scores.length));
  return [...found].filter(([, [scores]]) => 3 * scores.length >= 2 * most)
    .map(([page, [scores, [title, anchor, description, , file]]]) =>
      [page, title, anchor, description, scores.reduce((sum, one) => sum + one) / words.size, file]);
};

// A page that was found by its text: lead to the section that is most about the query's words, and take the
// excerpt from there. Sphinx takes it from the page's beginning, and leads there.
const excerpt = Search.makeSearchSummary;
Search.makeSearchSummary = (html, stems, anchor) => {
  // The stem of "memory" is "memori", which no text has.
  const words = [...stems].map((stem) => stem.toLowerCase().replace(/i$/, ""));
  const page = new DOMParser().parseFromString(html, "text/html");
  for (const other of page.querySelectorAll("script, style, figure.live")) other.remove();
  const section = anchor ? "" : sectionAbout(page, words);
  html = page.documentElement.outerHTML;
  // Of all that has the role "main", the article: above it stand the page's buttons.
  if (!section) return excerpt(html, words, anchor || ".bd-article > section");
  const summary = excerpt(html, words, `#${CSS.escape(section)}`);
  // The caller puts the excerpt into the result before this runs.
  queueMicrotask(() => {
    const link = summary?.closest("li")?.querySelector("a");
    if (link) link.hash = section;
  });
  return summary;
};

// Return the section's id; "" for the text at the top of the page.
function sectionAbout(page, words) {
  const count = (text, word) => text.toLowerCase().split(word).length - 1;
  let most = 0;
  let found = "";
  for (const section of page.querySelectorAll("[role=main] section[id]")) {
    // Without the sections inside it.
    const own = [...section.childNodes].filter(({ nodeName }) => nodeName !== "SECTION");
    const text = own.map(({ textContent }) => textContent).join(" ");
    const heading = section.querySelector(":scope > :is(h1, h2, h3)")?.textContent ?? "";
    // All words come before a word in the heading, and that before a word that occurs often.
    const score = words.reduce((sum, word) =>
      sum + 1000 * Number(count(text, word) > 0) + 100 * Number(count(heading, word) > 0) + Math.min(count(text, word), 99) / words.length, 0);
    if (score <= most) continue;
    most = score;
    found = section.parentElement?.closest("section") ? section.id : "";
  }
  return found;
}
