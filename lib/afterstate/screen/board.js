// The page of a board: shows the drawing, turns clicks on cells into actions, and sends them.
function make(tag, name, text) {
  const element = document.createElement(tag);
  if (name) element.className = name;
  if (text !== undefined) element.textContent = text;
  return element;
}

function render({ model, el }) {
  const root = make("div", "afterstate");
  root.tabIndex = 0;
  const bar = make("div", "as-bar");
  const fresh = make("button", "as-new", "New game");
  const undo = make("button", "as-undo", "Undo");
  const change = make("button", "as-switch", "Switch sides");
  const values = make("button", "as-values", "Values");
  const slider = make("label", "as-strength");
  const range = make("input");
  range.type = "range";
  const told = make("span");
  slider.append(make("span", "", "Strength "), range, told);
  bar.append(fresh, undo, change, values, slider);
  const status = make("div", "as-status");
  const error = make("div", "as-error");
  const board = make("div", "as-board");
  const buttons = make("div", "as-bar as-buttons");
  const note = make("div", "as-note");
  root.append(bar, status, error, board, buttons, note);
  el.append(root);

  let picked = []; // cells that were clicked for the action that is being made
  let sent = -1; // the ply for which an action was sent
  let began = 0; // when it was

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
    began = performance.now();
    picked = [];
    model.send({ do: "move", action, ply });
  }

  function light() {
    const ahead = new Set(possible().map(([, cells]) => cells[picked.length]));
    for (const group of board.querySelectorAll("[data-cell]")) {
      const cell = Number(group.dataset.cell);
      group.classList.toggle("as-legal", ahead.has(cell));
      group.classList.toggle("as-picked", picked.includes(cell));
    }
    const open = picked.length ? possible() : [];
    const done = open.filter(([, cells]) => cells.length === picked.length);
    if (picked.length)
      note.textContent = `${open.length} move${open.length > 1 ? "s" : ""} from here; ` +
        "click the marked cell again to let go";
    else note.textContent = scene().best;
    choose(done.length ? open : []);
  }

  // buttons for moves that no cells say, or that the cells picked so far leave open
  function choose(open) {
    buttons.replaceChildren();
    const named = names();
    const offered = scene().buttons.concat(open.map(([a]) => [a, named.get(a)]));
    for (const [action, label] of offered) {
      const button = make("button", "as-action", label);
      button.dataset.action = action;
      button.onclick = () => send(action);
      buttons.append(button);
    }
  }

  board.onclick = (event) => {
    const group = event.target.closest("[data-cell]");
    if (!group || scene().turn !== "you") return;
    const cell = Number(group.dataset.cell);
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
  };

  root.onkeydown = (event) => {
    const action = scene().keys[event.key];
    if (action === undefined || !names().has(action)) return;
    event.preventDefault();
    event.stopPropagation();
    send(action);
  };

  fresh.onclick = () => model.send({ do: "new" });
  undo.onclick = () => model.send({ do: "undo" });
  change.onclick = () => model.send({ do: "switch" });
  values.onclick = () => model.send({ do: "values", on: !scene().values });
  range.oninput = () => { told.textContent = ` ${range.value} Elo above random`; };
  range.onchange = () => model.send({ do: "strength", rating: Number(range.value) });

  function draw() {
    const now = scene();
    if (!now.svg) return;
    picked = [];
    sent = -1;
    board.innerHTML = now.svg; // made by Python, with all texts escaped
    board.classList.toggle("as-thinking", now.turn === "them");
    status.textContent = now.status;
    status.classList.toggle("as-over", now.turn === "over");
    root.dataset.turn = now.turn;
    if (began && now.turn !== "them") {
      root.dataset.took = Math.round(performance.now() - began); // milliseconds
      began = 0;
    }
    root.dataset.ply = now.ply;
    root.dataset.valued = now.best ? "yes" : "no";
    error.textContent = now.error;
    undo.disabled = !now.ply;
    change.hidden = !now.switch;
    values.hidden = !now.advice;
    values.classList.toggle("as-on", now.values);
    slider.hidden = !now.strength;
    if (now.strength) {
      [range.min, range.max, range.value] = now.strength;
      told.textContent = ` ${now.strength[2]} Elo above random`;
    }
    light();
  }

  model.on("change:scene", draw);
  draw();
  return () => model.off("change:scene", draw);
}

export default { render };
