// What the page's Python is asked for an exercise: its notebook from the top down to a cell.

import { TooLate } from "./engine.js";
import { ended } from "./panel.js";
import { gradeId, isCheck, text } from "./released.js";

const CELL_SECONDS = 120; // what grading gives a cell, by the clock
const STOPPED = `This cell did not come to an end, and was stopped: a cell gets ${CELL_SECONDS} s, in grading too.`;

const idOf = (cell) => gradeId(cell) ?? cell.id;

export class ExercisePython {
  #engine;
  #queue;
  #bar;
  #notebook;

  // `notebook()` gives the notebook as it now stands.
  constructor(engine, queue, bar, notebook) {
    this.#engine = engine;
    this.#queue = queue;
    this.#bar = bar;
    this.#notebook = notebook;
  }

  // The steps down to this cell, without other cells' checks. An error in one of `vital` ends them.
  stepsTo(id, vital = []) {
    const cells = this.#notebook().cells.filter(
      (cell) => cell.cell_type === "code" && gradeId(cell) !== "opening",
    );
    const last = cells.findIndex((cell) => idOf(cell) === id);
    return cells
      .slice(0, last + 1)
      .filter((cell, number) => !isCheck(cell) || number === last)
      .map((cell) => ({
        id: idOf(cell),
        code: text(cell),
        alt: "A figure of your own",
        seconds: CELL_SECONDS,
        goOn: !vital.includes(idOf(cell)),
      }));
  }

  // Runs an order. `told` gets what each step gave, shows it, and returns the last words.
  async run(order, told) {
    this.#bar.busy("Cancel");
    try {
      this.#bar.rest(told(await this.#given(order)));
    } catch (error) {
      this.#bar.fetched(null);
      const dropped = this.#queue.clear();
      const more = dropped === 1 ? "One more was waiting, and was" : `${dropped} more were waiting, and were`;
      this.#bar.rest(ended(error) + (dropped ? ` ${more} not run.` : ""));
    } finally {
      this.#bar.busy();
    }
  }

  // If a call takes too long, Python has been ended: the order runs again, and its check counts that
  // call as too late, as a check does where it can stop the call itself.
  async #given(order) {
    const found = [];
    try {
      await this.#engine.start();
      this.#bar.fetched(null);
      this.#bar.busy("Stop");
      const { waiting } = this.#queue;
      this.#bar.say(waiting ? `Running … ${waiting} more to come.` : "Running …");
      await this.#engine.run(0, order, (data) => {
        if (data.begins === undefined) found[data.step] = data;
      });
    } catch (error) {
      if (!(error instanceof TooLate)) throw error;
      const { step, call } = error;
      if (call) return this.#given(order.map((one, at) => (at === step ? { ...one, late: call } : one)));
      found[step] = { failed: true, outputs: [{ kind: "error", text: STOPPED }] };
    }
    return found;
  }
}
