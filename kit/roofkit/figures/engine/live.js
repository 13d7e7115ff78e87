// @ts-check
// Makes a page's figures interactive: picture, numbers and description follow the native controls.
// The build puts scene.js before this script; course.js defines `phrase`.

const PAUSE_MS = 300; // without input before the description is updated and read aloud
const MAX_PLAY_MS = 20_000; // limit for playing all steps: if they are many, each is shorter
const FAR = 1e5; // pixels, beyond any end of a picture: formulas clamp
const KEPT = "roofline-my-own-chip";
const OWN = "my own chip";
const { measure } = document.currentScript.dataset;
const calm = window.matchMedia("(prefers-reduced-motion: reduce)");

// ---- the reader's own chip: shared by all figures, stored in the browser

const ownChip = new EventTarget();
function keptNumbers() {
  try {
    return JSON.parse(localStorage.getItem(KEPT)) ?? {};
  } catch {
    return {}; // storage is blocked, or contains something else
  }
}
function keepNumbers(numbers) {
  try {
    localStorage.setItem(KEPT, JSON.stringify(numbers));
  } catch {
    // Storage is blocked: the numbers last as long as the page.
  }
  ownChip.dispatchEvent(new CustomEvent("change", { detail: numbers }));
}
window.addEventListener("storage", ({ key }) => {
  if (key === KEPT) ownChip.dispatchEvent(new CustomEvent("change", { detail: keptNumbers() }));
});
const filledIn = (template, numbers) => {
  if (typeof template === "string") return numbers[template];
  if (typeof template !== "object") return template;
  return Object.fromEntries(Object.entries(template).map(([k, t]) => [k, filledIn(t, numbers)]));
};

// ---- scripts loaded on demand

function loaded(address) {
  return new Promise((done, failed) => {
    const script = document.createElement("script");
    script.src = address;
    script.onload = done;
    script.onerror = () => failed(new Error(`not loaded: ${address}`));
    document.head.append(script);
  });
}

// ---- a config file, read by the page's Python

const MAX_CONFIG = 2 ** 20 + 1; // bytes: one more than Python accepts
const READ_SECONDS = 60;
// `rows` are the models that the figure has already, by name.
async function readConfig(engine, file, rows) {
  const bytes = new Uint8Array(await file.slice(0, MAX_CONFIG).arrayBuffer());
  const content = Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
  // A string in JSON is one in Python, too.
  const [name, kept] = [file.name, JSON.stringify(rows)].map((words) => JSON.stringify(words));
  const code = `import json
from roofkit.figures.model_rows import answer
print(answer(bytes.fromhex("${content}"), ${name}, json.loads(${kept})))`;
  const printed = [];
  await engine.run([{ code, seconds: READ_SECONDS }], 0, ({ outputs = [] }) => printed.push(...outputs));
  const failure = printed.find(({ kind }) => kind === "error");
  if (failure) throw new Error(failure.text.split("\n").at(-1));
  const lines = printed.filter(({ kind }) => kind === "stdout").map(({ text: words }) => words);
  return JSON.parse(lines.join(""));
}

// ---- a figure

async function start(figure) {
  const data = JSON.parse(figure.querySelector('script[type="application/json"]').textContent);
  const { controls, texts, last, says, own, tables, handles = [] } = data;
  const fieldset = figure.querySelector("fieldset");
  const picture = figure.querySelector(".live-picture");
  const description = figure.querySelector(".live-says");
  const numbers = [...figure.querySelectorAll("data")];
  const lines = [...figure.querySelectorAll(".live-lines > li")];
  const inputs = Object.fromEntries(
    [...fieldset.querySelectorAll("[name]")].map((input) => [input.name, input]),
  );

  const place = document.createElement("div");
  picture.append(place);
  const view = scene(place, data);
  picture.querySelector(":scope > svg").remove();
  // Handles are inside the picture's element, so only the SVG gets the role of an image.
  view.svg.setAttribute("role", "img");
  view.svg.setAttribute("aria-label", picture.getAttribute("aria-label"));
  picture.removeAttribute("role");
  picture.removeAttribute("aria-label");
  // The picture now has its own height: drop the reserved space.
  picture.removeAttribute("style");

  const chosen = {};
  const shown = (name) => chosen[name] ?? view.get(`${name}_text`) ?? view.get(name);
  // Recursive, because the replacement of a {name} may contain other names.
  const filled = (sentence) => sentence.replace(/\{(\w+)\}/g, (_, name) => filled(shown(name)));
  const position = (input) =>
    input.type === "range" ? Number(input.value) : controls[input.name].indexOf(input.value);

  const wordsAt = (input, at) => texts[input.name]?.[at] ?? controls[input.name][at];

  let refused = ""; // why the file that was chosen last isn't shown; any other choice ends it
  function read(input) {
    refused = "";
    const at = position(input);
    chosen[input.name] = wordsAt(input, at);
    if (input.type === "range") {
      input.setAttribute("aria-valuetext", chosen[input.name]);
      input.closest(".live-control").querySelector(".live-value").textContent = chosen[input.name];
    }
    view.set(input.name, controls[input.name][at]);
  }

  let timer;
  function follow() {
    view.show();
    const problem = refused || (view.get("problem") ?? "");
    for (const number of numbers) {
      number.value = problem ? "" : String(view.get(number.dataset.name));
      number.textContent = problem ? "–" : view.get(`${number.dataset.name}_text`);
    }
    for (const line of lines) {
      line.textContent = problem ? "" : joined(filled(view.get(line.dataset.name)));
      line.hidden = !line.textContent;
    }
    picture.classList.toggle("live-void", Boolean(problem));
    for (const [name, formula] of Object.entries(last)) {
      const input = inputs[name];
      input.max = Math.min(controls[name].length - 1, view.get(formula));
      if (view.get(name) > view.get(formula)) {
        read(input);
        return follow();
      }
    }
    for (const hold of holds) hold.follow();
    figure.dispatchEvent(new Event("followed"));
    // Debounce the description: a screen reader couldn't keep up with a moving slider.
    clearTimeout(timer);
    figure.dataset.state = "moving";
    timer = setTimeout(() => {
      const words = joined(filled(problem || says));
      if (description.textContent !== words) description.textContent = words;
      figure.dataset.state = "live";
    }, PAUSE_MS);
  }

  function moved(input, at) {
    if (input.type === "range") input.value = at;
    else input.selectedIndex = at;
    read(input);
    return follow();
  }

  // ---- the reader's own chip
  const fields = [...fieldset.querySelectorAll("[data-own]")];
  const factor = (field) => Number(field.dataset.factor);
  // The last valid number of each field, in SI units.
  const good = Object.fromEntries(
    fields.map((field) => [field.dataset.own, field.defaultValue * factor(field)]),
  );
  const inUnit = (field) => Number((good[field.dataset.own] / factor(field)).toPrecision(12));
  // Shows a message if a field's number is invalid; returns whether it is valid.
  function judge(field) {
    const right = field.value !== "" && field.validity.valid;
    const said = field.closest("label").nextElementSibling;
    const words = right ? "" : field.dataset.wrong.replace("{kept}", text(inUnit(field), "", 12));
    if (said.textContent !== words) said.textContent = words;
    field.setAttribute("aria-invalid", String(!right));
    return right;
  }
  function takeOwn(kept) {
    for (const field of fields) {
      const number = kept[field.dataset.own];
      if (number > 0) good[field.dataset.own] = number;
      // Don't change a number while the reader is typing it.
      if (field !== document.activeElement) {
        field.value = inUnit(field);
        judge(field);
      }
    }
    for (const [table, template] of Object.entries(own)) {
      view.set(table, { ...tables[table], [OWN]: filledIn(template, good) });
    }
  }
  const chooseOwn = () => {
    for (const input of Object.values(inputs)) {
      const options = controls[input.name];
      if (options.includes(OWN)) moved(input, options.indexOf(OWN));
    }
  };
  for (const field of fields) {
    field.addEventListener("input", () => {
      if (!judge(field)) return;
      // Store only the typed number: the other fields may show numbers from a drag.
      keepNumbers({ ...keptNumbers(), [field.dataset.own]: field.value * factor(field) });
      chooseOwn();
    });
  }
  takeOwn(keptNumbers());
  ownChip.addEventListener("change", (/** @type {any} */ { detail }) => {
    takeOwn(detail);
    follow();
  });

  // ---- handles that can be dragged
  // Moves a handle to (x, y); returns whether anything has changed.
  function go(handle, x, y) {
    const wanted = { to_x: x, to_y: y };
    const numbers = {};
    let changed = false;
    for (const [name, formula] of Object.entries(handle.moves)) {
      const to = value(formula, Object.assign(Object.create(view.names), wanted));
      if (!(name in controls)) numbers[name] = to;
      else {
        // Choose the nearest option by ratio, since steps are logarithmic.
        const distances = controls[name].map((option) => Math.abs(Math.log(option / to)));
        const at = distances.indexOf(Math.min(...distances));
        if (position(inputs[name]) === at) continue;
        moved(inputs[name], at);
        changed = true;
      }
    }
    if (!Object.keys(numbers).length) return changed;
    // Change this figure only: a drag must not overwrite typed numbers.
    const rounded = Object.entries(numbers).map(([name, to]) => [name, Number(to.toPrecision(3))]);
    takeOwn(Object.fromEntries(rounded));
    chooseOwn();
    return true;
  }
  const holds = handles.map((handle) => {
    const knob = document.createElement("div");
    knob.className = "live-handle";
    knob.tabIndex = 0;
    knob.setAttribute("role", "slider");
    knob.setAttribute("aria-label", handle.name);
    place.append(knob);
    const at = { x: 0, y: 0 };
    knob.addEventListener("pointerdown", (event) => {
      knob.setPointerCapture(event.pointerId);
      knob.focus();
      event.preventDefault();
    });
    knob.addEventListener("pointermove", (event) => {
      if (!knob.hasPointerCapture(event.pointerId)) return;
      const box = view.svg.getBoundingClientRect();
      go(handle, event.clientX - box.left, event.clientY - box.top);
    });
    const keys = {
      ArrowLeft: [-4, 0],
      ArrowRight: [4, 0],
      ArrowUp: [0, -4],
      ArrowDown: [0, 4],
      PageDown: [-64, 0],
      PageUp: [64, 0],
      Home: [-FAR, 0],
      End: [FAR, 0],
    };
    knob.addEventListener("keydown", (event) => {
      if (!(event.key in keys)) return;
      event.preventDefault();
      const [right, down] = keys[event.key];
      // Move farther until something changes: the steps of a control may be wide.
      let times = 1;
      while (times <= 128 && !go(handle, at.x + right * times, at.y + down * times)) times *= 1.5;
    });
    return {
      follow() {
        at.x = value(handle.x, view.names);
        at.y = value(handle.y, view.names);
        knob.style.transform = `translate(${at.x}px, ${at.y}px)`;
        knob.setAttribute("aria-valuetext", value(handle.says, view.names));
        const [least, most, now] = [handle.least, handle.most, handle.value].map((f) => value(f, view.names));
        knob.setAttribute("aria-valuemin", String(least));
        knob.setAttribute("aria-valuemax", String(most));
        knob.setAttribute("aria-valuenow", String(Math.min(most, Math.max(least, now))));
      },
    };
  });

  place.addEventListener("resized", () => holds.forEach((hold) => hold.follow()));

  // ---- buttons of steps: back, play or stop, next
  for (const [name, formula] of Object.entries(last)) {
    const input = inputs[name];
    const buttons = input.closest(".live-control").querySelectorAll("[data-does]");
    const [back, play, next] = buttons;
    const words = play.getAttribute("aria-label");
    const end = () => Number(input.max);
    const plays = "plays" in input.dataset;
    let playing = 0;
    let part = 0; // played share of the current step
    const stop = () => {
      cancelAnimationFrame(playing);
      playing = 0;
      play.setAttribute("aria-label", words);
      play.setAttribute("aria-pressed", "false");
    };
    const step = (to) => {
      stop();
      part = 0;
      moved(input, to); // the input clamps it
    };
    back.addEventListener("click", () => step(position(input) - 1));
    next.addEventListener("click", () => step(position(input) + 1));
    input.addEventListener("input", () => {
      stop();
      part = 0;
    });
    play.addEventListener("click", () => {
      if (playing) return plays ? stop() : step(position(input));
      if (position(input) >= end()) moved(input, 0);
      play.setAttribute("aria-label", play.dataset.stop);
      play.setAttribute("aria-pressed", "true");
      const whole = Math.min(1000 * Number(input.dataset.seconds), MAX_PLAY_MS / end());
      let began;
      const frame = (now) => {
        began ??= now - part * whole;
        part = Math.min(1, (now - began) / whole);
        playing = requestAnimationFrame(frame);
        if (part < 1) {
          // Between two steps only the picture moves; texts and numbers change at whole steps.
          if (calm.matches) return;
          view.set(name, controls[name][position(input)] + part);
          view.show();
          return;
        }
        began = now;
        part = 0;
        moved(input, position(input) + 1);
        if (position(input) >= end()) stop();
      };
      playing = requestAnimationFrame(frame);
    });
    if (plays) {
      // Play once when the picture comes into view, unless the reader has used a control before.
      const sight = new IntersectionObserver(
        (entries) => {
          if (!entries.at(-1).isIntersecting) return;
          if (!calm.matches && position(input) === 0) play.click();
        },
        { threshold: 0.7 },
      );
      sight.observe(picture);
      for (const event of ["click", "input"]) fieldset.addEventListener(event, () => sight.disconnect());
    }
  }

  // ---- the reader's own model: a config file, which Python reads in this page
  const config = fieldset.querySelector('[data-part="config"]');
  const { python, megabytes } = document.querySelector("script[data-python]")?.dataset ?? {};
  if (config && python) {
    const told = fieldset.querySelector('[data-part="read"]');
    const [control, table] = data.reads;
    const hint = told.textContent.replace("{megabytes}", megabytes);
    told.textContent = hint;
    config.closest(".live-config").hidden = false;
    config.addEventListener("change", () => take(config.files[0]));
    figure.addEventListener("dragover", (event) => event.preventDefault());
    figure.addEventListener("drop", (event) => {
      event.preventDefault();
      take(event.dataTransfer.files[0]);
    });
    let engine;
    let newest; // the latest chosen file; results of earlier ones are dropped
    const take = async (file) => {
      if (!file) return;
      newest = file;
      config.closest("details").open = true; // a dropped file's answer must be seen
      told.textContent = phrase("Reading {file} …", { file: file.name });
      try {
        const address = new URL(`${python}python.js`, document.baseURI).href;
        const { Python } = await import(address);
        engine ??= new Python();
        const answer = await readConfig(engine, file, view.get(table));
        if (newest !== file) return;
        const { problem, name } = answer;
        told.textContent = problem
          ? phrase("{file} was not read: {problem}", { problem, file: file.name })
          : phrase("The figure now shows {file} as {model}.", { file: file.name, model: name }) + ` ${answer.summary}`;
        if (problem) {
          refused = told.textContent.replaceAll("{", "(").replaceAll("}", ")");
          return follow();
        }
        view.set(table, { ...view.get(table), [name]: answer.row });
        if (!controls[control].includes(name)) {
          controls[control].push(name);
          inputs[control].add(new Option(name));
        }
        moved(inputs[control], controls[control].indexOf(name));
      } catch (error) {
        if (newest !== file) return;
        const values = { file: file.name, problem: error.message, model: shown(control) };
        told.textContent = phrase("{file} could not be read ({problem}). The figure still shows {model}. Choose the file again.", values);
      }
    };
  }

  // ---- measuring the reader's browser, with a script that is loaded on demand
  const press = fieldset.querySelector('[data-part="measure"]');
  let loading = false;
  press?.addEventListener("click", async function begin() {
    if (loading) return;
    loading = true;
    const told = fieldset.querySelector('[data-part="told"]');
    try {
      await loaded(measure);
    } catch (error) {
      told.textContent = phrase("The script that measures did not load. Press again to try again.");
      throw error;
    } finally {
      loading = false;
    }
    // From now on, the loaded script handles its buttons.
    press.removeEventListener("click", begin);
    const keepOwn = (some) => keepNumbers({ ...keptNumbers(), ...some });
    await window.rooflineMeasure(figure, { view, follow, keepOwn });
  });

  for (const input of Object.values(inputs)) {
    input.addEventListener("input", () => {
      read(input);
      follow();
    });
    read(input);
    // When a reader goes back to a page, browsers restore its controls after scripts have run.
    window.addEventListener("pageshow", () => {
      if (chosen[input.name] !== wordsAt(input, position(input))) input.dispatchEvent(new Event("input"));
    });
  }
  fieldset.disabled = false;
  follow();
}

for (const figure of document.querySelectorAll("figure.live")) start(figure);
