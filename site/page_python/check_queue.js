// What a reader has asked of the page's Python, one after the other: nothing that was pressed is
// dropped, whether Python is still being fetched or checks something else.

export class CheckQueue {
  #jobs = []; // the first of them runs
  #going = false;

  get waiting() {
    return Math.max(0, this.#jobs.length - 1);
  }

  // `work` is called when its turn comes, and must not reject; `box` is marked until it has ended.
  // What waits already under this key is not added twice: it takes the code as it is then.
  add(key, box, work) {
    if (this.#jobs.slice(this.#going ? 1 : 0).some((job) => job.key === key)) return;
    this.#jobs.push({ key, box, work });
    this.#mark(box);
    if (!this.#going) this.#go();
  }

  // Drops what waits; returns how much that was.
  clear() {
    const dropped = this.#jobs.splice(1);
    for (const { box } of dropped) this.#mark(box);
    return dropped.length;
  }

  async #go() {
    this.#going = true;
    while (this.#jobs.length) {
      const [{ box, work }] = this.#jobs;
      await work();
      this.#jobs.shift();
      this.#mark(box);
    }
    this.#going = false;
  }

  #mark(box) {
    const busy = this.#jobs.some((job) => job.box === box);
    box.classList.toggle("running", busy);
    if (busy) box.setAttribute("aria-busy", "true");
    else box.removeAttribute("aria-busy");
  }
}
