// The page of a replay: slider, keys, a button that plays, values, judgement, n-tuples.
const PAUSE = 700; // milliseconds between two moves

function make(tag, name, text) {
  const element = document.createElement(tag);
  if (name) element.className = name;
  if (text !== undefined) element.textContent = text;
  return element;
}

function render({ model, el }) {
  const root = make("div", "afterstate as-replay");
  root.tabIndex = 0;
  const bar = make("div", "as-bar");
  const first = make("button", "as-first", "\u23ee");
  const back = make("button", "as-back", "\u25c0");
  const run = make("button", "as-run", "\u25b6 Play");
  const next = make("button", "as-next", "\u25b6");
  const values = make("button", "as-values as-on", "Values");
  const slider = make("input");
  slider.type = "range";
  slider.min = 0;
  bar.append(first, back, next, run, slider, values);
  const status = make("div", "as-status");
  const said = make("div", "as-said as-bad");
  const board = make("div", "as-board");
  const note = make("div", "as-note");
  const tuples = make("div", "as-bar as-tuples");
  const moves = make("div", "as-moves");
  root.append(bar, status, said, board, note, tuples, moves);
  el.append(root);

  let ply = 0, timer = null, withValues = true;
  const frames = () => model.get("scene").frames || [];

  function show(to) {
    const all = frames();
    if (!all.length) return;
    ply = Math.max(0, Math.min(all.length - 1, to));
    const now = all[ply], valued = withValues && now.valued;
    slider.max = all.length - 1;
    slider.value = ply;
    board.innerHTML = valued ? now.valued : now.svg; // made by Python, with all texts escaped
    status.textContent = ply ? `move ${ply} of ${all.length - 1}: ${now.name}` : "start";
    said.textContent = now.said ? `${now.name} ${now.said}` : model.get("scene").error || "";
    note.textContent = valued ? now.next : "";
    root.dataset.ply = ply;
    root.dataset.told = model.get("scene").told ? "yes" : "no";
    tuples.replaceChildren();
    if (valued && now.shares && now.shares.length) {
      tuples.append(make("span", "", "largest weights behind the next move:"));
      for (const [cells, weight] of now.shares) {
        const sign = weight < 0 ? "" : "+";
        const button = make("button", "as-share", `${sign}${weight.toPrecision(3)}`);
        button.onmouseenter = () => light(cells);
        button.onclick = () => light(cells);
        button.onmouseleave = () => light([]);
        tuples.append(button);
      }
    }
    moves.replaceChildren(...all.slice(1).map((frame, k) => {
      const move = make("span", k + 1 === ply ? "as-now" : frame.said ? "as-bad" : "", frame.name);
      move.onclick = () => { stop(); show(k + 1); };
      return move;
    }));
  }

  function light(cells) {
    for (const group of board.querySelectorAll("[data-cell]"))
      group.classList.toggle("as-shown", cells.includes(Number(group.dataset.cell)));
  }

  function stop() {
    clearInterval(timer);
    timer = null;
    run.textContent = "\u25b6 Play";
  }

  run.onclick = () => {
    if (timer) return stop();
    if (ply === frames().length - 1) show(0);
    run.textContent = "\u23f8 Pause";
    timer = setInterval(() => {
      show(ply + 1);
      if (ply === frames().length - 1) stop();
    }, PAUSE);
  };
  first.onclick = () => { stop(); show(0); };
  back.onclick = () => { stop(); show(ply - 1); };
  next.onclick = () => { stop(); show(ply + 1); };
  slider.oninput = () => { stop(); show(Number(slider.value)); };
  values.onclick = () => {
    withValues = !withValues;
    values.classList.toggle("as-on", withValues);
    show(ply);
  };
  root.onkeydown = (event) => {
    const steps = { ArrowLeft: -1, ArrowRight: 1, Home: -1e6, End: 1e6 };
    if (event.target === slider || !(event.key in steps)) return;
    event.preventDefault();
    event.stopPropagation();
    stop();
    show(ply + steps[event.key]);
  };

  function changed() {
    values.hidden = !model.get("scene").valued;
    show(ply);
  }
  model.on("change:scene", changed);
  changed();
  return () => { stop(); model.off("change:scene", changed); };
}

export default { render };
