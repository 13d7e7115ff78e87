// The bar at the foot of the window: what Python is doing, and how to end it.

export const made = (tag, properties = {}, ...children) => {
  const element = Object.assign(document.createElement(tag), properties);
  element.append(...children);
  return element;
};

const MB = 1e6;

export function panel(article, engine) {
  const words = made("p", { className: "python-words" });
  words.setAttribute("role", "status");
  const meter = made("progress", { max: 1, value: 0, hidden: true });
  meter.setAttribute("aria-label", "Python fetched");
  const end = made("button", { type: "button", hidden: true });
  const back = made("button", {
    type: "button",
    hidden: true,
    textContent: "Put the page back",
  });
  const place = made("div", { className: "python-panel" }, words, meter, end, back);
  place.setAttribute("role", "region");
  place.setAttribute("aria-label", "Python in this page");
  article.append(place);
  let told = 0;
  engine.addEventListener("ended", () => (told = 0));
  end.addEventListener("click", () => engine.stop());
  engine.addEventListener("progress", ({ detail: { got, total } }) => {
    fetched(Math.min(1, got / total));
    // A voice reads these words each time that they change.
    if (got - told < total / 8 && got < total) return;
    told = got;
    words.textContent = `Fetching Python: ${(got / MB).toFixed(0)} of ${(total / MB).toFixed(0)} MB`;
  });
  engine.addEventListener("kept", () => (place.dataset.kept = "start"));
  function fetched(part) {
    meter.hidden = part === null;
    if (part !== null) meter.value = part;
  }
  return {
    place,
    back,
    say: (text) => (words.textContent = text),
    // The last words of a run.
    rest: (text) => {
      words.textContent = text;
      place.dataset.runs = 1 + Number(place.dataset.runs ?? 0);
    },
    // While something can be ended, the name of the button that ends it.
    busy: (name = "") => {
      end.hidden = !name;
      end.textContent = name;
    },
    fetched,
  };
}

// What is said when Python is no more.
export function ended({ message }) {
  if (message === "stopped") return "Stopped. The next run starts Python anew, with your code.";
  return `Python ended (${message}). The next run starts it anew, with your code.`;
}
