// @ts-check
// Small features of every page: words and elements for the scripts, what readers write, a mark at the current heading, the choice of
// colors, menus, copies of code, boxes that scroll by keyboard, and unfolding everything for print.
(() => {
  const { documentElement: html } = document;

  // Return a script's message, translated if words.js has it. {name} is replaced by a value.
  window.phrase = (english, values = {}) =>
    (window.courseWords?.[english] ?? english).replace(/\{(\w+)\}/g, (_, name) => String(values[name]));

  // Return an element with these properties and children.
  window.made = (tag, properties = {}, ...children) => {
    const element = Object.assign(document.createElement(tag), properties);
    element.append(...children);
    return element;
  };

  // What a reader writes, as JSON in this browser. What it doesn't store lasts until the page closes.
  const unsaved = new Map();
  window.stored = {
    get(key) {
      try {
        return unsaved.has(key) ? unsaved.get(key) : JSON.parse(localStorage.getItem(key));
      } catch {
        return null;
      }
    },
    set(key, value) {
      try {
        if (value === null) localStorage.removeItem(key);
        else localStorage.setItem(key, JSON.stringify(value));
        unsaved.delete(key);
      } catch {
        unsaved.set(key, value);
      }
    },
    keys(start) {
      try {
        return Object.keys(localStorage).filter((key) => key.startsWith(start));
      } catch {
        return [];
      }
    },
    get isComplete() {
      return unsaved.size === 0;
    },
  };

  // A mark in the contents of the page at what is being read.
  const links = new Map();
  for (const link of document.querySelectorAll(".bd-toc-nav a[href^='#']")) {
    const heading = document.getElementById(decodeURIComponent(link.hash.slice(1)));
    links.set(heading, link);
  }
  let current;
  function follow() {
    html.classList.toggle("scrolled", scrollY > 0);
    current = undefined;
    for (const [section, link] of links) {
      if (section.getBoundingClientRect().top < innerHeight / 3) current = link;
    }
    for (const link of links.values()) {
      link.classList.toggle("active", link === current);
      if (link === current) link.setAttribute("aria-current", "true");
      else link.removeAttribute("aria-current");
    }
  }
  addEventListener("scroll", follow); // which fires once per frame
  follow();

  // Make the link to the page's other language open where the reader is: at the address's target if
  // it is in sight, else at the section that is being read.
  for (const link of document.querySelectorAll("a.language")) {
    const keepPlace = () => {
      const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
      const inSight = target && Math.abs(target.getBoundingClientRect().top) < innerHeight;
      link.hash = inSight ? location.hash : (current?.hash ?? "");
    };
    for (const event of ["pointerdown", "focus", "click"]) link.addEventListener(event, keepPlace);
  }

  // Light, dark, or what the system says.
  for (const button of document.querySelectorAll(".theme-switch-button")) {
    button.addEventListener("click", () => {
      const modes = ["auto", "dark", "light"];
      const mode = modes[(modes.indexOf(html.dataset.mode) + 1) % modes.length];
      try {
        localStorage.setItem("mode", mode);
      } catch {
        // The browser keeps nothing: the choice is that of this page.
      }
      window.showTheme(mode);
    });
  }
  // The system may change, and the choice on another page, which may be open in another tab or come before
  // this one, to which the reader goes back.
  const showTheme = () => window.showTheme();
  for (const query of ["(prefers-color-scheme: dark)", "(forced-colors: active)"]) {
    matchMedia(query).addEventListener("change", showTheme);
  }
  addEventListener("pageshow", showTheme);
  addEventListener("storage", ({ key }) => key === "mode" && showTheme());

  // The list of pages is long: show this one.
  const here = document.querySelector(".bd-links a.current");
  here?.setAttribute("aria-current", "page");
  here?.scrollIntoView({ block: "nearest" });

  // A menu closes when it has led to a section, and a key leads to the search.
  for (const menu of /** @type {NodeListOf<HTMLElement>} */ (document.querySelectorAll("[popover]"))) {
    menu.addEventListener("click", ({ target }) => {
      if (/** @type {Element} */ (target).closest("a")) menu.hidePopover();
    });
  }
  addEventListener("keydown", (event) => {
    // On a Mac, Control+K is a key of the editor.
    if (!(event.ctrlKey || event.metaKey) || event.key !== "k" || event.defaultPrevented) return;
    event.preventDefault();
    const menu = /** @type {HTMLElement} */ (document.getElementById("contents-of-course"));
    const field = /** @type {HTMLElement} */ (menu.querySelector("input"));
    if (!field.checkVisibility()) menu.showPopover();
    field.focus();
  });

  // A button that copies code, where the browser lets it.
  for (const code of navigator.clipboard ? document.querySelectorAll("div.highlight") : []) {
    const name = window.phrase("Copy this code");
    const button = window.made("button", { className: "copybtn", title: name, ariaLabel: name });
    button.addEventListener("click", async () => {
      await navigator.clipboard.writeText(code.querySelector("pre")?.textContent ?? "");
      button.classList.add("done");
    });
    button.addEventListener("pointerleave", () => button.classList.remove("done"));
    code.append(button);
  }

  // A box that scrolls must be focusable, so that the arrow keys can scroll it.
  const boxes = document.querySelectorAll(
    ".scrolls, pre, div.math, .cell_output, .cell_output .text_html",
  );
  const fit = new ResizeObserver((changes) => {
    for (const change of changes) {
      const target = /** @type {HTMLElement} */ (change.target);
      if (target.scrollWidth > target.clientWidth) target.tabIndex = 0;
      else target.removeAttribute("tabindex");
    }
  });
  boxes.forEach((box) => fit.observe(box));

  // For print, unfold everything.
  let opened = [];
  addEventListener("beforeprint", () => {
    opened = [...document.querySelectorAll("details:not([open]):not(.above-input)")];
    opened.forEach((details) => (details.open = true));
  });
  addEventListener("afterprint", () => {
    opened.forEach((details) => (details.open = false));
  });
})();
