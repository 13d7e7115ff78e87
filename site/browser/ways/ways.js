// @ts-check
// Lets the reader choose a reading route through the course, and remembers it in this browser.
// Makes the previous and next links follow the route, and says which sections it leaves out.
(() => {
  const KEY = "roofline-way";
  const WHOLE = "whole";
  const { dataset } = document.currentScript;
  let way = WHOLE;
  try {
    way = localStorage.getItem(KEY) ?? WHOLE;
  } catch {
    // Storage is disabled: keep to the whole course.
  }

  const along = JSON.parse(dataset.ways)[way] ?? {};
  for (const [side, [address, title]] of Object.entries(along)) {
    const link = document.querySelector(side === "prev" ? "a.left-prev" : "a.right-next");
    link.href = address;
    link.querySelector(".prev-next-title").textContent = title;
  }

  for (const [section, next, title] of JSON.parse(dataset.detours)[way] ?? []) {
    const link = Object.assign(document.createElement("a"), { href: `#${next}` });
    link.textContent = phrase("Your way leaves this section out. Go on to “{title}”", { title });
    const line = Object.assign(document.createElement("p"), { className: "off-way" });
    line.append(link);
    document.getElementById(section)?.querySelector("h2, h3")?.after(line);
  }

  const box = document.querySelector(".ways");
  if (!box) return;
  const names = [...box.querySelectorAll(".way")];
  const nameOf = (element) => [...element.classList].find((name) => name.startsWith("way-")).slice("way-".length);
  const known = names.some((element) => nameOf(element) === way) ? way : WHOLE;
  box.setAttribute("role", "radiogroup");
  box.setAttribute("aria-label", phrase("Your way through the course"));
  for (const element of names) {
    const value = nameOf(element);
    const radio = Object.assign(document.createElement("input"), { type: "radio", name: "way", value, checked: value === known });
    radio.addEventListener("change", () => {
      try {
        localStorage.setItem(KEY, value);
      } catch {
        // Storage is disabled: the choice has no effect.
      }
    });
    const label = document.createElement("label");
    element.replaceWith(label);
    label.append(radio, " ", element);
  }
})();
