// @ts-check
// The controls and results on the page: progress, a drawing and a table, or why there are none.

const NBSP = "\u00a0";
const label = (key) => {
  const [family, size] = key.split(" ");
  return family === "thin" ? `B = ${size}` : text(Number(size), "B");
};
const nameOf = (key) =>
  ({ peak: phrase("multiply-add"), read: phrase("read"), update: phrase("update in place"), copy: phrase("copy") })[key];
const heads = () => ["", phrase("best"), phrase("typical"), phrase("spread"), phrase("samples")];
// Return the words for a reason that samples.js sets as `refused`.
const reasonOf = (refused) =>
  ({ disturbed: phrase("disturbed"), unsteady: phrase("unsteady") })[refused];

// `live` is what the figure offers: its values, its update, the reader's own chip, and how it writes numbers.
function panel(figure, live) {
  ({ text, percent, safe } = live);
  const part = (name) => figure.querySelector(`[data-part="${name}"]`);
  const [press, stop, own, bar, told] = ["measure", "stop", "own", "bar", "told"].map(part);
  /** @type {any} */
  let found;

  function show(busy) {
    press.hidden = busy;
    stop.hidden = bar.hidden = !busy;
    own.hidden = busy || !found;
  }
  function say(what, share) {
    bar.value = share;
    bar.textContent = percent(share);
    const words = phrase("Measuring: {what}.", { what });
    if (told.textContent !== words) told.textContent = words;
  }
  const settings = window.rooflineRoofSettings; // tests set shorter times

  async function begin() {
    found = undefined;
    figure.dataset.measured = "running";
    show(true);
    stop.focus();
    say(phrase("the workers begin"), 0);
    const controller = new AbortController();
    const during = { signal: controller.signal };
    const halt = (why) => controller.abort(new Stopped(why));
    const sight = () => document.hidden && halt(phrase("The page was out of sight."));
    stop.addEventListener("click", () => halt(phrase("Stopped.")), during);
    window.addEventListener("pagehide", () => halt(phrase("The page was left.")), during);
    document.addEventListener("visibilitychange", sight, during);
    try {
      const cores = settings?.cores ?? navigator.hardwareConcurrency;
      const pool = await startPool(KERNELS, WORKER, cores, controller.signal);
      const result = await measure(pool, say, settings);
      found = { ...result, workers: pool.count, memory: pool.bytes, fused: pool.fused };
      draw(live, found);
      table(figure, found);
      told.textContent = phrase("Measured. The figures are below the drawing.");
    } catch (error) {
      const known = error instanceof Refused || error instanceof Stopped;
      told.textContent = known ? error.message : phrase("The measurement failed: {error}.", { error });
      live.view.set("why", phrase("Nothing was measured."));
      live.view.set("measured", 0);
      figure.querySelector(".live-samples")?.remove();
      if (!known) throw error;
    } finally {
      // Terminates the workers and removes the listeners.
      controller.abort(new Stopped());
      const back = [stop, document.body].includes(document.activeElement);
      show(false);
      if (back) (found ? own : press).focus();
      await live.follow();
      figure.dataset.measured = found ? "done" : "refused";
    }
  }

  press.addEventListener("click", begin);
  own.addEventListener("click", () => {
    live.keepOwn({ peak: found.figures.peak.best, bandwidth: found.figures.read.best });
    told.textContent = phrase("My own chip now has this peak and this bandwidth. Choose it in any figure of the course that has a chip.");
  });
  return begin();
}

// Pass the results to the picture, by the names in browser_roof.js.
function draw({ view }, { figures, workers, memory, fused, drift, seconds }) {
  const good = Object.values(figures).filter(({ refused }) => !refused);
  const family = (name) => good.filter(({ key }) => key.startsWith(`${name} `));
  for (const name of ["thin", "step"]) {
    const dots = family(name);
    const scale = ({ unit, flops, bytes }) => (unit === "B/s" ? flops / bytes : 1);
    view.set(`${name}_at`, dots.map(({ flops, bytes }) => flops / bytes));
    view.set(`${name}_count`, dots.length);
    for (const end of ["worst", "median", "best"]) {
      view.set(`${name}_${end}`, dots.map((dot) => dot[end] * scale(dot)));
    }
    view.set(`${name}_name`, dots.map(({ key }) => label(key)));
  }
  const { peak, read, update, copy } = figures;
  const nearest = family("step")[0] ?? read;
  const roofs = Object.entries({ peak, read, update, copy, nearest });
  view.set("found", Object.fromEntries(roofs.map(([name, { best }]) => [name, best])));
  view.set("told", {
    seconds: text(seconds, "s"),
    workers: workers === 1 ? phrase("one worker") : phrase("{workers} workers", { workers }),
    by: fused ? phrase("fused multiply-adds") : phrase("multiplications and additions one by one"),
    memory: text(memory, "B"),
  });
  view.set("drift", drift);
  view.set("why", "");
  view.set("measured", 1);
}

function table(figure, { figures }) {
  const made = document.createElement("div");
  made.className = "live-samples";
  // Make the table focusable, so that keys scroll it on a narrow screen.
  made.tabIndex = 0;
  made.setAttribute("role", "region");
  made.setAttribute("aria-label", phrase("Measured figures"));
  const rows = Object.values(figures).map(({ key, unit, refused, taken, samples, ...f }) => {
    const name = nameOf(key) ?? (key.startsWith("thin") ? label(key) : phrase("{size}, again", { size: label(key) }));
    const cells = refused
      ? [reasonOf(refused), "–", "–"]
      : [text(f.best, unit), text(f.median, unit), percent(f.spread)];
    const inner = [...cells, phrase("{samples} of {taken}", { samples, taken })].map((cell) => `<td>${safe(cell)}</td>`);
    return `<tr><th scope="row">${safe(name.replaceAll(" = ", `${NBSP}=${NBSP}`))}</th>${inner.join("")}</tr>`;
  });
  const headings = heads().map((head) => (head ? `<th scope="col">${head}</th>` : "<td></td>"));
  const caption = phrase("Every figure, of its undisturbed samples. B is the batch of a thin matmul; a size stands for reading that much again and again, in each worker.");
  made.innerHTML =
    `<table><caption>${caption}</caption><thead><tr>${headings.join("")}</tr></thead><tbody>${rows.join("")}</tbody></table>`;
  figure.querySelector(".live-samples")?.remove();
  figure.querySelector(".live-says").after(made);
}

window.rooflineMeasure = panel;
