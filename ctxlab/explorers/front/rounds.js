// The player of truncation rounds: it plays one record (ctxlab/figures/animation.py) entirely in the browser.
//
// What is shown is a function of the record and of a position among its edits. While playing, the position is read
// off the clock at each animation frame, so a slow browser drops frames and nothing is ever queued. No rule lives
// here: the record says what each edit made of each tile. Session text only ever becomes textContent.
//
// renderRounds({record, el, on}) needs no kernel and returns {seek, focusMessage, setRecord, destroy}. The file parts.js
// stands before this one.

const VERSION = 1;
const [CUT, REPLACED, COLLAPSED, PINNED, DROPPED, SUMMARIZED, REMOVED, BORN] = [0, 1, 2, 3, 4, 5, 6, 7];
const FATES = {
  [CUT]: "cut", [REPLACED]: "replaced", [COLLAPSED]: "collapsed into a preview", [PINNED]: "pinned",
  [DROPPED]: "dropped with its message", [SUMMARIZED]: "taken into the summary", [REMOVED]: "removed",
  [BORN]: "the summary",
};
const ROUND_SECONDS = 1.6; // a round takes this long, however many edits it has
const LONGEST_SHOW = 60; // seconds for a whole trace at normal speed
const HOLD = 0.25; // the part of a round in which its result stands still
const SPEEDS = [0.25, 0.5, 1, 2, 4, 8];
// ---------------------------------------------------------------------------------------------- the record, indexed

// Looks up what a tile is at a position; moving the position costs as much as there are changes between.
class Reel {
  constructor(record) {
    this.record = record;
    this.tiles = record.tiles;
    this.count = record.tiles.length.length;
    this.last = record.rounds.end[record.rounds.end.length - 1];
    this.changes = record.changes;
    this.current = new Int32Array(this.count).fill(-1); // the change that a tile is at, -1 for the start
    this.previous = new Int32Array(this.changes.length);
    const latest = new Int32Array(this.count).fill(-1);
    this.changes.forEach((change, at) => {
      this.previous[at] = latest[change[1]];
      latest[change[1]] = at;
    });
    this.pointer = 0; // changes before it are made
    this.step = 0;
  }

  move(step) {
    while (this.pointer < this.changes.length && this.changes[this.pointer][0] <= step) {
      this.current[this.changes[this.pointer][1]] = this.pointer;
      this.pointer += 1;
    }
    while (this.pointer > 0 && this.changes[this.pointer - 1][0] > step) {
      this.pointer -= 1;
      this.current[this.changes[this.pointer][1]] = this.previous[this.pointer];
    }
    this.step = step;
  }

  // The state of a tile as a change makes it (-1: as at the start).
  state(tile, at = this.current[tile]) {
    const length = this.tiles.length[tile];
    if (at < 0) {
      const there = !this.tiles.born[tile];
      return {
        fate: -1, head: length, tail: length, whole: there, there, length: there ? length : 0, lost: 0, middle: "",
        tokens: there ? this.tiles.tokens[tile] : 0, why: this.tiles.why[tile], step: 0, rank: 0,
      };
    }
    const [step, , fate, head, tail, middle, now, lost, tokens, why, rank] = this.changes[at];
    const whole = fate === BORN || (fate === PINNED && head + tail >= length);
    return {
      fate, head, tail, whole, there: fate < DROPPED || fate === BORN, length: now, lost, tokens, why, step, rank,
      middle: this.record.middles[middle],
    };
  }

  // The changes that the edit number `step` makes.
  of(step) {
    const found = [];
    for (let at = this.pointer; at < this.changes.length && this.changes[at][0] <= step; at += 1) {
      if (this.changes[at][0] === step) found.push(at);
    }
    return found;
  }

  roundOf(step) {
    return step === 0 ? 0 : this.record.steps.round[step - 1];
  }
}

// ------------------------------------------------------------------------------------------------------- the layout

// Places weights in reading order in strips that fill a rectangle; areas are proportional to the weights.
function strips(weights, x, y, width, height) {
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  const places = new Array(weights.length);
  if (!total || width <= 0 || height <= 0) return places.fill([x, y, 0, 0]);
  const scale = (width * height) / total;
  // How far from square the tiles of a strip are that holds `count` of them, `sum` in all.
  const shape = (sum, count) => {
    const strip = (sum * scale) / width;
    const each = (sum * scale) / count / strip;
    return Math.max(strip / each, each / strip);
  };
  const filled = []; // [sum, count] a strip
  for (let first = 0; first < weights.length; ) {
    let [sum, count] = [weights[first], 1];
    while (first + count < weights.length && shape(sum + weights[first + count], count + 1) <= shape(sum, count)) {
      sum += weights[first + count];
      count += 1;
    }
    filled.push([sum, count]);
    first += count;
  }
  // What is left over for the last strip may be a sliver: then the one before takes it in.
  if (filled.length > 1) {
    const [[sum, count], [rest, few]] = filled.slice(-2);
    if (shape(sum + rest, count + few) < shape(rest, few)) filled.splice(-2, 2, [sum + rest, count + few]);
  }
  let [top, at] = [y, 0];
  for (const [sum, count] of filled) {
    const strip = (sum * scale) / width;
    let left = x;
    for (const end = at + count; at < end; at += 1) {
      const wide = (weights[at] * scale) / strip;
      places[at] = [left, top, wide, strip];
      left += wide;
    }
    top += strip;
  }
  return places;
}

function layOut(reel, width, height) {
  const { tiles, count, record } = reel;
  const total = tiles.length.reduce((sum, length) => sum + length, 0) || 1;
  // A tile that nobody can see or hit is drawn larger than it is; the legend says so.
  const least = (Math.min(20, (0.3 * width * height) / Math.max(1, count)) * total) / (width * height);
  const members = record.groups.message.map(() => []);
  for (let tile = 0; tile < count; tile += 1) members[tiles.group[tile]].push(tile);
  const shown = members.map((_, at) => at).filter((at) => members[at].length);
  const weight = (tile) => Math.max(tiles.length[tile], least);
  const sums = shown.map((group) => members[group].reduce((sum, tile) => sum + weight(tile), 0));
  const boxes = new Array(count);
  const groups = [];
  strips(sums, 0, 0, width, height).forEach(([x, y, w, h], at) => {
    const group = shown[at];
    const gap = Math.min(3, w / 8, h / 8);
    const label = shown.length > 1 && w >= 46 && h >= 40 ? 14 : 0;
    const inner = [x + gap, y + gap + label, w - 2 * gap, h - 2 * gap - label];
    groups.push({ group, box: [x + gap, y + gap, w - 2 * gap, h - 2 * gap], label });
    strips(members[group].map(weight), ...inner).forEach((box, place) => {
      const inset = Math.min(1.5, box[2] / 6, box[3] / 6);
      boxes[members[group][place]] = [box[0] + inset, box[1] + inset, box[2] - 2 * inset, box[3] - 2 * inset];
    });
  });
  const raised = tiles.length.filter((length) => length < least).length;
  return { boxes, groups, raised };
}

// ------------------------------------------------------------------------------------------------- the picture of tiles

class Board {
  constructor(canvas) {
    this.canvas = canvas;
    this.context = canvas.getContext("2d");
  }

  resize(reel, width, height) {
    const ratio = window.devicePixelRatio || 1;
    this.canvas.width = Math.round(width * ratio);
    this.canvas.height = Math.round(height * ratio);
    this.canvas.style.height = `${height}px`;
    this.ratio = ratio;
    this.size = [width, height];
    this.layout = layOut(reel, width, height);
    this.readColours();
  }

  readColours() {
    const style = getComputedStyle(this.canvas);
    const colour = (name) => style.getPropertyValue(`--ctx-${name}`).trim();
    this.colours = {
      kinds: ["user", "assistant", "use", "result", "media", "reasoning", "other"].map(colour),
      back: colour("back"), text: colour("text"), soft: colour("soft"), line: colour("line"), round: colour("round"),
      font: style.fontFamily,
    };
    this.hatches = this.colours.kinds.map((kind) => this.pattern(kind, (pen) => {
      pen.moveTo(-1, 7);
      pen.lineTo(7, -1);
      pen.moveTo(2, 10);
      pen.lineTo(10, 2);
      pen.moveTo(-4, 4);
      pen.lineTo(4, -4);
    }, 6));
    this.dots = this.colours.kinds.map((kind) => this.pattern(kind, (pen) => {
      pen.rect(0.5, 0.5, 1, 1);
      pen.rect(2.5, 2.5, 1, 1);
    }, 4));
  }

  pattern(colour, path, size) {
    const tile = document.createElement("canvas");
    tile.width = tile.height = size * this.ratio;
    const pen = tile.getContext("2d");
    pen.scale(this.ratio, this.ratio);
    pen.strokeStyle = colour;
    pen.lineWidth = 1;
    pen.globalAlpha = 0.75;
    pen.beginPath();
    path(pen);
    pen.stroke();
    const made = this.context.createPattern(tile, "repeat");
    made.setTransform(new DOMMatrix().scale(1 / this.ratio));
    return made;
  }

  // `fraction` of the edit after the reel's step is made; `round` is lit, `focus` is ringed.
  paint(reel, fraction, round, focus) {
    const pen = this.context;
    const [width, height] = this.size;
    pen.setTransform(this.ratio, 0, 0, this.ratio, 0, 0);
    pen.clearRect(0, 0, width, height);
    this.labels(reel);
    const moving = new Map();
    if (fraction > 0) for (const at of reel.of(reel.step + 1)) moving.set(reel.changes[at][1], at);
    const lit = [];
    for (let tile = 0; tile < reel.count; tile += 1) {
      const at = moving.get(tile);
      this.tile(reel, tile, at, fraction);
      const change = at ?? reel.current[tile];
      if (change >= 0 && reel.roundOf(reel.changes[change][0]) === round) lit.push([tile, at !== undefined]);
    }
    pen.globalAlpha = lit.length > 1000 ? 0.35 : 1; // so many of them would hide the tiles
    for (const [tile, now] of lit) this.ring(tile, this.colours.round, now ? 3 : 2);
    pen.globalAlpha = 1;
    if (focus >= 0) {
      this.ring(focus, this.colours.back, 5);
      this.ring(focus, this.colours.text, 2);
    }
  }

  labels(reel) {
    const pen = this.context;
    const { message, role, pinned } = reel.record.groups;
    pen.font = `11px ${this.colours.font}`;
    pen.textBaseline = "top";
    for (const { group, box, label } of this.layout.groups) {
      const [x, y, w, h] = box;
      pen.strokeStyle = this.colours.line;
      pen.lineWidth = 1;
      if (this.layout.groups.length > 1 && w > 5 && h > 5) pen.strokeRect(x - 0.5, y - 0.5, w + 1, h + 1);
      if (!label) continue;
      const name = message[group] < 0 ? "summary" : `${message[group]} ${role[group]}`;
      pen.fillStyle = this.colours.soft;
      pen.fillText(fitted(pen, name + (pinned[group] ? " · pinned" : ""), w - 4), x + 2, y + 2);
    }
  }

  tile(reel, tile, moving, fraction) {
    const pen = this.context;
    if (!this.layout.boxes[tile]) return; // another record has come, and its tiles are yet to be placed
    const [x, y, w, h] = this.layout.boxes[tile];
    const kind = reel.tiles.kind[tile];
    const colour = this.colours.kinds[kind];
    const length = reel.tiles.length[tile] || 1;
    const [head, tail, mark] = this.parts(reel.state(tile), length);
    let [top, bottom, fill] = [head, tail, mark];
    if (moving !== undefined) {
      const [nextHead, nextTail, nextMark] = this.parts(reel.state(tile, moving), length);
      const eased = fraction * fraction * (3 - 2 * fraction);
      top = head + (nextHead - head) * eased;
      bottom = tail + (nextTail - tail) * eased;
      fill = mark + (nextMark - mark) * eased;
    }
    const gap = h * (1 - top - bottom);
    if (gap > 0.01) {
      if (w >= 4 && h >= 4) {
        pen.fillStyle = this.hatches[kind];
        pen.fillRect(x, y + h * top, w, gap);
        pen.strokeStyle = colour;
        pen.lineWidth = 0.5;
        pen.strokeRect(x + 0.25, y + 0.25, w - 0.5, h - 0.5);
      } else {
        pen.globalAlpha = 0.3;
        pen.fillStyle = colour;
        pen.fillRect(x, y + h * top, w, gap);
        pen.globalAlpha = 1;
      }
      if (fill > 0 && gap > 3) {
        const band = Math.max(2, h * fill);
        pen.fillStyle = this.colours.soft;
        pen.fillRect(x, y + h * top + (gap - band) / 2, w, band);
      }
    }
    if (top + bottom <= 0) return;
    if (reel.tiles.text[tile] || reel.tiles.count[tile] > 1) pen.fillStyle = colour;
    else {
      // What is no text: dotted, because no rule reaches it.
      pen.fillStyle = this.dots[kind];
      pen.strokeStyle = colour;
      pen.lineWidth = 1;
      if (w > 3 && h > 3) pen.strokeRect(x + 0.5, y + 0.5, w - 1, h - 1);
    }
    pen.fillRect(x, y, w, gap > 0.01 ? Math.max(h * top, top > 0 ? 1 : 0) : h);
    if (gap > 0.01 && bottom > 0) pen.fillRect(x, y + h - Math.max(1, h * bottom), w, Math.max(1, h * bottom));
  }

  // Head, tail and marker as parts of the tile's height.
  parts(state, length) {
    if (state.whole) return state.there ? [0.5, 0.5, 0] : [0, 0, 0];
    const marker = state.there ? Math.min(0.5, state.middle.length / length) : 0;
    if (state.head + state.tail >= length) return [0.5, 0.5, 0];
    return [state.head / length, state.tail / length, marker];
  }

  ring(tile, colour, width) {
    if (!this.layout.boxes[tile]) return; // as above
    const pen = this.context;
    const [x, y, w, h] = this.layout.boxes[tile];
    pen.strokeStyle = colour;
    pen.lineWidth = Math.min(width, Math.max(1, Math.min(w, h) / 5));
    pen.strokeRect(x - 1, y - 1, w + 2, h + 2);
  }

  at(x, y) {
    return this.layout.boxes.findIndex(([left, top, w, h]) => x >= left - 1 && x <= left + w + 1 && y >= top - 1 && y <= top + h + 1);
  }

  // The tile above or below, nearest to the middle of this one.
  vertical(tile, down) {
    const centre = ([x, y, w, h]) => [x + w / 2, y + h / 2];
    const [cx, cy] = centre(this.layout.boxes[tile]);
    let best = tile;
    let least = Infinity;
    this.layout.boxes.forEach((box, at) => {
      const [x, y] = centre(box);
      const ahead = down ? box[1] - cy : cy - (box[1] + box[3]);
      if (ahead < 0 || at === tile) return;
      const distance = ahead * 3 + Math.abs(x - cx) + Math.abs(y - cy) / 10;
      if (distance < least) [best, least] = [at, distance];
    });
    return best;
  }
}

function fitted(pen, text, width) {
  if (pen.measureText(text).width <= width) return text;
  let cut = text.length;
  while (cut > 1 && pen.measureText(`${text.slice(0, cut)}…`).width > width) cut -= 1;
  return `${text.slice(0, cut)}…`;
}

// ------------------------------------------------------------------------------------------------------- the curves

class Curves {
  constructor(svg, seek) {
    this.svg = svg;
    this.seek = seek;
  }

  build(reel, width, height) {
    const { record } = reel;
    this.reel = reel;
    this.svg.replaceChildren();
    this.svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
    this.svg.setAttribute("width", width);
    this.svg.setAttribute("height", height);
    const ends = record.rounds.end;
    this.rounds = ends.length - 1;
    const left = 46;
    // Room for the last label, which stands to the right of its point.
    const right = width - 14 - 7 * few(Math.max(0, ...record.rounds.limit)).length;
    this.x = (round) => (this.rounds ? left + ((right - left) * round) / this.rounds : left);
    const split = Math.round(height * 0.6);
    const shown = this.rounds <= 12;
    this.panels = [
      this.panel("Tokens after each round", record.steps.tokens, 0, split, left, right, record.budget, shown),
      this.panel("Characters of text", record.steps.characters, split, height - 16, left, right, null, false),
    ];
    const every = Math.max(1, Math.ceil(this.rounds / 10));
    for (let round = 0; round <= this.rounds; round += every) {
      const label = round === 0 ? "start" : `${round}`;
      this.svg.append(draw("text", { x: this.x(round), y: height - 3, class: "tick", "text-anchor": "middle" }, label));
    }
  }

  panel(title, values, top, bottom, left, right, budget, labelled) {
    const { record } = this.reel;
    const ends = record.rounds.end;
    const highest = Math.max(1, budget ?? 0, ...ends.map((end) => values[end])) * 1.02;
    const step = nice(highest / ((bottom - top) / 45));
    const low = bottom - 8;
    const high = top + 34;
    const y = (value) => low - ((low - high) * value) / highest;
    this.svg.append(draw("text", { x: 0, y: top + 12, class: "title" }, title));
    for (let value = 0; value <= highest; value += step) {
      this.svg.append(draw("line", { x1: left, x2: right, y1: y(value), y2: y(value), class: "grid" }));
      this.svg.append(draw("text", { x: left - 11, y: y(value) + 4, class: "tick", "text-anchor": "end" }, short(value)));
    }
    const points = ends.map((end, round) => [this.x(round), y(values[end])]);
    this.svg.append(draw("polyline", { points: points.map((point) => point.join(",")).join(" "), class: "curve" }));
    if (budget !== null) {
      this.svg.append(draw("line", { x1: left, x2: right, y1: y(budget), y2: y(budget), class: "budget" }));
      // The curve comes from above: below the line there is room, except at the very bottom.
      const under = low - y(budget) > 16;
      this.svg.append(draw("text", { x: left + 4, y: y(budget) + (under ? 13 : -5), class: "budget-label" }, `budget ${few(budget)}`));
    }
    const dots = points.length <= 200 ? points.map(([x, at], round) => {
      const dot = draw("circle", { cx: x, cy: at, r: points.length > 40 ? 2 : 4, class: "dot" });
      dot.append(draw("title", {}, `${round ? `after round ${round}` : "at the start"}: ${few(values[ends[round]])}`));
      dot.addEventListener("click", () => this.seek(ends[round]));
      const limit = record.rounds.limit[round - 1];
      if (labelled && round && limit) {
        this.svg.append(draw("text", { x: x + 6, y: at - 6, class: "limit" }, few(limit)));
      }
      return dot;
    }) : [];
    this.svg.append(...dots);
    const live = draw("circle", { r: 6, class: "live" });
    this.svg.append(live);
    return { values, y, dots, live };
  }

  // `fraction` of the edit after the reel's step is made.
  paint(fraction) {
    const { record, step } = this.reel;
    const ends = record.rounds.end;
    const round = fraction > 0 ? this.reel.roundOf(step + 1) : this.reel.roundOf(step);
    const first = ends[round - 1] ?? 0;
    const part = round ? (step + fraction - first) / Math.max(1, ends[round] - first) : 0;
    for (const { values, y, dots, live } of this.panels) {
      const value = values[step] + ((values[step + 1] ?? values[step]) - values[step]) * fraction;
      live.setAttribute("cx", this.x(round ? round - 1 + part : 0));
      live.setAttribute("cy", y(value));
      dots.forEach((dot, at) => dot.classList.toggle("to-come", ends[at] > step));
    }
  }
}

// ------------------------------------------------------------------------------------------------ the text in focus

// Pieces of the excerpt between two places of the original, with what is not sent named as a gap.
function pieces(excerpt, from, to) {
  const found = [];
  let reached = from;
  for (const [start, text] of excerpt) {
    const characters = Array.from(text);
    const first = Math.max(from, start);
    const last = Math.min(to, start + characters.length);
    if (first >= last) continue;
    if (first > reached) found.push({ gap: first - reached });
    found.push({ text: characters.slice(first - start, last - start).join("") });
    reached = last;
  }
  if (to > reached) found.push({ gap: to - reached });
  return found;
}

function showText(panel, reel, tile, state) {
  const { record, tiles } = reel;
  const excerpt = tiles.excerpt[tile];
  const length = tiles.length[tile];
  const signs = record.signs;
  const put = (parent, list) => {
    for (const { text, gap } of list) {
      if (gap) parent.append(make("span", { class: "gap", text: ` … ${plural(gap, "character")} not shown … ` }));
      else if (text) appendVisible(parent, text, signs);
    }
    return parent;
  };
  panel.replaceChildren();
  if (tiles.count[tile] > 1) {
    panel.append(make("span", { class: "gap", text: `${few(tiles.count[tile])} small blocks share this tile.` }));
    return;
  }
  if (!tiles.text[tile] && state.fate !== REPLACED) {
    panel.append(make("span", { class: "gap", text: `No text: ${record.categories[tiles.kind[tile]]}. No rule here shortens it.` }));
    return;
  }
  if (!state.there && tiles.born[tile]) {
    panel.append(make("span", { class: "gap", text: "The summary that will stand here is not made yet." }));
    return;
  }
  if (state.whole) {
    put(panel, pieces(excerpt, 0, length));
    return;
  }
  const end = length - state.tail;
  const removed = pieces(excerpt, state.head, end);
  const half = Math.ceil(removed.length / 2);
  put(panel, pieces(excerpt, 0, state.head));
  if (removed.length) panel.append(put(make("del"), removed.slice(0, half)));
  // The line ends of the marker are shown as signs, so that both sides of a cut stay in sight.
  if (state.middle) panel.append(appendVisible(make("mark"), state.middle, { ...signs, "\n": "⏎" }));
  if (removed.length > half) panel.append(put(make("del"), removed.slice(half)));
  put(panel, pieces(excerpt, end, length));
  const mark = panel.querySelector("mark");
  panel.scrollTop = mark ? mark.offsetTop - panel.offsetTop - (panel.clientHeight - mark.offsetHeight) / 2 : 0;
}

function appendVisible(parent, text, signs) {
  let plain = "";
  for (const character of text) {
    const sign = Object.hasOwn(signs, character) ? signs[character] : undefined;
    if (sign === undefined) plain += character;
    else {
      parent.append(plain, make("span", { class: "sign", text: sign }));
      plain = "";
    }
  }
  parent.append(plain);
  return parent;
}

// ------------------------------------------------------------------------------------------------------- the player

export function renderRounds({ record, el, on = {} }) {
  let reel, position, focus, following, playing, clock, speed, board, curves, frame, watched;
  const still = window.matchMedia("(prefers-reduced-motion: reduce)");
  const id = `ctx-rounds-${Math.random().toString(36).slice(2)}`;

  const button = (label, text, action) => make("button", { type: "button", "aria-label": label, title: label, text, onclick: action });
  const play = button("Play", "▶ play", () => (playing ? pause() : start()));
  play.classList.add("play");
  const slider = make("input", { type: "range", min: 0, step: 1, "aria-label": "Jump to an edit", oninput: () => { pause(); seek(+slider.value); } });
  const pace = make("select", { "aria-label": "Speed", onchange: () => { const at = position; speed = +pace.value; if (playing) clock = performance.now() - (1000 * secondsAt(at)) / speed; } });
  for (const value of SPEEDS) pace.append(make("option", { value, text: `${value}×`, selected: value === 1 }));
  const follow = make("input", { type: "checkbox", checked: true, onchange: () => { following = follow.checked; show(); } });
  const where = make("output", { class: "where" });
  const lead = make("strong");
  const words = make("span");
  const forecast = make("p", { class: "forecast" });
  const beside = make("p", { class: "beside" });
  const after = make("span");
  const state = make("p", { class: "state" }, lead, " ", words, " ", after);
  const risk = make("p", { class: "risk" });
  const say = make("div", { class: "say" }, state, forecast, beside, risk);
  const counters = make("div", { class: "counters", "aria-hidden": "true" });
  const counter = (name) => {
    const value = make("b");
    counters.append(make("span", {}, value, make("small", { text: name })));
    return value;
  };
  const [ofRound, ofLimit, ofBlocks, ofCharacters, ofTokens] = ["round", "blocks it may cut", "cut in this round", "characters", "tokens"].map(counter);
  const canvas = make("canvas", {
    tabindex: 0, role: "img", "aria-describedby": `${id}-caption`, onkeydown: keys, onclick: pick, onmousemove: hover,
  });
  const svg = draw("svg", { role: "img", "aria-label": "Tokens and characters after each round" });
  const left = make("div", { class: "tiles" }, canvas);
  const right = make("div", { class: "curves" }, svg);
  const legend = make("div", { class: "legend" });
  const text = make("div", { class: "text", tabindex: 0, role: "region", "aria-label": "Text of the block in focus", dir: "ltr" });
  const caption = make("p", { class: "caption", id: `${id}-caption` });
  const spoken = make("div", { class: "spoken", role: "status", "aria-live": "polite" });
  const moves = [
    button("Back to the start", "|◀", () => jump(0)),
    button("Back one round", "◀ round", () => jump(roundStart())),
    button("Back one block", "◀ block", () => jump(position === Math.ceil(position) ? position - 1 : Math.floor(position))),
    play,
    button("On one block", "block ▶", () => jump(Math.floor(position) + 1)),
    button("On one round", "round ▶", () => jump(roundEnd())),
    button("To the end", "▶|", () => jump(reel.last)),
  ];
  const root = make("section", { class: "ctx ctx-rounds", "aria-label": "Rounds" },
    make("div", { class: "bar" },
      ...moves,
      make("label", {}, "speed ", pace),
      make("label", { title: "Show the text of the block that is being cut" }, follow, " follow the cut"),
    ),
    make("div", { class: "jump" }, slider, where),
    say, counters, make("div", { class: "stage" }, left, right), legend, text, caption, spoken);

  // --- time and position. A position is a number of edits; its fraction is how far the next one is.

  const roundSeconds = () => Math.min(ROUND_SECONDS, LONGEST_SHOW / Math.max(1, reel.record.rounds.limit.length));
  function positionAt(elapsed) {
    const seconds = Math.max(0, elapsed); // a frame may carry a time from before the start
    const ends = reel.record.rounds.end;
    const round = Math.floor(seconds / roundSeconds());
    if (round >= ends.length - 1) return reel.last;
    const part = Math.min(1, (seconds / roundSeconds() - round) / (1 - HOLD));
    const at = ends[round] + part * (ends[round + 1] - ends[round]);
    return still.matches ? Math.floor(at) : at;
  }
  function secondsAt(at) {
    const ends = reel.record.rounds.end;
    let round = 0;
    while (round < ends.length - 2 && ends[round + 1] <= at) round += 1;
    const span = (ends[round + 1] ?? at) - ends[round];
    return (round + (span ? ((at - ends[round]) / span) * (1 - HOLD) : 0)) * roundSeconds();
  }
  const roundStart = () => [...reel.record.rounds.end].reverse().find((end) => end < position) ?? 0;
  const roundEnd = () => reel.record.rounds.end.find((end) => end > position) ?? reel.last;

  function start() {
    if (!reel.last) return;
    if (position >= reel.last) position = 0;
    playing = true;
    clock = performance.now() - (1000 * secondsAt(position)) / speed;
    label();
    frame = requestAnimationFrame(tick);
  }
  function pause() {
    if (!playing) return;
    playing = false;
    cancelAnimationFrame(frame);
    label();
    seek(Math.floor(position + 0.5));
    tell();
  }
  function tick(now) {
    if (!playing) return;
    position = positionAt(((now - clock) / 1000) * speed);
    show();
    if (position >= reel.last) pause();
    else frame = requestAnimationFrame(tick);
  }
  function jump(to) {
    const wasPlaying = playing;
    pause();
    seek(to);
    tell();
    if (wasPlaying && position < reel.last) start();
  }
  function seek(to) {
    position = Math.max(0, Math.min(reel.last, to));
    if (playing) clock = performance.now() - (1000 * secondsAt(position)) / speed;
    if (board.layout) show(); // else the first layout shows it
    if (!playing) on.position?.(Math.floor(position));
  }
  function label() {
    play.textContent = playing ? "❚❚ pause" : "▶ play";
    play.setAttribute("aria-label", playing ? "Pause" : "Play");
    play.title = playing ? "Pause" : "Play";
    root.classList.toggle("playing", playing);
  }
  function hidden() {
    // A hidden page gets no frames; the clock must not run on meanwhile.
    if (document.hidden && playing) pause();
  }

  // --- what is shown at a position

  function show() {
    const step = Math.floor(position);
    const fraction = position - step;
    reel.move(step);
    const { steps, rounds, budget } = reel.record;
    const round = reel.roundOf(fraction > 0 ? step + 1 : step);
    if (following) {
      // The block that is being cut or was cut last; at the start the one that comes first.
      const changed = reel.changes[Math.max(0, reel.pointer + (fraction > 0 ? 0 : -1))];
      if (changed) focus = changed[1];
    }
    board.paint(reel, fraction, round, focus);
    curves.paint(fraction);
    const made = step - (rounds.end[round - 1] ?? 0);
    const of = (rounds.end[round] ?? 0) - (rounds.end[round - 1] ?? 0);
    put(lead, rounds.lead[round] ?? "");
    put(words, rounds.words[round] ?? "");
    // What is left is only true once the round is over.
    put(after, round && made < of ? "" : rounds.after[round] ?? "");
    put(ofRound, `${round} of ${rounds.limit.length}`);
    put(ofLimit, round && rounds.limit[round - 1] ? few(rounds.limit[round - 1]) : "–");
    put(ofBlocks, round ? `${few(made)} of ${few(of)}` : "–");
    put(ofCharacters, few(steps.characters[step]));
    put(ofTokens, few(steps.tokens[step]));
    ofTokens.parentElement.classList.toggle("fits", steps.tokens[step] <= budget);
    put(where, `edit ${few(step)} of ${few(reel.last)}`);
    if (+slider.value !== step) slider.value = step;
    slider.setAttribute("aria-valuetext", `edit ${step} of ${reel.last}, round ${round}`);
    root.dataset.step = step;
    root.dataset.round = round;
    root.dataset.focus = focus;
    // The text changes with the tile or its state, not with each frame.
    const moving = fraction > 0 ? reel.of(step + 1).find((at) => reel.changes[at][1] === focus) : undefined;
    const change = focus >= 0 ? moving ?? reel.current[focus] : -1;
    const key = `${focus} ${change} ${round}`;
    if (key !== watched) {
      watched = key;
      if (focus >= 0) showText(text, reel, focus, reel.state(focus, change));
      else text.replaceChildren(make("span", { class: "gap", text: "Choose a tile to see its text, or press play." }));
      put(caption, focus >= 0 ? captionOf(focus, round, change) : "");
      canvas.setAttribute("aria-label", picture(round));
    }
  }

  function put(node, value) {
    if (node.textContent !== value) node.textContent = value;
  }

  function picture(round) {
    const { groups } = reel.record;
    const focused = focus >= 0 ? ` In focus: ${name(focus)}.` : "";
    return `${plural(reel.count, "tile")} of ${plural(groups.message.filter((at) => at >= 0).length, "message")}, ${round ? `after round ${round}` : "at the start"}. Arrow keys move the focus.${focused}`;
  }

  function name(tile) {
    const { groups } = reel.record;
    const { group, block, item, kind, count } = reel.tiles;
    const message = groups.message[group[tile]];
    const of = message < 0 ? "summary" : `message ${message} · ${groups.role[group[tile]]}`;
    if (count[tile] > 1) return `${of} · ${few(count[tile])} small blocks together`;
    const inside = item[tile] >= 0 ? ` · item ${item[tile]}` : "";
    return `${of} · block ${block[tile]}${inside} · ${reel.record.categories[kind[tile]]}`;
  }

  function captionOf(tile, round, change = reel.current[tile]) {
    const { record, tiles } = reel;
    const now = reel.state(tile, change);
    if (tiles.count[tile] > 1) return `${name(tile)} · ${few(tiles.length[tile])} characters at the start`;
    const size = now.length === tiles.length[tile] && now.fate !== BORN ? plural(now.length, "character")
      : `${few(tiles.born[tile] ? 0 : tiles.length[tile])} → ${plural(now.length, "character")}`;
    const tokens = now.tokens === tiles.tokens[tile] ? plural(now.tokens, "token") : `${few(tiles.tokens[tile])} → ${plural(now.tokens, "token")}`;
    const gone = now.lost ? ` · ${few(now.lost)} of the original characters are gone in all` : "";
    const pinned = record.groups.pinned[tiles.group[tile]] ? " · pinned" : "";
    return `${name(tile)}${pinned} · ${size} · ${tokens}${gone}. ${why(tile, now, round)}`;
  }

  function why(tile, now, round) {
    const { record, tiles } = reel;
    if (now.fate >= DROPPED && now.fate !== BORN) return `It is ${FATES[now.fate]} in round ${reel.roundOf(now.step)}.`;
    if (!tiles.text[tile] && now.fate < 0) return "It is not text, and no rule here shortens it.";
    const qualifying = record.rounds.qualifying[reel.roundOf(now.step) - 1];
    const rank = now.rank && qualifying ? `, number ${few(now.rank)} of ${few(qualifying)} by length` : "";
    const cut = now.fate >= 0 && now.fate !== PINNED ? `It is ${FATES[now.fate]} in round ${reel.roundOf(now.step)}${rank}. ` : "";
    if (!record.fallback || now.fate === BORN) return cut;
    if (now.why >= 0) return `${cut}A round passes it over: ${record.reasons[now.why]}.`;
    if (round && reel.roundOf(now.step) !== round) return `${cut}It qualifies, but ${record.turn}.`;
    return `${cut}${cut ? "It may be cut again." : "It qualifies."}`;
  }

  function tell() {
    const round = reel.roundOf(Math.floor(position));
    put(spoken, `${reel.record.rounds.lead[round] ?? ""} ${reel.record.rounds.words[round] ?? ""} ${after.textContent} ${where.textContent}.`);
  }

  // --- choosing a tile

  function choose(tile) {
    following = follow.checked = false;
    focus = tile;
    show();
    const message = reel.record.groups.message[reel.tiles.group[tile]];
    if (message >= 0) on.message?.(message);
  }
  function under(event) {
    const box = canvas.getBoundingClientRect();
    return board.at(event.clientX - box.left, event.clientY - box.top);
  }
  function pick(event) {
    const tile = under(event);
    if (tile >= 0) choose(tile);
  }
  function hover(event) {
    const tile = under(event);
    canvas.title = tile >= 0 ? captionOf(tile, reel.roundOf(Math.floor(position))) : "";
  }
  function keys(event) {
    const at = Math.max(0, focus);
    const moves = {
      ArrowRight: () => Math.min(reel.count - 1, focus < 0 ? 0 : at + 1),
      ArrowLeft: () => Math.max(0, at - 1),
      ArrowDown: () => board.vertical(at, true),
      ArrowUp: () => board.vertical(at, false),
      Home: () => 0,
      End: () => reel.count - 1,
    };
    if (event.key === " ") playing ? pause() : start();
    else if (moves[event.key] && reel.count) choose(moves[event.key]());
    else return;
    event.preventDefault();
    event.stopPropagation();
  }

  // --- building

  function legendOf() {
    const { record, tiles } = reel;
    const kinds = [...new Set(tiles.kind)].sort((a, b) => a - b);
    const entry = (className, words, kind = null) => {
      const swatch = make("i", { class: className });
      if (kind !== null) swatch.style.setProperty("--kind", `var(--ctx-${["user", "assistant", "use", "result", "media", "reasoning", "other"][kind]})`);
      return make("span", {}, swatch, ` ${words}`);
    };
    legend.replaceChildren(
      make("span", { text: "Each tile is a piece of content, its area the characters." }),
      ...kinds.map((kind) => entry("solid", record.categories[kind], kind)),
      entry("hatched", "removed", kinds[0] ?? 0),
      ...(tiles.text.includes(0) ? [entry("dotted", "no text: no rule shortens it", kinds[0] ?? 0)] : []),
      entry("ringed", "changed in this round"),
      ...(record.rounds.limit.some(Boolean) && curves.rounds <= 12 ? [make("span", { text: "Numbers on the curve: blocks a round may cut." })] : []),
      ...(board.layout.raised ? [make("span", { text: `Drawn larger than they are: ${plural(board.layout.raised, "small tile")}.` })] : []),
      ...(record.hidden ? [make("span", { text: `${few(record.hidden)} of the smallest share tiles.` })] : []),
    );
  }

  function size() {
    const wide = left.clientWidth;
    const beside = right.clientWidth;
    if (!wide || !reel) return;
    board.resize(reel, wide, 340);
    curves.build(reel, beside, 340);
    legendOf();
    reserve();
    watched = null;
    show();
  }

  // The box of sentences is as high as its longest one, so that nothing jumps while playing.
  function reserve() {
    const { lead: leads, words: all, after: results } = reel.record.rounds;
    state.style.minHeight = "";
    const longest = all.map((what, at) => [what.length + results[at].length, at]).sort((a, b) => b[0] - a[0]).slice(0, 3);
    let highest = 0;
    for (const [, at] of longest) {
      lead.textContent = leads[at];
      words.textContent = all[at];
      after.textContent = results[at];
      highest = Math.max(highest, state.offsetHeight);
    }
    state.style.minHeight = `${highest}px`;
  }

  function setRecord(next) {
    if (next.version !== VERSION) {
      root.replaceChildren(make("p", { role: "alert", text: `This player reads records of version ${VERSION}, this one is ${next.version}.` }));
      return;
    }
    const round = reel ? reel.roundOf(Math.floor(position)) : 0;
    const atEnd = reel && reel.last > 0 && position >= reel.last;
    const wasPlaying = playing;
    playing = false;
    cancelAnimationFrame(frame);
    reel = new Reel(next);
    slider.max = reel.last;
    for (const control of [slider, ...moves]) control.disabled = !reel.last;
    put(forecast, next.forecast ? `Forecast: ${next.forecast}` : "");
    put(beside, next.beside ?? "");
    put(risk, next.risk ?? "");
    say.dataset.outcome = next.outcome;
    const ends = next.rounds.end;
    position = atEnd ? reel.last : ends[Math.min(round, ends.length - 1)];
    focus = reel.count && focus >= 0 && focus < reel.count ? focus : -1;
    size();
    label();
    if (wasPlaying) start();
  }

  function focusMessage(message) {
    const group = reel.record.groups.message.indexOf(message);
    const tile = group < 0 ? -1 : reel.tiles.group.indexOf(group);
    if (tile >= 0 && reel.tiles.group[focus] !== group) {
      following = follow.checked = false;
      focus = tile;
      if (board.layout) show();
    }
  }

  [position, focus, following, playing, speed] = [0, -1, true, false, 1];
  board = new Board(canvas);
  curves = new Curves(svg, (to) => jump(to));
  el.append(keepKeys(root));
  const resized = new ResizeObserver(() => size());
  resized.observe(left);
  const unwatch = watchTheme(() => { if (board.layout) { board.readColours(); show(); } });
  document.addEventListener("visibilitychange", hidden);
  setRecord(record);

  return {
    setRecord,
    focusMessage,
    seek: (to) => { if (Math.floor(position) !== to) { pause(); seek(to); } },
    destroy() {
      playing = false;
      cancelAnimationFrame(frame);
      resized.disconnect();
      unwatch();
      document.removeEventListener("visibilitychange", hidden);
      root.remove();
    },
  };
}

// The wrapper for Jupyter: the record comes once a policy and budget, as text; what a person chooses goes back.
export default {
  render({ model, el }) {
    const read = () => JSON.parse(model.get("record"));
    const send = (name) => (value) => {
      model.set(name, value);
      model.save_changes();
    };
    const error = make("p", { class: "error", role: "alert" });
    const knobs = model.get("dials") ? dials({ values: [], most: 0, chosen: (name, value) => send(name)(value) }) : null;
    const turn = () => {
      knobs?.scale(model.get("values"), model.get("most"));
      knobs?.show({ rule: model.get("rule"), preserve_chars: model.get("preserve_chars"), budget: model.get("budget") });
      error.textContent = model.get("error");
    };
    el.append(keepKeys(make("div", { class: "ctx" }, ...(knobs ? [knobs.el] : []), error)));
    turn();
    const player = renderRounds({ record: read(), el, on: { position: send("position"), message: send("message") } });
    const led = () => {
      if (!model.get("led")) return;
      player.seek(model.get("position"));
      if (model.get("message") >= 0) player.focusMessage(model.get("message"));
    };
    led();
    const heard = {
      "change:record": () => { player.setRecord(read()); led(); },
      "change:position": () => player.seek(model.get("position")),
      "change:message": () => player.focusMessage(model.get("message")),
      ...Object.fromEntries(["rule", "preserve_chars", "budget", "values", "most", "error"].map((name) => [`change:${name}`, turn])),
    };
    for (const [event, hear] of Object.entries(heard)) model.on(event, hear);
    return () => {
      for (const [event, hear] of Object.entries(heard)) model.off(event, hear);
      player.destroy();
    };
  },
};
