// SPDX-License-Identifier: MIT
// The page of a board that is played, and of a replay. It knows no game: whoever does (the kernel
// of a notebook, or another engine) gives a `model`, and this file draws what the model shows.
//
//   render({ model, el })          builds the page inside the element `el`; returns what ends it
//   model.get("scene")             what is to be seen now, an object with the fields below
//   model.on("change:scene", f)    calls f when there is another one; model.off(...) no longer
//   model.send(message)            what the person wants; the answer is another scene
//
// Fields of the scene of a board; those with = may be missing:
//   svg          the drawing, its texts escaped; places are elements with data-cell="number"
//   ply          number of moves made
//   turn         "you", "them" (while the others think) or "over"
//   status       whose turn it is, or how the game ended, in words
//   names        [[action, name], ...] of the legal actions; none if it is not your turn
//   clicks       [[action, [place, ...]], ...]: the places that say an action, one after the other
//   buttons      [[action, label], ...] of the actions that no places say
//   keys = {}    {key: action}, keys as KeyboardEvent.key names them
//   told = ""    the last moves of the others in words, such as "MCTS-300 plays d4"
//   line = []    the places that have won
//   error = ""   what went wrong, in words
//   switch, advice, values = false      can sides be switched, values be shown; are they shown
//   best = ""    the best moves in words, while values are shown
//   strength = null                     or [least, greatest, present] rating of the opponent
//
// Messages: { do: "move", action, ply }, ply being that of the scene that was seen;
//   { do: "new" }, { do: "undo" }, { do: "switch" }, { do: "values", on }, { do: "strength", rating }
//
// The scene of a replay has frames = [{ svg, name, said, valued, next, shares, line }, ...], and
// valued, told, error; it sends nothing.

const PAUSE = 700; // milliseconds between two moves of a replay that plays
const STEPS = { ArrowLeft: [-1, 0], ArrowUp: [0, -1], ArrowRight: [1, 0], ArrowDown: [0, 1] };

function make(tag, name, text) {
  const element = document.createElement(tag);
  if (name) element.className = name;
  if (text !== undefined) element.textContent = text;
  return element;
}

function button(bar, name, text, onclick) {
  const element = make("button", name, text);
  element.onclick = onclick;
  bar.append(element);
  return element;
}

function range(bar) {
  const slider = make("input");
  slider.type = "range";
  bar.append(slider);
  return slider;
}

// the parts of a page, by name, one below the other
function page(el, kind, names) {
  const root = make("div", `afterply ${kind}`), parts = { root };
  for (const name of names) root.append((parts[name] = make("div", `as-${name}`)));
  root.dataset.lmSuppressShortcuts = ""; // JupyterLab leaves the keys to us
  parts.status.role = parts.said.role = "status"; // read aloud when it changes
  parts.board.tabIndex = 0;
  el.append(root);
  return parts;
}

const places = (board) => [...board.querySelectorAll("[data-cell]")];
const number = (place) => Number(place.dataset.cell);

function mark(board, name, cells) {
  for (const place of places(board)) place.classList.toggle(name, cells.includes(number(place)));
}

function show(board, svg, line = []) {
  board.innerHTML = svg; // its texts are escaped
  mark(board, "as-line", line);
  for (const place of board.querySelectorAll(".as-line")) place.parentNode.append(place); // on top
}

function say(part, text = "") {
  if (part.textContent !== text) part.textContent = text; // or it would be read aloud again
}

function handled(event) {
  event.preventDefault();
  event.stopPropagation();
}

function play({ model, el }) {
  const { root, bar, said, status, error, board, buttons, note } = page(
    el, "as-play", ["bar", "said", "status", "error", "board", "buttons", "note"]);
  board.role = "application";
  board.ariaLabel = "board: arrow keys go from place to place, Enter picks, Escape lets go";
  note.role = "status";
  button(bar, "as-new", "New game", () => model.send({ do: "new" }));
  const undo = button(bar, "as-undo", "Undo", () => model.send({ do: "undo" }));
  const change = button(bar, "as-switch", "Switch sides", () => model.send({ do: "switch" }));
  const values = button(bar, "as-values", "Values",
    () => model.send({ do: "values", on: !scene().values }));
  const slider = make("label", "as-strength", "Strength ");
  const dial = range(slider), rating = make("span");
  slider.append(rating);
  bar.append(slider);
  dial.oninput = () => { rating.textContent = ` ${dial.value} Elo above random`; };
  dial.onchange = () => model.send({ do: "strength", rating: Number(dial.value) });

  let picked = []; // cells that were picked for the action that is being made
  let cursor = null; // the cell where the arrow keys have led
  let sent = -1; // the ply for which an action was sent

  const scene = () => model.get("scene");
  const names = () => new Map(scene().names);

  // the actions that begin with the cells picked so far
  function possible() {
    return scene().clicks.filter(([, cells]) => picked.every((cell, k) => cells[k] === cell));
  }

  function send(action) {
    const { ply } = scene();
    if (sent === ply) return;
    sent = ply;
    picked = [];
    model.send({ do: "move", action, ply });
  }

  function light() {
    const open = possible(), done = open.filter(([, cells]) => cells.length === picked.length);
    mark(board, "as-legal", open.map(([, cells]) => cells[picked.length]));
    mark(board, "as-picked", picked);
    mark(board, "as-cursor", [cursor]);
    if (picked.length)
      note.textContent = `${open.length} move${open.length > 1 ? "s" : ""} from here; ` +
        "pick the marked cell again to let go";
    else note.textContent = scene().best || "";
    choose(picked.length && done.length ? open : []);
  }

  // buttons for moves that no cells say, or that the cells picked so far leave open
  function choose(open) {
    const held = buttons.querySelector(":focus"), named = names();
    buttons.replaceChildren();
    for (const [action, label] of scene().buttons.concat(open.map(([a]) => [a, named.get(a)])))
      button(buttons, "as-action", label, () => send(action)).dataset.action = action;
    if (held) (buttons.querySelector(`[data-action="${held.dataset.action}"]`) || board).focus();
  }

  function pick(cell) {
    if (scene().turn !== "you") return;
    if (picked.length && picked[picked.length - 1] === cell) picked.pop();
    else {
      picked.push(cell);
      if (!possible().length) {
        picked = [cell]; // another piece
        if (!possible().length) picked = [];
      }
      const open = possible();
      if (picked.length && open.length === 1 && open[0][1].length === picked.length)
        return send(open[0][0]);
    }
    light();
  }

  // move the cursor to the nearest place in its row, or in the nearest row above or below; so every
  // place is reached, the squares of a checkers board, too. At first it goes to a place with a move.
  function step([right, down]) {
    const centre = (place) => {
      const box = place.getBoundingClientRect();
      return [box.x + box.width / 2, box.y + box.height / 2];
    };
    const from = places(board).find((place) => number(place) === cursor);
    let best = from || board.querySelector(".as-legal") || places(board)[0], least = Infinity;
    for (const place of from ? places(board) : []) {
      const [x, y] = centre(from), [a, b] = centre(place);
      const far = Math.abs(a - x) / 20 + Math.abs(b - y); // pixels: rows come first
      if ((a - x) * right + (b - y) * down > 6 && far < least) [best, least] = [place, far];
    }
    cursor = best ? number(best) : null;
    board.focus();
    light();
    const here = possible().filter(([, cells]) => cells[picked.length] === cursor);
    note.textContent = here.map(([action]) => names().get(action)).join(", ") || "no move here";
  }

  board.onclick = (event) => {
    const place = event.target.closest("[data-cell]");
    cursor = null;
    if (place) pick(number(place));
  };

  root.onkeydown = (event) => {
    const action = (scene().keys || {})[event.key];
    if (event.target === dial || event.altKey || event.ctrlKey || event.metaKey) return;
    if (action !== undefined) {
      if (names().has(action)) send(action);
    } else if (event.key in STEPS) step(STEPS[event.key]);
    else if (event.target !== board) return;
    else if (event.key === "Enter" || event.key === " ") {
      if (cursor !== null) pick(cursor);
    } else if (event.key === "Escape") {
      if (!picked.length) {
        cursor = null;
        board.blur();
      }
      picked = [];
      light();
    } else return;
    handled(event);
  };

  function draw() {
    const now = scene();
    if (!now.svg) return;
    picked = [];
    sent = -1;
    show(board, now.svg, now.line);
    board.classList.toggle("as-thinking", now.turn === "them");
    say(said, now.told);
    say(status, now.status);
    status.classList.toggle("as-over", now.turn === "over");
    root.dataset.turn = now.turn;
    root.dataset.ply = now.ply;
    root.dataset.valued = now.best ? "yes" : "no";
    error.textContent = now.error || "";
    undo.disabled = !now.ply;
    change.hidden = !now.switch;
    values.hidden = !now.advice;
    values.classList.toggle("as-on", Boolean(now.values));
    slider.hidden = !now.strength;
    if (now.strength) {
      [dial.min, dial.max, dial.value] = now.strength;
      dial.oninput();
    }
    light();
  }

  model.on("change:scene", draw);
  draw();
  return () => model.off("change:scene", draw);
}

function replay({ model, el }) {
  const { root, bar, status, said, board, note, tuples, moves } = page(
    el, "as-replay", ["bar", "status", "said", "board", "note", "tuples", "moves"]);
  const to = (where) => () => { stop(); go(where()); };
  button(bar, "as-first", "|\u25c0", to(() => 0)).ariaLabel = "first";
  button(bar, "as-back", "\u25c0", to(() => ply - 1)).ariaLabel = "back";
  button(bar, "as-next", "\u25b6", to(() => ply + 1)).ariaLabel = "next";
  const run = button(bar, "as-run", "\u25b6 Play", () => {
    if (timer) return stop();
    if (ply === frames().length - 1) go(0);
    run.textContent = "\u23f8 Pause";
    timer = setInterval(() => {
      go(ply + 1);
      if (ply === frames().length - 1) stop();
    }, PAUSE);
  });
  const slider = range(bar);
  slider.min = 0;
  slider.oninput = to(() => Number(slider.value));
  const values = button(bar, "as-values as-on", "Values", () => {
    withValues = !withValues;
    values.classList.toggle("as-on", withValues);
    go(ply);
  });
  said.classList.add("as-bad");

  let ply = 0, timer = null, withValues = true;
  const frames = () => model.get("scene").frames;

  function go(where) {
    const all = frames();
    ply = Math.max(0, Math.min(all.length - 1, where));
    const now = all[ply], valued = withValues && now.valued;
    slider.max = all.length - 1;
    slider.value = ply;
    show(board, valued ? now.valued : now.svg, now.line);
    status.textContent = ply ? `move ${ply} of ${all.length - 1}: ${now.name}` : "start";
    said.textContent = now.said ? `${now.name} ${now.said}` : model.get("scene").error || "";
    note.textContent = valued && now.next || "";
    root.dataset.ply = ply;
    root.dataset.told = model.get("scene").told ? "yes" : "no";
    tuples.replaceChildren();
    if (valued && now.shares && now.shares.length) {
      tuples.append(make("span", "", "largest weights behind the next move:"));
      for (const [cells, weight] of now.shares) {
        const text = `${weight < 0 ? "" : "+"}${weight.toPrecision(3)}`;
        const look = () => mark(board, "as-shown", cells);
        const share = button(tuples, "as-share", text, look);
        share.onmouseenter = look;
        share.onmouseleave = () => mark(board, "as-shown", []);
      }
    }
    moves.replaceChildren(...all.slice(1).map((frame, k) => {
      const move = make("span", k + 1 === ply ? "as-now" : frame.said ? "as-bad" : "", frame.name);
      move.onclick = to(() => k + 1);
      return move;
    }));
  }

  function stop() {
    clearInterval(timer);
    timer = null;
    run.textContent = "\u25b6 Play";
  }

  root.onkeydown = (event) => {
    const steps = { ArrowLeft: -1, ArrowRight: 1, Home: -1e6, End: 1e6 };
    if (event.target === slider || !(event.key in steps)) return;
    handled(event);
    to(() => ply + steps[event.key])();
  };

  function changed() {
    values.hidden = !model.get("scene").valued;
    go(ply);
  }
  model.on("change:scene", changed);
  changed();
  return () => { stop(); model.off("change:scene", changed); };
}

function render(given) {
  return (given.model.get("scene").frames ? replay : play)(given);
}

export default { render };
