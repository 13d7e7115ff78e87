// Counts the seconds that something takes, by ticks: while a device sleeps, or is too busy for this
// page, no ticks come and no seconds count.

const TICK = 1000; // ms

export class Watch {
  #timer = null;

  // Calls `onLate` after so many seconds, unless stopped or started again before.
  start(seconds, onLate) {
    this.stop();
    let left = seconds;
    this.#timer = setInterval(() => {
      left -= TICK / 1000;
      if (left > 0) return;
      this.stop();
      onLate();
    }, TICK);
  }

  stop() {
    clearInterval(this.#timer);
    this.#timer = null;
  }
}
