// @ts-check
// Runs an exercise's notebook in the page's Python, from the top down to a cell.

import { StepTimeout } from "./engine.js";
import { endedMessage, joined } from "./panel.js";
import { gradeId, isCheck, text } from "./released_notebook.js";

const CELL_SECONDS = 120; // grading's wall-clock limit for a cell
const stopped = () =>
  phrase("This cell did not come to an end, and was stopped: a cell gets {seconds} s, in grading too.", { seconds: CELL_SECONDS });

const idOf = (cell) => gradeId(cell) ?? cell.id;

export class ExercisePython {
  #engine;
  #queue;
  #bar;
  #notebook;

  // `notebook()` returns the notebook with the current answers.
  constructor(engine, queue, bar, notebook) {
    this.#engine = engine;
    this.#queue = queue;
    this.#bar = bar;
    this.#notebook = notebook;
  }

  // Return the steps down to this cell, without the checks of other parts. An error stops the run only
  // in a cell of `required`.
  stepsTo(id, required = []) {
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
        alt: phrase("A figure of your own"),
        seconds: CELL_SECONDS,
        continueOnError: !required.includes(idOf(cell)),
      }));
  }

  // Run the steps of an order. `show` displays their results and returns the final message.
  async run(order, show) {
    this.#bar.offerStop(phrase("Cancel"));
    try {
      this.#bar.finish(show(await this.#results(order)));
    } catch (error) {
      this.#bar.showProgress(null);
      const dropped = this.#queue.clear();
      const more = dropped === 1
        ? phrase("One more was waiting, and was not run.")
        : phrase("{dropped} more were waiting, and were not run.", { dropped });
      this.#bar.finish(joined(endedMessage(error), dropped && more));
    } finally {
      this.#bar.offerStop();
    }
  }

  // If a call takes too long, Python is terminated. Then the order runs again, and its check counts
  // that call as timed out. Outside of a browser, checks can stop the call itself.
  async #results(order) {
    const results = [];
    try {
      await this.#engine.start();
      this.#bar.showProgress(null);
      this.#bar.offerStop(phrase("Stop"));
      const { waiting } = this.#queue;
      this.#bar.say(waiting ? phrase("Running … {waiting} more to come.", { waiting }) : phrase("Running …"));
      await this.#engine.run(0, order, (data) => (results[data.step] = data));
    } catch (error) {
      if (!(error instanceof StepTimeout)) throw error;
      const { step, call } = error;
      if (call) return this.#results(order.map((one, at) => (at === step ? { ...one, late: call } : one)));
      results[step] = { failed: true, outputs: [{ kind: "error", text: stopped() }] };
    }
    return results;
  }
}
