// @ts-check
// The menu of a published page: closes on Escape or a click outside, and adds the current section to a
// report.
(() => {
  const menu = document.querySelector(".page-links");
  if (!menu) return;
  addEventListener("click", ({ target }) => {
    if (!menu.contains(target)) menu.open = false;
  });
  menu.addEventListener("keydown", ({ key }) => {
    if (key !== "Escape") return;
    menu.open = false;
    menu.querySelector("summary").focus();
  });

  const report = menu.querySelector("[data-kind=report]");
  if (!report) return;
  const form = report.href;
  menu.addEventListener("toggle", () => {
    // course.js marks the section that is being read.
    const section = document.querySelector(".bd-toc-nav a[aria-current]");
    const address = new URL(form);
    if (section) {
      for (const [name, text] of address.searchParams) {
        const words = `Section: ${section.textContent.trim()} (${section.hash})`;
        address.searchParams.set(name, text.replace(/^Section: $/m, () => words));
      }
    }
    report.href = address.href;
  });
})();
