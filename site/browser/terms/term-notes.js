// @ts-check
// Tooltips with a glossary term's meaning at each link to it, for mouse, keyboard and touch.
(() => {
  const LINKS = "a[href*='#term-']:has(> .std-term)";
  const main = document.querySelector("main");

  // Load the terms on first use. They are a script, since a page opened from disk can load no data.
  // Each language has its own.
  const { content_root: root } = document.documentElement.dataset;
  const source = new URL(`${root}_static/terms.js`, document.baseURI);
  let terms;
  const load = () => (terms ??= new Promise((resolve) => {
    const script = document.createElement("script");
    script.onload = () => resolve(window.courseTerms);
    script.onerror = () => {
      terms = undefined; // the next one tries again
      resolve({});
    };
    script.src = source.href;
    document.head.append(script);
  }));

  const note = document.createElement("div");
  note.id = "term-note";
  note.className = "term-note";
  note.setAttribute("role", "tooltip");
  note.hidden = true;
  main.append(note);

  let wanted;
  let closing;
  let shownBefore;

  async function open(link) {
    close();
    wanted = link;
    const sentence = (await load())[decodeURIComponent(link.hash.slice(1))];
    if (wanted !== link || !sentence) return;
    note.textContent = sentence;
    note.hidden = false;
    place(link);
    link.setAttribute("aria-describedby", note.id);
  }

  function place(link) {
    // A link may wrap onto a second line: place the note at the link's first line.
    const [line] = link.getClientRects();
    const around = note.offsetParent.getBoundingClientRect();
    const room = document.documentElement.clientWidth - note.offsetWidth - 16;
    const left = Math.max(16, Math.min(line.left, room));
    const below = line.bottom + note.offsetHeight + 8 < innerHeight;
    const top = below ? line.bottom + 4 : line.top - note.offsetHeight - 4;
    note.style.left = `${left - around.left + note.offsetParent.scrollLeft}px`;
    note.style.top = `${top - around.top + note.offsetParent.scrollTop}px`;
  }

  function close() {
    clearTimeout(closing);
    wanted?.removeAttribute("aria-describedby");
    wanted = undefined;
    note.hidden = true;
  }

  // Delay closing, so that the pointer can move to the note, to read or copy it.
  const closeSoon = () => {
    clearTimeout(closing);
    closing = setTimeout(close, 200);
  };
  const linkOf = (event) => event.target.closest?.(LINKS);

  main.addEventListener("pointerover", (event) => {
    if (event.pointerType === "touch") return;
    if (note.contains(event.target)) clearTimeout(closing);
    else if (linkOf(event)) open(linkOf(event));
    else if (wanted !== document.activeElement) closeSoon();
  });
  main.addEventListener("pointerleave", () => {
    if (wanted !== document.activeElement) closeSoon();
  });
  main.addEventListener("focusin", (event) => linkOf(event) && open(linkOf(event)));
  main.addEventListener("focusout", (event) => linkOf(event) === wanted && close());
  addEventListener("keydown", (event) => event.key === "Escape" && close());

  // A finger cannot hover: its first tap opens the note, a second one follows the link.
  addEventListener("pointerdown", (event) => {
    shownBefore = wanted;
    if (linkOf(event) !== wanted && !note.contains(/** @type {Node} */ (event.target))) close();
  });
  main.addEventListener("click", (event) => {
    const link = linkOf(event);
    if (!link || event.pointerType !== "touch" || shownBefore === link) return;
    event.preventDefault();
    open(link);
  });
})();
