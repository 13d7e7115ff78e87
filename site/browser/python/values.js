// @ts-check
// The values in a page's text. After a run, one that has changed stands as “241 → 295”: as built, and
// as computed now. The words around it stay as printed.

// Return an object for a place on the page that shows a value; `asked` is what steps.json has of it.
export function valueAt(span, asked) {
  const built = span.textContent;
  function set(text, isStale = false) {
    span.textContent = text;
    span.classList.toggle("changed", text !== built);
    span.classList.toggle("stale", isStale);
  }
  return {
    asked,
    // The right answer to a guess is about the page as built.
    follows: !span.closest(".answer"),
    get isChanged() {
      return span.classList.contains("changed");
    },
    // Show the value as computed now; null if it can't be computed.
    show: (now) => set(now === built ? built : `${built} → ${now ?? phrase("can’t be computed")}`),
    // Show the value as built. Mark it if it was not computed again, since a cell above it failed.
    restore: (isStale = false) => set(built, isStale),
  };
}
