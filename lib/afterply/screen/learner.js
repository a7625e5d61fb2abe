// SPDX-License-Identifier: MIT
// Learns in a worker of the page, and measures what was learned; engine.js stands before it. What
// is learned depends on settings and seed alone, what is measured on these and the games so far.
const BREATH = 50; // milliseconds of learning between two looks for messages
const STEPS = 60; // points of the curve in the planned games, at least ...
const EVERY = 500, MORE = 1.02; // ... and one after milliseconds, if there were times as many games
const SOLVABLE = 20_000; // positions of a game that is solved
const EQUAL = 1e-9; // values that differ less

class Learner {
  static async begin({ spec, parts, floats, free, rng }) {
    const engine = await Engine.load(spec, ...parts), learner = new Learner(), solved = new Map();
    Object.assign(learner, { engine, free, plan: spec.learning, seconds: 0, busy: false });
    spec.memory.calls.train[1] = floats;
    engine.rng[0] = BigInt(rng);
    engine.coherence.fill(spec.learning.floats.tc_init);
    learner.rivals = [["random play", (state, legal) => learner.draw(legal.length)]];
    try {
      if (spec.random || spec.players === 1) throw new RangeError("nothing to solve");
      learner.solve(engine.start(0), solved);
      learner.rivals.push(["perfect play", (state) => learner.any(solved.get(state.join()).best)]);
    } catch (failure) {
      if (!(failure instanceof RangeError)) throw failure; // too many positions, or too deep
    }
    const levels = learner.rivals.map(([name, rival]) => [name, learner.play(rival, rival)]);
    postMessage({ levels });
    learner.measure();
    return learner;
  }

  get games() { return Number(this.engine.counts[0]); }

  async goOn(goal) {
    const { engine } = this;
    this.goal = goal; // 0: pause
    if (this.busy) return;
    this.busy = true;
    for (let chunk = 1; this.games < this.goal; await pause()) {
      const number = Math.min(chunk, this.goal - this.games, this.due - this.games);
      const began = performance.now();
      engine.call("train", ...this.free, number);
      const took = performance.now() - began;
      chunk = took < BREATH / 2 ? 2 * number : took > 2 * BREATH ? Math.ceil(number / 2) : number;
      this.seconds += took / 1000;
      if (!isFinite(engine.error[0])) throw new Error("the values diverged: take a lower \u03b1");
      const late = performance.now() - this.measured > EVERY && this.games > MORE * this.last;
      if (late || this.games >= this.due) this.measure();
      postMessage({ games: this.games, moves: Number(engine.counts[1]), seconds: this.seconds });
    }
    this.busy = false;
    if (this.games > this.last) this.measure();
    postMessage({ paused: this.goal });
  }

  // a point of the curve, with the weights
  measure() {
    const { engine, games } = this, { place, length } = engine.spec.weights;
    const agent = (state) => this.any(bests(engine.values(state)));
    const point = [games, ...this.rivals.map(([, rival]) => this.play(agent, rival))];
    const weights = engine.bytes(place, length).slice();
    postMessage({ point, weights }, [weights.buffer]);
    Object.assign(this, { last: games, measured: performance.now() });
    this.due = games + Math.ceil(this.plan.episodes / STEPS);
  }

  // the mean result in all seats against copies of a rival, half of it after a random move
  play(agent, rival) {
    const { engine, plan } = this, { players } = engine.spec, [low, high] = plan.range;
    let sum = 0;
    this.bits = 1; // the same dice for all
    for (let k = 0; k < plan.matches; k++) {
      const seat = k % players, moved = players > 1 && Math.floor(k / players) % 2;
      let state = engine.start(k);
      for (let ply = 0; ply < plan.longest && !engine.over(state); ply++) {
        const legal = engine.legal(state), mover = engine.player(state) === seat ? agent : rival;
        const chosen = moved && !ply ? this.draw(legal.length) : mover(state, legal);
        state = engine.chance(engine.play(state, legal[chosen]));
      }
      sum += engine.score(state)[seat];
    }
    const mean = sum / plan.matches;
    return plan.reward ? plan.reward * mean : (100 * (mean - low)) / (high - low);
  }

  // what all get if each plays best from a state on, at random among equals
  solve(state, solved) {
    const { engine } = this, key = state.join();
    if (solved.has(key)) return solved.get(key).worth;
    if (solved.size >= SOLVABLE) throw new RangeError("too many positions");
    const legal = engine.legal(state), who = engine.player(state);
    const after = legal.map((action) => this.solve(engine.play(state, action), solved));
    const best = bests(after.map((worth) => worth[who])), share = 1 / best.length;
    const worth = engine.score(state).map((score, seat) =>
      legal.length ? best.reduce((sum, k) => sum + share * after[k][seat], 0) : score);
    solved.set(key, { best, worth });
    return worth;
  }

  draw(number) { // by xorshift
    this.bits ^= this.bits << 13;
    this.bits ^= this.bits >>> 17;
    this.bits ^= this.bits << 5;
    return (this.bits >>> 0) % number;
  }

  any(numbers) { return numbers[this.draw(numbers.length)]; }
}

// the places of the greatest values
function bests(values) {
  const most = Math.max(...values) - EQUAL;
  return [...values.keys()].filter((k) => values[k] >= most);
}

let learner = null;
onmessage = ({ data }) => {
  if (data.spec) learner = Learner.begin(data);
  const told = (failure) => postMessage({ failure: failure.message });
  learner.then((one) => one.goOn(data.goal)).catch(told);
};
