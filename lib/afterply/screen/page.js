// SPDX-License-Identifier: MIT
// A game against the agent of the page. It offers what the widget of a notebook offers, a model
// with a scene, so that the same front end shows it. On a page of two agents each has such a game
// as the other's partner: both show the same position, a person moves for either side.
const YOU = "you", THEM = "them", OVER = "over";
const ORANGE = [179, 88, 6], WHITE = [247, 247, 247], PURPLE = [84, 39, 136];
const STEP = 400; // milliseconds between moves of an agent that plays on

// the place of the greatest number, the first of equals; what was never visited is no number
function best(numbers) {
  return numbers.reduce((b, v, k) => (v > numbers[b] || isNaN(numbers[b]) ? k : b), 0);
}

function number(value) { // as in a notebook: two decimals, from 10 on three digits
  const size = Math.abs(value), sign = value < 0 ? "-" : "+";
  if (size < 10) return size < 0.005 ? "0.00" : sign + size.toFixed(2);
  const [unit, letter] = size < 999.5 ? [1, ""] : size < 999500 ? [1e3, "k"] : [1e6, "M"];
  return `${sign}${Number((size / unit).toPrecision(3))}${letter}`;
}

const precise = (value) => (value < 0 ? "" : "+") + Number(value.toPrecision(3));

// ----------------------------------------------------------------------------------------- drawing
// The same pictures as drawing.py makes of the same table.
const FONT = "'DejaVu Sans Mono', Consolas, monospace", INK = "#1a1a1a", PAPER = "#ffffff";

function element(kind, attributes, text) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", kind);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  if (text !== undefined) made.textContent = text;
  return made;
}

function colour(value) {
  const share = Math.min(1, Math.abs(value)), end = value < 0 ? ORANGE : PURPLE;
  const channels = WHITE.map((c, k) => Math.round(c + (end[k] - c) * share));
  return "#" + channels.map((c) => c.toString(16).padStart(2, "0")).join("");
}

function inkOn(fill) {
  const [red, green, blue] = [1, 3, 5].map((k) => parseInt(fill.slice(k, k + 2), 16));
  return 0.299 * red + 0.587 * green + 0.114 * blue > 140 ? INK : PAPER;
}

// what a table holds for a shown number; "" stands for all that it does not name
const entry = (table, shown) => table[shown] ?? table[""];

function label(value, [x, y, size]) {
  const ink = x === 0 ? "currentColor" : INK; // beside the shape it stands on paper
  return `<text x="${x}" y="${y}" font-family="${FONT}" font-size="${size}" ` +
    `text-anchor="middle" fill="${ink}">${number(value)}</text>`;
}

function placed(place, { looks }, numbers, attributes = "", value = undefined, last = false) {
  const { at, shape, ring, shows, look, valueAt } = place;
  const shown = shows === null ? "" : numbers[shows];
  const middle = Array.isArray(at) ? at : at[shown];
  if (!middle) return "";
  let [parts, fill] = entry(looks[look], shown) ?? ["", ""];
  parts = parts.replaceAll("{}", shown.toLocaleString("en-US"));
  if (value !== undefined) {
    fill = colour(value);
    // what never changes, such as an arrow, makes room
    parts = (shows === null ? "" : parts) + label(value, valueAt);
    attributes += ` color="${inkOn(fill)}"`;
  }
  const base = fill ? shape.replace(/ fill="[^"]*"/, ` fill="${fill}"`) : shape;
  return `<g${attributes} transform="translate(${middle.join(" ")})">` +
    `${base}${parts}${last ? ring : ""}</g>`;
}

function compose(drawing, title, numbers, values, last) {
  const { places, others, behind, above } = drawing, [width, height] = drawing.size;
  const drawn = places.map((place, k) =>
    placed(place, drawing, numbers, ` data-cell="${k}"`, values.get(k), k === last));
  if (last !== undefined) drawn.push(...drawn.splice(last, 1)); // a ring lies above the neighbours
  const around = others.map((place) => placed(place, drawing, numbers));
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" ` +
    `viewBox="0 0 ${width} ${height}" role="img" color="${INK}" style="max-width:100%;height:auto">` +
    `<title>${title}</title><rect width="${width}" height="${height}" fill="${PAPER}"/>` +
    `${behind}${around.join("")}${drawn.join("")}${above}</svg>`;
}

// -------------------------------------------------------------------------------------------- game
class Game {
  constructor(engine, seat, changed) {
    Object.assign(this, { engine, spec: engine.spec, changed, hearers: new Set(), partner: null });
    Object.assign(this, { seat, valued: false, error: "", told: "", note: "", request: 0 });
    Object.assign(this, { strength: this.spec.strength, playsOn: false, twists: 0 });
    this.name = this.spec.names[seat];
    this.begin(this.anySeed());
  }

  // the model of the front end
  get(name) { return this[name]; }
  on(_, hear) { this.hearers.add(hear); }
  off(_, hear) { this.hearers.delete(hear); }
  send(message) {
    this.error = "";
    const wish = message.do, players = this.spec.players;
    if (wish === "move") {
      if (this.turn === YOU && message.ply === this.moves.length) this.make(message.action);
    } else if (wish === "undo") this.undo();
    else if (wish === "new") this.fresh(this.seat);
    else if (wish === "switch") this.fresh((this.seat + 1) % players);
    else if (wish === "values") this.valued = message.on;
    else if (wish === "strength") this.strength = Number(message.rating);
    this.goOn();
  }

  // the same seed and moves are the same game, dice included
  begin(seed, moves = []) {
    Object.assign(this, { seed, moves: [], names: [], told: "" });
    const { engine, twists } = this;
    this.states = [twists ? engine.startAt(seed, twists) : engine.start(seed)];
    moves.forEach((action) => this.make(action));
  }

  anySeed() { return this.spec.random ? Math.floor(Math.random() * 2 ** 32) : 0; }

  fresh(seat) {
    Object.assign(this, { seat, note: "", playsOn: false });
    this.begin(this.anySeed());
  }

  get state() { return this.states[this.states.length - 1]; }
  get turn() {
    if (this.engine.over(this.state)) return OVER;
    return this.partner || this.due(this.state) ? YOU : THEM;
  }

  due(state) { return this.engine.player(state) === this.seat; }

  follow(partner) { // partners have this in common
    const [own, wanted] = [this, partner].map(({ seed, moves, valued, playsOn, strength }) =>
      ({ seed, moves, valued, playsOn, strength }));
    if (JSON.stringify(own) === JSON.stringify(wanted) && this.seat !== partner.seat) return;
    Object.assign(this, wanted, { seat: 1 - partner.seat });
    if (!wanted.moves.length) this.note = "";
    this.begin(wanted.seed, wanted.moves);
    this.goOn();
  }

  make(action) {
    const { state, engine } = this;
    if (!engine.legal(state).includes(action)) throw new Error(`no move is ${action} here`);
    const [name] = this.tell(state, action), mover = engine.player(state);
    const own = mover === this.seat && !this.playsOn && !this.partner;
    const before = this.told && !this.playsOn && !this.partner ? `${this.told}; ` : "";
    this.told = own ? "" : `${before}${this.spec.sides[mover]} plays ${name}`;
    this.states.push(engine.chance(engine.play(state, action)));
    this.moves.push(action);
    this.names.push(name);
  }

  undo() {
    const mine = (_, ply) => this.partner || this.due(this.states[ply]);
    const left = this.moves.findLastIndex(mine);
    if (left < 0) return;
    this.playsOn = false;
    this.begin(this.seed, this.moves.slice(0, left));
  }

  // name and places of an action
  tell(state, action) {
    const { actionNames, drawing } = this.spec, numbers = this.engine.shown(state);
    const signed = this.engine.touch(numbers, action);
    const places = signed.map((place) => (place < 0 ? ~place : place));
    if (action in actionNames) return [actionNames[action], places];
    let words = "";
    places.forEach((place, k) => {
      const { name, shows } = drawing.places[place];
      const own = typeof name === "string" ? name : entry(name, numbers[shows]) ?? "";
      words += (words && (signed[k] < 0 ? "x" : "-")) + own;
    });
    return [words || String(action), places];
  }

  // where the value of an action stands: of several places, such as from and to, where it goes
  goal(state, action) {
    const places = this.tell(state, action)[1];
    if (places.length < 2) return places[0];
    const after = this.engine.shown(this.engine.play(state, action));
    const { places: drawn } = this.spec.drawing;
    return places.find((place) => drawn[place].shows === null || after[drawn[place].shows] !== 0);
  }

  // the places that have won: a least set of the winner's stones that wins, were all others the
  // loser's; where they stand alone, as for Python's `winning_places`, is the same
  line() {
    const { engine, states, moves } = this, { turn, order } = this.spec.line;
    const reward = [...engine.score(this.state)], winner = best(reward);
    if (turn === null || this.turn !== OVER || reward[0] === reward[1]) return [];
    const stones = moves.map((action, ply) => [this.goal(states[ply], action), action]);
    const wins = (line) => {
      let state = states[0].slice();
      return stones.some(([place, action]) => {
        if ((engine.player(state) === winner) !== line.includes(place)) state[turn] ^= 1;
        state = engine.play(state, action);
        const [first, second] = engine.score(state);
        return engine.over(state) && (winner ? second > first : first > second);
      });
    };
    const won = (place) => stones.some(([on], ply) =>
      on === place && engine.player(states[ply]) === winner);
    let line = order.filter(won);
    for (const place of line) {
      const rest = line.filter((other) => other !== place);
      if (wins(rest)) line = rest;
    }
    return line.length > 1 ? line : [];
  }

  // ------------------------------------------------------------------------------------- agent
  async opinion(wanted) {
    const state = this.state, began = performance.now();
    if (!this.strength) {
      const values = this.engine.values(state);
      return { values, visits: values, words: `the ${this.spec.strengths[0][1]}` };
    }
    const found = await this.engine.search(state, this.strength, wanted);
    if (!found) return null;
    const took = (performance.now() - began).toFixed(0);
    const words = `${found.done.toLocaleString("en-US")} iterations in ${took} ms`;
    return { ...found, words: words + (found.full ? "; then the tree was full" : "") };
  }

  async agentMoves(wanted) {
    const found = await this.opinion(wanted);
    if (!found || !wanted()) return false;
    const choice = best(found.visits);
    const value = precise(found.values[choice]), who = this.partner ? this.name : "the agent";
    this.note = `${who} expects ${value} for itself (${found.words})`;
    this.make(this.engine.legal(this.state)[choice]);
    return true;
  }

  async goOn() {
    const request = ++this.request, wanted = () => request === this.request;
    const automatic = () => this.turn === THEM ||
      (this.playsOn && this.turn === YOU && this.due(this.state));
    const look = async () => { // the values of the position that is shown
      await pause();
      const found = wanted() && (await this.opinion(wanted));
      if (found && wanted()) this.show(found.values);
    };
    this.show(null);
    try {
      while (automatic()) {
        if (this.partner && this.valued) await look();
        await pause(this.playsOn ? STEP : 20); // the page shows the move before
        if (!wanted() || !(await this.agentMoves(wanted))) return;
        this.show(null);
      }
      if (this.valued && this.turn === YOU) await look();
    } catch (failure) {
      this.error = String(failure);
      this.show(null);
    }
  }

  // ----------------------------------------------------------------------------------- the scene
  status() {
    const { players, sides } = this.spec, alone = players === 1, you = sides[this.seat];
    const mover = sides[this.engine.player(this.state)];
    if (this.turn === YOU && this.partner) return `${mover} is to move; this agent is ${you}.`;
    if (this.turn === YOU) return alone ? "Your move." : `Your move: you are ${you}.`;
    if (this.turn === THEM) return `${mover} is thinking ...`;
    const scores = [...this.engine.score(this.state)], most = Math.max(...scores);
    if (alone) {
      const [, each, unit] = this.spec.progress, shown = { maximumFractionDigits: 1 };
      return `The game is over: ${(each * scores[0]).toLocaleString("en-US", shown)}${unit}.`;
    }
    if (scores.every((score) => score === most)) return "A draw.";
    const best = sides.filter((_, seat) => scores[seat] === most);
    const winners = best.map((side) => side.split(" (")[0]).join(" and ");
    const won = scores[this.seat] === most;
    const yours = this.partner ? `This agent ${won ? "has won" : "has lost"}`
      : `You ${won ? "win" : "lose"}`;
    const verb = best.length === 1 ? "wins" : "win";
    return `${winners[0].toUpperCase()}${winners.slice(1)} ${verb}. ${yours}.`;
  }

  drawn(state, values = new Map(), last = undefined) {
    return compose(this.spec.drawing, this.spec.game, this.engine.shown(state), values, last);
  }

  show(values) {
    const { state, turn, engine, spec } = this, legal = turn === YOU ? engine.legal(state) : [];
    const said = legal.map((action) => this.tell(state, action));
    const names = said.map(([name]) => name);
    const valued = legal.map((_, k) => k).filter((k) => values && !isNaN(values[k]));
    const at = new Map();
    for (const k of valued) {
      const place = this.goal(state, legal[k]);
      if (place !== undefined && !(at.get(place) >= values[k])) at.set(place, values[k]);
    }
    const last = this.moves.length - 1;
    const mark = last < 0 ? undefined : this.goal(this.states[last], this.moves[last]);
    const ranked = [...valued].sort((a, b) => values[b] - values[a]).slice(0, 5);
    const best = ranked.map((k) => `${names[k]} ${precise(values[k])}`).join(", ");
    const label = (k) => names[k] + (valued.includes(k) ? ` ${number(values[k])}` : "");
    const each = (give) => legal.map((action, k) => [action, give(k)]);
    this.scene = {
      svg: this.drawn(state, at, mark),
      ply: this.moves.length,
      clicks: each((k) => said[k][1]).filter(([, places]) => places.length),
      names: each((k) => names[k]),
      buttons: each(label).filter((_, k) => !said[k][1].length),
      keys: legal.length ? spec.keys : {},
      status: this.status(),
      turn,
      error: this.error,
      switch: spec.players > 1,
      advice: true,
      values: this.valued,
      best: best && `best moves: ${best}`,
      told: this.told,
      line: this.line(),
    };
    this.hearers.forEach((hear) => hear());
    this.partner?.follow(this);
    this.changed();
  }
}

// ----------------------------------------------------------------------- what is round the board
const $ = (id) => document.getElementById(id);

function fromAddress(game) {
  const asked = new URLSearchParams(location.hash.slice(1));
  const moves = (asked.get("moves") ?? "").split(".").filter(Boolean).map(Number);
  game.seat = (Number(asked.get("seat")) || 0) % game.spec.players;
  game.twists = (Number(asked.get("twists")) || 0) % (game.spec.twists + 1);
  try {
    game.begin(asked.has("seed") ? Number(asked.get("seed")) >>> 0 : game.seed, moves);
  } catch (failure) {
    game.error = `The address of this page is wrong: ${failure.message}`;
  }
}

// the cube in space: each side is a part of the net, of which row and column are given
const SIDES = { "0 1": "X(90deg)", "1 0": "Y(-90deg)", "1 1": "Y(0deg)", "1 2": "Y(90deg)",
  "1 3": "Y(180deg)", "2 1": "X(-90deg)" };

function fold({ places, looks }, numbers, box) {
  const lines = [0, 1].map((k) => [...new Set(places.map(({ at }) => at[k]))].sort((a, b) => a - b));
  const size = lines[1].length / 3; // of a side, in squares; the net has three rows of sides
  const side = ({ at }) => [1, 0].map((k) => Math.floor(lines[k].indexOf(at[k]) / size)).join(" ");
  box.replaceChildren(...Object.entries(SIDES).map(([where, turn]) => {
    const face = document.createElement("div");
    face.style.cssText =
      `grid: auto / repeat(${size}, 1fr); transform: rotate${turn} translateZ(4.5rem)`;
    for (const place of places.filter((one) => side(one) === where)) {
      const [, fill] = looks[place.look][numbers[place.shows]];
      face.append(Object.assign(document.createElement("span"), { style: `background: ${fill}` }));
    }
    return face;
  }));
}

function turn(box, [right, down] = [-35, -25]) {
  box.hidden = false;
  box.style.transform = `perspective(40rem) rotateX(${down}deg) rotateY(${right}deg)`;
  box.onpointermove = (event) => event.buttons &&
    turn(box, [right + event.movementX / 2, down - event.movementY / 2]);
}

function changed(game) {
  const { moves, names, seat, seed, spec, partner, twists } = game;
  const dice = (spec.random ? `&seed=${seed}` : "") + (twists ? `&twists=${twists}` : "");
  history.replaceState(null, "", `#moves=${moves.join(".")}&seat=${seat}${dice}`);
  $("moves").textContent = names.map((name, k) => `${k + 1}.\u00a0${name}`).join("  ");
  if (spec.twists) fold(spec.drawing, game.engine.shown(game.state), $("cube"));
  const notes = [game, partner].filter((one) => one?.note);
  $("note").textContent = notes.map((one) => one.note).join("; ");
  $("on").setAttribute("aria-pressed", game.playsOn);
}

async function copy(text, button) {
  try { await navigator.clipboard.writeText(text); } catch { prompt("Copy this:", text); }
  const before = button.textContent;
  button.textContent = "Copied";
  setTimeout(() => { button.textContent = before; }, 1000);
}

async function main() {
  const began = performance.now(), parts = ["spec", "module", "image", "weights", "others"];
  if (!globalThis.WebAssembly || !globalThis.DecompressionStream)
    throw new Error("the browser lacks WebAssembly or DecompressionStream, new in 2023");
  const packed = parts.map((id) => unpack($(id).textContent));
  const [text, module, image, weights, others] = await Promise.all(packed).catch(() => {
    throw new Error("the file is damaged: load it again");
  });
  const spec = JSON.parse(new TextDecoder().decode(text));
  const games = [];
  const second = [others.subarray(0, image.length), others.subarray(image.length)];
  for (const [seat, arrays] of [[image, weights], second].slice(0, spec.names.length).entries()) {
    const engine = await Engine.load(spec, module, ...arrays);
    games.push(new Game(engine, seat, () => games[0].scene && changed(games[0])));
  }
  const [game, other] = games;
  if (other) {
    Object.assign(game, { partner: other, valued: true });
    other.partner = game;
    $("move").textContent = "Next move";
    $("on").textContent = "They play on";
  }
  fromAddress(game);
  for (const [iterations, words] of spec.strengths)
    $("strength").append(new Option(words, iterations));
  $("strength").value = game.strength;
  for (let k = 1; k <= spec.twists; k++) $("twists").append(new Option(`of ${k} twists`, k));
  $("twists").parentNode.hidden = !spec.twists;
  if (spec.twists) $("on").textContent = "Solve it";
  if (spec.twists) turn($("cube"));
  $("twists").value = game.twists;
  $("twists").onchange = () => {
    game.twists = Number($("twists").value);
    game.send({ do: "new" });
  };
  $("strength").onchange = () => game.send({ do: "strength", rating: $("strength").value });
  $("move").onclick = () => agentsMove(games.find((one) => one.due(one.state)) ?? game);
  $("on").hidden = spec.players > 1 && !other;
  $("on").onclick = () => { game.playsOn = !game.playsOn; game.goOn(); };
  $("names").onclick = () => copy(game.names.join(" "), $("names"));
  $("link").onclick = () => copy(location.href, $("link"));
  game.show(null);
  for (const one of games) {
    const section = document.createElement("section"), name = document.createElement("h2");
    name.textContent = one.name;
    section.append(...(other ? [name] : []));
    $("boards").append(section);
    front.render({ model: one, el: section });
  }
  addEventListener("hashchange", () => { fromAddress(game); game.goOn(); });
  $("load").textContent = "";
  $("ready").textContent = `Ready after ${Math.round(performance.now() - began)} ms.`;
  globalThis.afterply = game;
  if (spec.learning) learn(game, [module, image, weights]);
  game.goOn();
  const { place, length, checksums } = spec.weights;
  for (const [k, checksum] of checksums.entries()) {
    const found = globalThis.crypto?.subtle && fingerprint(games[k].engine.bytes(place, length));
    if (found && (await found) !== checksum) throw new Error("its weights are damaged");
  }
}

// the agent moves for the person
async function agentsMove(game) {
  const request = ++game.request, wanted = () => request === game.request;
  if (game.turn !== YOU || (await game.agentMoves(wanted))) game.goOn();
}

main().catch((failure) => {
  $("load").textContent = `This page cannot be played: ${failure.message}.`;
  $("load").className = "wrong";
});
