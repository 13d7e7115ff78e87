// @ts-check
// Lets the reader choose a way through the course, remembers it in this browser, and points the links to
// the previous and the next page along it.
(() => {
  const KEY = "roofline-way";
  const WHOLE = "whole";
  const { dataset } = document.currentScript;
  let way = WHOLE;
  try {
    way = localStorage.getItem(KEY) ?? WHOLE;
  } catch {
    // Storage is disabled: the whole course.
  }

  const along = JSON.parse(dataset.ways)[way] ?? {};
  for (const [side, [address, title]] of Object.entries(along)) {
    const link = document.querySelector(side === "prev" ? "a.left-prev" : "a.right-next");
    if (!link) continue;
    link.href = address;
    link.querySelector(".prev-next-title").textContent = title;
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
