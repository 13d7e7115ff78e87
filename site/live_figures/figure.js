// Brings the live figures of a page to life: native controls on one side, a Vega-Lite chart and
// words that follow them on the other. `vegaEmbed` is put before this script by the build.

const PAUSE = 300; // ms without a move before the description is read aloud

async function bringToLife(figure) {
  const { spec, controls, texts, says } = JSON.parse(
    figure.querySelector('script[type="application/json"]').textContent,
  );
  const fieldset = figure.querySelector("fieldset");
  const picture = figure.querySelector(".live-picture");
  const description = figure.querySelector(".live-says");
  const numbers = [...figure.querySelectorAll("data")];

  const place = document.createElement("div");
  picture.append(place);
  const { view } = await vegaEmbed(place, spec, {
    mode: "vega-lite",
    renderer: "svg",
    actions: false,
    defaultStyle: false,
    tooltip: false,
  });
  picture.querySelector(":scope > svg").remove();
  place.querySelector("svg").setAttribute("aria-hidden", "true");

  const chosen = {};
  const signal = (name) => {
    try {
      return view.signal(name);
    } catch {
      return undefined; // not every figure has every signal
    }
  };
  const shown = (name) => chosen[name] ?? signal(`${name}_text`) ?? signal(name);
  // What replaces a {name} may have names of its own.
  const filled = (sentence) => sentence.replace(/\{(\w+)\}/g, (_, name) => filled(shown(name)));

  function read(input) {
    const values = controls[input.name];
    const range = input.type === "range";
    const at = range ? Number(input.value) : values.indexOf(input.value);
    chosen[input.name] = range ? texts[input.name][at] : values[at];
    if (range) {
      input.setAttribute("aria-valuetext", texts[input.name][at]);
      input.closest(".live-control").querySelector(".live-value").textContent =
        texts[input.name][at];
    }
    view.signal(input.name, values[at]);
  }

  let timer;
  async function follow() {
    await view.runAsync();
    const problem = signal("problem") ?? "";
    for (const number of numbers) {
      number.value = problem ? "" : String(signal(number.dataset.name));
      number.textContent = problem ? "–" : signal(`${number.dataset.name}_text`);
    }
    picture.classList.toggle("live-void", Boolean(problem));
    figure.dispatchEvent(new Event("followed"));
    // Words change when a move is over: a voice could not keep up with a slider.
    clearTimeout(timer);
    figure.dataset.state = "moving";
    timer = setTimeout(() => {
      const words = problem || filled(says);
      if (description.textContent !== words) description.textContent = words;
      figure.dataset.state = "live";
    }, PAUSE);
  }

  const inputs = [...fieldset.querySelectorAll("input, select")];
  for (const input of inputs) {
    input.addEventListener("input", () => {
      read(input);
      follow();
    });
    // A browser that goes back to a page puts its controls where the reader left them.
    read(input);
  }
  fieldset.disabled = false;
  await follow();

  // A sidebar that folds changes the width without a word from the window.
  new ResizeObserver(() => window.dispatchEvent(new Event("resize"))).observe(picture);
}

for (const figure of document.querySelectorAll("figure.live")) {
  bringToLife(figure).catch((error) => {
    figure.dataset.state = "failed";
    throw error;
  });
}
