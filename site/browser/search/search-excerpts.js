// @ts-check
// Shows prose in the excerpts of search results, without code and LaTeX.
(() => {
  const OTHER = [
    "script", "style", "svg", "table", "pre", "figure.live", "form", "header", "footer", "h1",
    ".headerlink", ".cell_input", ".place", ".prev-next-footer", ".bd-sidebar-secondary",
    "div.math", "details.hide > summary", "dt.sig", ".heading-of-cell", "span.label",
  ];
  const CHINESE = document.documentElement.lang.startsWith("zh");
  const LENGTH = CHINESE ? 120 : 240;
  const WORD = 30; // look for a space within this many characters of a cut

  // Return an inline formula as plain text: keep letters, replace or drop commands.
  const spoken = (formula) => formula
    .replace(/^\\\(|\\\)$/g, "")
    .replace(/\\(?:text|mathrm|operatorname)\s*\{([^{}]*)\}/g, "$1")
    .replace(/\\[dt]?frac\s*\{([^{}]*)\}\s*\{([^{}]*)\}/g, "$1 / $2")
    .replace(/\\(?:times|cdot)\b/g, "·")
    .replace(/\\(?:approx)\b/g, "≈")
    .replace(/\\(?:le|leq)\b/g, "≤")
    .replace(/\\(?:ge|geq)\b/g, "≥")
    .replace(/\\[a-zA-Z]+|\\.|[{}$]/g, " ")
    .replace(/_\s*/g, " ");

  function prose(html, anchor) {
    const page = new DOMParser().parseFromString(html, "text/html");
    const main = page.querySelector('[role="main"] article');
    let part = (anchor && main.querySelector(`[id="${CSS.escape(anchor.slice(1))}"]`)) || main;
    // The description of a glossary term or a function is in the <dd> after it.
    while (part.nextElementSibling && part.matches("dt")) part = part.nextElementSibling;
    part.querySelectorAll(OTHER.join()).forEach((element) => element.remove());
    for (const formula of part.querySelectorAll(".math")) {
      formula.textContent = spoken(formula.textContent);
    }
    for (const title of part.querySelectorAll("h2, h3, h4, .admonition-title")) title.append(CHINESE ? "。" : ".");
    for (const term of part.querySelectorAll("dt")) term.append(CHINESE ? "：" : ":");
    for (const block of part.querySelectorAll("p, li, dt, dd, h2, h3, h4")) block.append(" ");
    return part.textContent.replace(/\s+/g, " ").trim();
  }

  function summary(html, keywords, anchor) {
    const text = prose(html, anchor);
    const lower = text.toLowerCase();
    const places = [...keywords].map((word) => lower.indexOf(word.toLowerCase()));
    const first = Math.min(...places.filter((place) => place >= 0), text.length);
    const about = first === text.length ? 0 : Math.max(first - LENGTH / 2, 0);
    // Start and end the excerpt at a word boundary, if there is one.
    const before = text.indexOf(" ", about);
    const start = about && before >= about && before < about + WORD ? before + 1 : about;
    const rest = text.slice(start);
    const after = rest.lastIndexOf(" ", LENGTH);
    const end = after > LENGTH - WORD ? after : LENGTH;
    const shown = rest.length > LENGTH ? rest.slice(0, end) : rest;
    const paragraph = document.createElement("p");
    paragraph.className = "context";
    paragraph.textContent = `${start ? "… " : ""}${shown}${shown.length < rest.length ? " …" : ""}`;
    return paragraph;
  }

  Search.makeSearchSummary = summary;
})();
