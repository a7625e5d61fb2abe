// SPDX-License-Identifier: MIT
// The panel of a page that learns: settings, the curve, and the worker that learns.
const WIDTH = 440, HEIGHT = 230, LEFT = 52, TOP = 26, BOTTOM = 190, RIGHT = 436;
const thousands = (value) => Math.round(value).toLocaleString("en-US");
const short = (value) => (value < 100 ? String(Number(value.toPrecision(3))) : thousands(value));

// a round number that is not less
function above(value) {
  const unit = 10 ** Math.floor(Math.log10(value));
  return unit * [1, 1.5, 2, 3, 5, 7.5, 10].find((times) => times * unit >= value);
}

// runs: points [games, value ...], and levels [name, value] that are the same for all
function curve(runs, { reward, unit }) {
  const points = runs.flatMap((run) => run.points), levels = runs[0].levels;
  const values = [points.map((point) => point.slice(1)), levels.map(([, level]) => level)].flat(2);
  const wide = Math.max(10, ...points.map(([games]) => games));
  const high = reward ? above(Math.max(1e-6, ...values)) : 100, low = Math.min(0, ...values);
  const x = (games) => LEFT + ((RIGHT - LEFT) * games) / wide;
  const y = (value) => BOTTOM - ((BOTTOM - TOP) * (value - low)) / (high - low);
  const svg = element("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img",
    "aria-label": `learning curve:${unit} by games learned` });
  const text = (words, x, y, rest) => svg.append(element("text", { x, y, ...rest }, words));
  const across = (value, attributes) =>
    svg.append(element("line", { x1: LEFT, y1: y(value), x2: RIGHT, y2: y(value), ...attributes }));
  for (const [share, anchor] of [[0, "start"], [0.5, "middle"], [1, "end"]]) {
    const value = low + share * (high - low), games = share * wide;
    across(value, { opacity: 0.2 });
    text(short(value), LEFT - 5, y(value) + 4, { "text-anchor": "end" });
    text(thousands(games), x(games), BOTTOM + 16, { "text-anchor": anchor });
  }
  text(unit.trim(), 4, 12);
  text("games learned", (LEFT + RIGHT) / 2, BOTTOM + 34, { "text-anchor": "middle" });
  levels.forEach(([name, level], k) => {
    across(level, { class: `level s${k}` });
    text(name, RIGHT, y(level) + (k ? 14 : -4), { "text-anchor": "end", class: `s${k}` });
  });
  runs.forEach((run, which) => levels.forEach((_, k) => {
    const corners = run.points.map((point) => [x(point[0]), y(point[1 + k])].join());
    const before = which < runs.length - 1 ? " before" : "";
    svg.append(element("polyline", { points: corners.join(" "), class: `s${k}${before}` }));
  }));
  return svg;
}

function inWords({ farl, tc, alpha, lambda, seed }) {
  const having = (on) => (on ? "with" : "without");
  return `${having(farl)} Final Adaptation, ${having(tc)} temporal coherence, ` +
    `\u03b1 ${[...new Set(alpha)].join(" to ")}, \u03bb ${lambda}, seed ${seed}`;
}

function learn(game, parts) {
  const { engine, spec } = game, { learning } = spec, { place, length } = spec.weights;
  const source = URL.createObjectURL(new Blob([$("worker").textContent]));
  let runs = []; // the present one last, before it one to compare
  let worker = null, goal = 0, asked = 0; // goals in games: of this run, and that of the worker
  const run = () => runs[runs.length - 1], learned = () => run().points.at(-1)?.[0] ?? 0;

  learning.traces.forEach(([lambda]) => $("lambda").append(new Option(lambda, lambda)));
  for (const [name, value] of Object.entries(learning.usual))
    $(name)[typeof value === "boolean" ? "checked" : "value"] = value;

  function chosen() {
    const [lambda, trace_size] = learning.traces[$("lambda").selectedIndex];
    const [first, last, seed] = ["alpha", "last", "seed"].map((id) => Number($(id).value));
    const [farl, tc] = ["farl", "tc"].map((id) => $(id).checked);
    return { farl, tc, alpha: [first, last], lambda, trace_size, seed };
  }

  function begin() {
    worker?.terminate();
    const settings = chosen(), { farl, tc, alpha, lambda, trace_size, seed } = settings;
    runs = [...runs.filter((run) => run.points.length > 2).slice(-1), { settings, points: [] }];
    const [alpha_first, alpha_last] = alpha, free = { farl_on: farl, tc_none: !tc, trace_size };
    const floats = { ...learning.floats, alpha_first, alpha_last, lambda_: lambda };
    worker = new Worker(source);
    worker.onmessage = ({ data }) => heard(data);
    goal = learning.episodes;
    ask(goal, { spec, parts, rng: learning.seeds[seed], floats: Object.values(floats),
      free: learning.free.map((name) => Number(free[name])) });
  }

  // games up to which the worker is to go on, 0 to pause; and what the buttons do now
  function ask(games, more) {
    asked = games;
    worker.postMessage({ goal: games, ...more });
    label();
  }

  function label() {
    $("go").textContent = asked ? "Pause" : "Go on";
    $("again").disabled = false;
  }

  function heard({ point, weights, levels, failure, paused, games, moves, seconds }) {
    if (levels) run().levels = levels;
    if (point) {
      run().points.push(point);
      engine.bytes(place, length).set(weights);
      draw();
      if (game.valued && game.turn === YOU && !$("boards").matches(":hover")) game.goOn();
    } else if (games) {
      const done = `${thousands(games)} games learned, ${thousands(moves)} moves`;
      $("learned").textContent = `${done}, ${thousands(games / seconds)} games a second.`;
    } else if (failure || paused === asked) {
      asked = 0;
      if (failure) $("learned").textContent = `It stopped: ${failure}.`;
      label();
      inPython();
    }
  }

  function draw() {
    const { points, levels } = run(), point = points.at(-1);
    $("curve").replaceChildren(curve(runs, learning));
    const legend = levels.map(([name], k) => {
      const rival = spec.players > 1 ? `against ${name}` : "the agent";
      const mark = Object.assign(document.createElement("b"), { className: `s${k}` });
      const figure = `${short(point[1 + k])}${learning.unit}`;
      mark.textContent = `${k ? " \u00a0 " : ""}\u2501 ${rival}: ${figure}`;
      return mark;
    });
    const before = ` \u00a0 Dotted: the run before, ${inWords(runs[0].settings)}.`;
    $("legend").replaceChildren(...legend, runs.length > 1 ? before : "");
    const games = thousands(point[0]);
    $("newest").textContent = `The agent at the board has learned from ${games} games.`;
  }

  // how Python comes to the same weights
  async function inPython() {
    const { farl, tc, alpha, lambda, seed } = run().settings;
    const given = { ...learning.settings, alpha: `[${alpha.join(", ")}]`, lambda_: lambda,
      farl: farl ? '"on"' : '"off"', tc: tc ? `"${learning.tc}"` : '"none"' };
    const lines = Object.entries(given).map(([name, value]) => `    "${name}": ${value},\n`);
    const sum = globalThis.crypto?.subtle ? await fingerprint(engine.bytes(place, length)) : "";
    $("code").textContent = "from afterply import games\nfrom afterply.learners import td\n\n" +
      `session = td.Session(${learning.game}, td.DEFAULTS | {\n${lines.join("")}}, seed=${seed})\n` +
      `session.train(${learned()})\n` +
      `session.net.checksum()  # ${sum}`;
  }

  $("learn").onsubmit = (event) => {
    event.preventDefault();
    if (!runs.length) return begin();
    if (!asked && learned() >= goal) goal = learned() + learning.episodes;
    ask(asked ? 0 : goal);
  };
  $("seed").oninput = () => {
    const known = $("seed").value in learning.seeds;
    $("seed").setCustomValidity(known ? "" : "a seed is a number from 0 to 99");
  };
  $("again").onclick = $("learn").onchange = () => {
    if (runs.length && $("learn").reportValidity()) begin();
  };
}
