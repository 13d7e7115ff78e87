/* global Search */
// What each kind of match counts in the search: Sphinx's numbers. Of equal results, a section whose
// heading has the query in it comes before pages that have its words in several headings, and an
// earlier chapter before a later one.
const chapter = (title) => Number(/section-number">(\d+)/.exec(title)?.[1] ?? 99);

globalThis.Scorer = {
  // A result is [page, title, anchor, description, score, file].
  score: (result) => result[4] + (result[2] ? 1 : 0) - chapter(result[1]) / 1000,
  objNameMatch: 11,
  objPartialMatch: 6,
  objPrio: { 0: 15, 1: 5, 2: -5 },
  objPrioDefault: 0,
  title: 15,
  partialTitle: 7,
  term: 5,
  partialTerm: 2,
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

// A page that was found by its text: lead to the section that has most of the query's words, the first of
// these, and take the excerpt from there. Sphinx takes it from the page's beginning, and leads there.
const excerpt = Search.makeSearchSummary;
Search.makeSearchSummary = (html, words, anchor) => {
  const section = anchor ? null : sectionWith(html, [...words].map((word) => word.toLowerCase()));
  if (!section) return excerpt(html, words, anchor);
  const summary = excerpt(html, words, `#${CSS.escape(section)}`);
  // The caller puts the excerpt into the result before this runs.
  queueMicrotask(() => {
    const link = summary?.closest("li")?.querySelector("a");
    if (link) link.hash = section;
  });
  return summary;
};

// Return the id of the section; "" for the page's own, at its top.
function sectionWith(html, words) {
  const page = new DOMParser().parseFromString(html, "text/html");
  for (const other of page.querySelectorAll("script, style")) other.remove();
  let most = 0;
  let found = "";
  for (const section of page.querySelectorAll("[role=main] section[id]")) {
    // The text above the sections inside it.
    const own = [...section.childNodes].filter(({ nodeName }) => nodeName !== "SECTION");
    const text = own.map(({ textContent }) => textContent).join(" ").toLowerCase();
    const count = words.filter((word) => text.includes(word)).length;
    if (count <= most) continue;
    most = count;
    found = section.parentElement?.closest("section") ? section.id : "";
  }
  return found;
}
