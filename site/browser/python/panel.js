// @ts-check
// The bar at the bottom of the window: what Python is doing, and buttons to cancel or stop it.

export const element = (tag, properties = {}, ...children) => {
  const made = Object.assign(document.createElement(tag), properties);
  made.append(...children);
  return made;
};

const MB = 1e6;

// Join whole sentences; some may be missing.
export const joined = (...sentences) =>
  sentences.filter(Boolean).reduce((one, other) => phrase("{one} {other}", { one, other }), "");

export function panel(article, engine) {
  const words = element("p", { className: "python-words" });
  words.setAttribute("role", "status");
  const meter = element("progress", { hidden: true });
  meter.setAttribute("aria-label", phrase("Python fetched"));
  const end = element("button", { type: "button", hidden: true });
  const back = element("button", {
    type: "button",
    hidden: true,
    textContent: phrase("Put the page back"),
  });
  const place = element("div", { className: "python-panel" }, words, meter, end, back);
  place.setAttribute("role", "region");
  place.setAttribute("aria-label", phrase("Python in this page"));
  article.append(place);
  let announced = 0; // bytes
  engine.addEventListener("ended", () => (announced = 0));
  end.addEventListener("click", () => engine.stop());
  engine.addEventListener("progress", ({ detail: { received, total } }) => {
    if (end.hidden) return; // Python starts in advance: the reader is not waiting
    showProgress(Math.min(1, received / total));
    // Screen readers announce each change: change the text at most eight times.
    if (received - announced < total / 8 && received < total) return;
    announced = received;
    const megabytes = { received: (received / MB).toFixed(0), total: (total / MB).toFixed(0) };
    words.textContent = phrase("Fetching Python: {received} of {total} MB", megabytes);
  });
  // Show a share from 0 to 1; null hides the meter.
  function showProgress(share) {
    meter.hidden = share === null;
    meter.value = share;
  }
  return {
    place,
    back,
    say: (text) => (words.textContent = text),
    // Show how a run ended.
    finish: (text) => {
      words.textContent = text;
      place.dataset.runs = 1 + Number(place.dataset.runs ?? 0);
    },
    // Show a button with this name that terminates Python; without a name, hide it.
    offerStop: (name = "") => {
      end.hidden = !name;
      end.textContent = name;
    },
    showProgress,
  };
}

// The message for a Python that was terminated.
export function endedMessage({ message }) {
  if (message === "stopped") return phrase("Stopped. The next run starts Python anew, with your code.");
  return phrase("Python ended ({reason}). The next run starts it anew, with your code.", { reason: message });
}
