// @ts-check
// A timeout that counts ticks. Time in which the device sleeps, or is too busy for this page, does
// not count, since there are no ticks then.

const TICK_MS = 1000;

export class Countdown {
  #timer = null;

  // Call `onTimeout` after this many seconds, unless stopped or restarted before.
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
