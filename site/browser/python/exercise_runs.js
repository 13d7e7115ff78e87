// @ts-check
// Runs cells of an exercise one after the other: presses while Python is fetched, or runs something, are
// not lost.

import { endedMessage, joined, markBusy } from "./panel.js";
import { python } from "./python.js";

export const CELL_SECONDS = 120; // grading's limit for a cell
export const CHECK_SECONDS = 30; // what grading gives a call of a function
export const CALL_SECONDS = 5; // of which it may compute
export const SLOW_SECONDS = 10; // a check that takes longer may have such a call: Python is slower here

const lateCell = (seconds) =>
  phrase("This cell did not come to an end, and was stopped: a cell gets {seconds} s, in grading too.", { seconds });
const lateCheck = (seconds) =>
  phrase("The function did not come to an end, and the check was stopped after {seconds} s. In grading a call gets {call} s of computing.", { seconds, call: CALL_SECONDS });

export const errorOutput = (text) => ({ kind: "error", text });

// Return a function that runs cells; `bar` is what panel() returned.
export function runner(bar) {
  const waiting = new Map(); // key of a job → {box, stepsOf, show}
  let isWorking = false;

  function dropWaiting() {
    const dropped = waiting.size;
    for (const { box } of waiting.values()) markBusy(box, false);
    waiting.clear();
    if (dropped < 2) return dropped && phrase("One more was waiting, and was not run.");
    return phrase("{dropped} more were waiting, and were not run.", { dropped });
  }

  // Return the results of the steps that had to run, id → {outputs, failed, seconds}, or null if Python was
  // stopped.
  async function run(steps) {
    const results = new Map();
    try {
      await bar.start(() => waiting.size && phrase("Running … {waiting} more to come.", { waiting: waiting.size }));
      let before = performance.now();
      await python.run(steps, steps.length - 1, ({ step, outputs, failed }) => {
        const now = performance.now();
        results.set(steps[step].id, { outputs, failed, seconds: (now - before) / 1000 });
        before = now;
      });
    } catch (error) {
      if (error.step === undefined) {
        bar.finish(joined(endedMessage(error), dropWaiting()));
        return null;
      }
      const { id, seconds } = steps[error.step];
      const said = seconds === CHECK_SECONDS ? lateCheck(seconds) : lateCell(seconds);
      results.set(id, { outputs: [errorOutput(said)], failed: true, seconds });
    }
    return results;
  }

  // Run the steps that `stepsOf()` returns, after what was asked for before, and say what `show(results, steps)`
  // returns. A key that waits already is not added again: its steps are made when it starts.
  return async function enqueue(key, box, stepsOf, show) {
    if (waiting.has(key)) return;
    waiting.set(key, { box, stepsOf, show });
    markBusy(box, true);
    if (isWorking) return;
    isWorking = true;
    for (const [next, job] of waiting) {
      waiting.delete(next);
      markBusy(job.box, true);
      const steps = job.stepsOf();
      const results = await run(steps);
      if (results) bar.finish(job.show(results, steps));
      markBusy(job.box, false);
    }
    isWorking = false;
  };
}
