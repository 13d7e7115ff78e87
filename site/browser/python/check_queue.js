// @ts-check
// A queue of the runs that a reader has asked for, so that clicks while Python is being fetched or is
// running something else are not lost.

export class CheckQueue {
  #jobs = []; // the first one is running

  // The number of runs that wait for the running one.
  get waiting() {
    return this.#jobs.length - 1;
  }

  // Queue `work`, which must not reject; `box` is marked as busy until it has ended. A key that is
  // already waiting is not queued again: its work reads the code when it starts.
  add(key, box, work) {
    if (this.#jobs.slice(1).some((job) => job.key === key)) return;
    this.#jobs.push({ key, box, work });
    this.#mark(box);
    if (this.#jobs.length === 1) this.#runAll();
  }

  // Drop the jobs that have not started, and return their number.
  clear() {
    const dropped = this.#jobs.splice(1);
    for (const { box } of dropped) this.#mark(box);
    return dropped.length;
  }

  async #runAll() {
    while (this.#jobs.length) {
      const [{ box, work }] = this.#jobs;
      await work();
      this.#jobs.shift();
      this.#mark(box);
    }
  }

  #mark(box) {
    const busy = this.#jobs.some((job) => job.box === box);
    box.classList.toggle("running", busy);
    if (busy) box.setAttribute("aria-busy", "true");
    else box.removeAttribute("aria-busy");
  }
}
