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
