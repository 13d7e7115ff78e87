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
