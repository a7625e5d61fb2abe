// SPDX-License-Identifier: MIT
// Runs the kernels of a page, which are the library's own as WebAssembly: rules, values, search.
const PIECE = 1000; // iterations between two looks at the clock
const PAUSE = 30; // milliseconds after which the page may do something else
const DONE = 0, ANSWERED = 5; // in `progress`
const MISSING = 1, FULL = 2; // why a search stops
const WASM_PAGE = 65536;

const pause = (milliseconds = 0) => new Promise((go) => setTimeout(go, milliseconds));

// five digits to the base of 85 for each four bytes, as Python's base64.b85encode has them
const DIGITS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz" +
  "!#$%&()*+-;<=>?@^_`{|}~";

function decode(text) {
  const digits = new Uint8Array(128), found = new DataView(new ArrayBuffer(text.length));
  for (let k = 0; k < 85; k++) digits[DIGITS.charCodeAt(k)] = k;
  for (let k = 0, value = 0; k < text.length + 4; k++) { // the last digits may be missing
    value = 85 * value + (k < text.length ? digits[text.charCodeAt(k)] : 84);
    if (k % 5 === 4) found.setUint32((k - 4) / 5 * 4, value), value = 0;
  }
  return new Uint8Array(found.buffer, 0, Math.floor(text.length * 4 / 5));
}

async function unpack(text) {
  const zipped = decode(text);
  const stream = new Blob([zipped]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

// a bit for each weight that is not 0, then the first bytes of all these, the second ones ...
function unpackWeights(packed, bytes, width) {
  const number = bytes.length / width, mask = Math.ceil(number / 8);
  const there = (packed.length - mask) / width;
  for (let i = 0, k = mask; i < number; i++)
    if ((packed[i >> 3] >> (7 - (i & 7))) & 1) {
      for (let b = 0; b < width; b++) bytes[width * i + b] = packed[k + b * there];
      k++;
    }
}

async function fingerprint(bytes) {
  const found = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
  return [...found.subarray(0, 8)].map((b) => b.toString(16).padStart(2, "0")).join("");
}

class Engine {
  static async load(spec, module, image, weights) {
    const { instance } = await WebAssembly.instantiate(module);
    const engine = new Engine(spec, instance.exports);
    engine.bytes(0, image.length).set(image);
    const { place, length, width } = spec.weights;
    unpackWeights(weights, engine.bytes(place, length), width);
    return engine;
  }

  constructor(spec, exports) {
    const { memory, __heap_base: heap } = exports, { size, arrays } = spec.memory;
    this.spec = spec;
    this.exports = exports;
    this.base = Math.ceil(heap.value / 64) * 64;
    const more = this.base + size - memory.buffer.byteLength;
    if (more > 0) memory.grow(Math.ceil(more / WASM_PAGE));
    for (const [name, [kind, place, length]] of Object.entries(arrays))
      this[name] = new globalThis[kind](memory.buffer, this.base + place, length);
  }

  bytes(place, length) {
    return new Uint8Array(this.exports.memory.buffer, this.base + place, length);
  }

  call(entry, ...numbers) {
    const [places, floats] = this.spec.memory.calls[entry];
    const at = places.map((place) => this.base + place);
    return Number(this.exports[entry](...at, ...floats, ...numbers.map(BigInt)));
  }

  // ------------------------------------------------------------------------------------- rules
  // each takes a state; those that give one do not change theirs
  start(seed) { this.dice[0] = BigInt(seed); this.call("start"); return this.state.slice(); }
  startAt(seed, level) {
    this.dice[0] = BigInt(seed);
    this.call("startAt", level);
    return this.state.slice();
  }

  ask(entry, state, ...numbers) { this.state.set(state); return this.call(entry, ...numbers); }
  over(state) { return this.ask("over", state) !== 0; }
  player(state) { return this.ask("player", state); }
  board(state) { this.ask("board", state); return this.cells.slice(); }
  score(state) { this.ask("score", state); return this.reward.slice(); }
  play(state, action) { this.ask("play", state, action); return this.state.slice(); }
  chance(state) { this.ask("chance", state); return this.state.slice(); } // draws from `dice`
  legal(state) {
    return this.over(state) ? [] : [...this.moves.subarray(0, this.ask("legal", state))];
  }

  // what the drawing shows of a position
  shown(state) { this.ask("shown", state); return this.numbers.slice(); }

  // the places that are clicked for an action, ~place where an x stands before its name
  touch(shown, action) {
    if (this.spec.touched) return this.spec.touched[action];
    this.numbers.set(shown);
    return [...this.touched.subarray(0, this.call("touch", action))];
  }

  // ------------------------------------------------------------------------------------ agent
  values(state) {
    const number = this.ask("legal", state);
    this.call("look", number);
    return [...this.worth.subarray(0, number)];
  }

  // visits and values of the legal actions, or null if it is not wanted any more
  async search(state, iterations, wanted = () => true) {
    const { scale, unit, seed } = this.spec.search;
    let status = 0, looked = performance.now();
    this.luck[0] = BigInt(seed);
    this.ask("plant", state);
    this.progress[DONE] = 0n;
    while (Number(this.progress[DONE]) < iterations && status !== FULL) {
      const piece = Math.floor(Number(this.progress[DONE]) / PIECE) + 1;
      status = this.call("iterate", Math.min(iterations, piece * PIECE));
      if (status === MISSING) {
        const values = this.values(this.leaf);
        values.forEach((value, k) => { this.answer[k] = value / unit; });
        this.progress[ANSWERED] = 1n;
      }
      if (performance.now() - looked > PAUSE) {
        await pause();
        if (!wanted()) return null;
        looked = performance.now();
      }
    }
    const first = this.first[0], end = first + this.slots[0];
    const visits = [...this.visits.subarray(first, end)];
    const values = [...this.mean.subarray(first, end)].map((v, k) => (visits[k] ? v / scale : NaN));
    return { visits, values, done: Number(this.progress[DONE]), full: status === FULL };
  }
}
