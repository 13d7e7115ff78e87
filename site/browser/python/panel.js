// @ts-check
// The bar at the bottom of the window: what Python is doing, and buttons to cancel or stop it.

import * as python from "./python.js";

const MB = 1e6;
const READ_MILLISECONDS = 3000;

// Join whole sentences; some may be missing.
export const joined = (...sentences) =>
  sentences.filter(Boolean).reduce((one, other) => phrase("{one} {other}", { one, other }), "");

export function panel(article) {
  const words = made("p", { className: "python-words", role: "status" });
  const meter = made("progress", { hidden: true, ariaLabel: phrase("Python fetched") });
  const end = made("button", { type: "button", hidden: true, title: "Esc", ariaKeyShortcuts: "Escape", onclick: () => python.stop() });
  const back = made("button", { type: "button", hidden: true, textContent: phrase("Put the page back") });
  const place = made("div", { className: "python-panel", role: "region", ariaLabel: phrase("Python in this page") }, words, meter, end, back);
  article.append(place);
  // What the bar says when nothing runs goes with the reader's next action, but not before it can be read.
  let saidAt = 0;
  function tidy({ target }) {
    if (!end.hidden || place.contains(target) || performance.now() - saidAt < READ_MILLISECONDS) return;
    words.textContent = "";
  }
  for (const action of ["pointerdown", "keydown", "wheel"]) document.addEventListener(action, tidy, { passive: true });
  // By Tab, the button is at the end of the page.
  document.addEventListener("keydown", ({ key, target, defaultPrevented }) => {
    const isInCell = Boolean(/** @type {Element} */ (target).closest(".cell"));
    if (key === "Escape" && isInCell && !end.hidden && !defaultPrevented) python.stop();
  });
  function say(text) {
    words.textContent = text;
    saidAt = performance.now();
  }
  let announced = 0; // bytes
  python.onProgress((received, total) => {
    if (end.hidden) return; // Python starts in advance: the reader is not waiting
    showProgress(Math.min(1, received / total));
    if (received < announced) announced = 0; // Python was stopped, and starts anew
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
  // Show a button with this name that terminates Python; without a name, hide it.
  function offerStop(name = "") {
    end.hidden = !name;
    end.textContent = name;
  }
  // Return whether the work came to its end.
  async function isDone(work) {
    offerStop(phrase("Cancel"));
    say(phrase("Fetching Python …"));
    let ended = "";
    try {
      await python.start();
      showProgress(null);
      offerStop(phrase("Stop"));
      say(phrase("Running …"));
      say(await work());
    } catch ({ message }) {
      ended = message === "stopped"
        ? phrase("Stopped. The next run starts Python anew, with your code.")
        : phrase("Python ended ({reason}). The next run starts it anew, with your code.", { reason: message });
      say(ended);
    }
    showProgress(null);
    offerStop();
    place.dataset.runs = 1 + Number(place.dataset.runs ?? 0);
    return !ended;
  }
  const waiting = new Map(); // key → {box, work}
  let isWorking = false;
  return {
    place,
    back,
    say,
    // Start Python, do `work()` with it, and say what that returns: after what was asked for before, so that
    // presses while Python is fetched, or runs, are not lost. A key that waits already is not added again. The
    // cell `box` is marked until then.
    async enqueue(key, box, work) {
      if (waiting.has(key)) return;
      waiting.set(key, { box, work });
      markBusy(box, true);
      if (isWorking) return;
      isWorking = true;
      for (const [next, job] of waiting) {
        waiting.delete(next);
        markBusy(job.box, true);
        if (!(await isDone(job.work))) {
          for (const { box: other } of waiting.values()) markBusy(other, false);
          waiting.clear();
        }
        markBusy(job.box, false);
      }
      isWorking = false;
    },
  };
}

// Mark a cell that is being run, or waits for it.
export function markBusy(box, isBusy) {
  box.classList.toggle("running", isBusy);
  if (isBusy) box.setAttribute("aria-busy", "true");
  else box.removeAttribute("aria-busy");
}
