// @ts-check
// A timeout that counts ticks: while the device sleeps, or is too busy for this page, no ticks come
// and no time counts.

const TICK_MS = 1000;

export class Countdown {
  #timer = null;

  // Call `onTimeout` after so many seconds, unless stopped or started again before.
  start(seconds, onTimeout) {
    this.stop();
    let left = seconds;
    this.#timer = setInterval(() => {
      left -= TICK_MS / 1000;
      if (left > 0) return;
      this.stop();
      onTimeout();
    }, TICK_MS);
  }

  stop() {
    clearInterval(this.#timer);
    this.#timer = null;
  }
}
