// Simulated workers on a machine of 100 GFLOP/s and 20 GB/s, with a simulated clock.
// test_browser_roof.py sets the disturbances: `tick` of the clock in ms; `jumps`, the share of time
// lost by the first worker before the measurements, and `later` after them; `slices`, the length in
// ms of time slices, every other one of which goes to another program, after `from` measurements
// and, if `only` is set, while that kernel runs; `late`, ms by which the second worker starts
// later; `fades`, the share of speed lost by the end; `cached`, the factor by which a matmul is
// faster than its roof; `pause`, ms for which both workers pause once.

let at = 1e12;
let asked = 0;
const m = {
  tick: 0.1, jumps: 0, later: 0, slices: 0, only: "", from: 0, late: 0, fades: 0, cached: 1, pause: 0,
};
Object.assign(m, given.machine);
const pool = {
  bytes: 60e6,
  now: () => at,
  async clockSteps(time) {
    at += time;
    const jumps = asked ? m.later : m.jumps;
    const steps = Array(Math.round((time * (1 - jumps)) / m.tick)).fill(m.tick);
    if (jumps) steps.push(time * jumps);
    const fine = Math.min(0.1, m.tick);
    return [steps, Array(Math.round(time / fine)).fill(fine)];
  },
  async record(task, chunk, length, samples) {
    asked += 1;
    chunks.add(chunk);
    const isSliced = asked > m.from && (!m.only || m.only === task.kernel);
    const slices = isSliced ? m.slices : 0;
    const begin = at + 5;
    const end = begin + samples * length;
    const { flops, bytes } = counted(task);
    const inCache = task.kernel === "read" && task.bytes < 20e6;
    const whole = 1e3 * Math.max(flops / 100e9, inCache ? 0 : bytes / 20e9);
    const faster = task.kernel === "multiply" ? m.cached : 1;
    const records = [0, 1].map((worker) => {
      const points = [[begin - 1 + worker * m.late, 0]];
      let [clock, done] = points[0];
      let busy = 0;
      while (clock < end + 1) {
        const faded = asked > 16 ? 1 - m.fades : 1;
        const round = (2 * whole) / faster / faded;
        const rounds = Math.max(1, Math.round(chunk / round));
        const before = slices ? Math.floor(busy / slices) : 0;
        busy += rounds * round;
        const stolen = slices ? (Math.floor(busy / slices) - before) * slices : 0;
        const isPaused = asked === 2 && clock < begin + length && clock + round * rounds >= begin + length;
        clock += rounds * round + stolen + (isPaused ? m.pause : 0);
        done += rounds;
        points.push([clock, done]);
      }
      return points;
    });
    at = end + 1;
    return { records, begin, end, length };
  },
};
const stages = [];
const chunks = new Set();
