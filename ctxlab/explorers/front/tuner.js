// The tuner of preserve_chars: four pictures over one scale of characters with a line through all of them, and the
// tokens round by round where the line is.
//
// Moving the line needs no kernel: the record holds the whole range, the answers hold what one budget makes of it.
// No rule lives here. renderTuner({record, answers, state, el, on}) returns {setRecord, setAnswers, setState, destroy}.
// The file parts.js stands before this one.

const LEFT = 58;
const RIGHT = 14;
const TOP = 30;
const HEIGHT = 186;
const NEVER = -1;

// Runs of equal values: [[first, last, value], …], last included.
function runs(values) {
  const found = [];
  values.forEach((value, at) => {
    const last = found[found.length - 1];
    if (last && last[2] === value) last[1] = at;
    else found.push([at, at, value]);
  });
  return found;
}

export function renderTuner({ record, answers, state, el, on = {} }) {
  let x, width, bottom, value;
  const lead = make("strong");
  const words = make("span");
  const now = make("p", { class: "now" }, lead, " ", words);
  const zone = make("p", { class: "beside" });
  const reason = make("span");
  const take = make("button", { type: "button", text: "take it", onclick: () => choose(answers.best, true) });
  const say = make("div", { class: "say", role: "status", "aria-live": "polite" },
    make("p", { class: "state" }, make("strong", { text: "Recommended: " }), reason, " ", take),
    now, zone);
  const knobs = dials({ values: record.values, most: state.most, chosen: (name, chosen) => {
    if (name === "preserve_chars") choose(chosen, true);
    else on[name]?.(chosen);
  } });
  const [refused, showRefused] = numberBox("Most refused calls", 0, (value) => on.most_refused?.(value));
  knobs.el.append(make("label", { class: "dial few" }, "at most", refused, "refused calls"));
  const bar = make("progress", { max: 1, "aria-label": "Values tried" });
  const tried = make("span");
  const progress = make("div", { class: "progress" }, bar, tried, make("button", { type: "button", text: "stop", onclick: () => on.stop?.() }));
  const error = make("p", { class: "error", role: "alert" });
  const pictures = ["calls", "kept", "sizes", "heat", "curve"].map((name) => draw("svg", { class: name, role: "img", height: HEIGHT }));
  const [calls, kept, sizes, heat, curve] = pictures;
  const grid = make("div", { class: "pictures" }, ...pictures);
  const about = make("p", { class: "legend" });
  const body = make("tbody");
  const table = make("details", { ontoggle: () => fillTable() }, make("summary", { text: "All of it as a table" }),
    make("table", {}, make("thead", {}, make("tr", {}, ...["preserve_chars", "refused calls", "characters left", "tokens left"].map((text) => make("th", { text, scope: "col" })))), body));
  const root = make("section", { class: "ctx ctx-tuner", "aria-label": "Tuning preserve_chars" },
    knobs.el, progress, error, say, grid, about, table);
  let cursors = [];

  const at = (chosen) => record.values.reduce((best, other, index) => Math.abs(Math.log(other / chosen)) < Math.abs(Math.log(record.values[best] / chosen)) ? index : best, 0);
  const never = (count) => count === NEVER;

  // --- choosing a value: only lines, a zone and words move

  function choose(chosen, tell = false) {
    if (chosen == null) return;
    value = record.values[at(chosen)];
    move();
    // What was not tried is shown as its nearest neighbour until the kernel has tried it.
    if (tell) on.preserve_chars?.(chosen);
  }

  function move() {
    const index = at(value);
    const place = x(value);
    for (const { line, dot, top } of cursors) {
      line.setAttribute("x1", place);
      line.setAttribute("x2", place);
      if (dot) {
        dot.setAttribute("cx", place);
        dot.setAttribute("cy", top(index));
      }
    }
    const end = Math.min(width - RIGHT, x(3 * value));
    sizes.zone.setAttribute("x", place);
    sizes.zone.setAttribute("width", Math.max(0, end - place));
    knobs.show({ ...state, preserve_chars: value });
    lead.textContent = `preserve_chars ${few(value)}:`;
    words.textContent = `${answers.words[index] ?? ""} ${answers.beside[index] ?? ""}`;
    const [count, characters] = record.dead[index];
    zone.textContent = `Dead zone of the fixed rule, ${few(value + 1)} to ${few(3 * value)} characters: ${few(count)} of ${plural(record.texts, "text")}, ${few(characters)} characters.`;
    drawCurve(index);
    root.dataset.value = value;
    root.dataset.calls = answers.calls[index];
  }

  // --- drawing the four pictures

  function size() {
    const wide = grid.clientWidth;
    if (!wide) return;
    width = Math.floor(wide >= 700 ? (wide - 20) / 2 : wide);
    bottom = HEIGHT - 24;
    const low = Math.min(record.values[0], Math.max(10, record.histogram.edges.find((edge, bin) => record.histogram.counts[bin] && edge >= 10) ?? 10));
    const high = Math.max(record.values[record.values.length - 1], record.histogram.edges[record.histogram.edges.length - 1]) * 1.05;
    x = (characters) => LEFT + ((width - LEFT - RIGHT) * Math.log(Math.max(low, characters) / low)) / Math.log(high / low);
    x.back = (place) => low * (high / low) ** ((place - LEFT) / (width - LEFT - RIGHT));
    x.range = [low, high];
    cursors = [];
    for (const picture of pictures) {
      const own = picture === curve ? wide : width;
      picture.replaceChildren();
      picture.setAttribute("width", own);
      picture.setAttribute("viewBox", `0 0 ${own} ${HEIGHT}`);
    }
    drawCalls();
    drawKept();
    drawSizes();
    drawHeat();
    reserve();
    move();
  }

  function frame(svg, title, unit) {
    svg.append(draw("text", { x: 0, y: 14, class: "title" }, title));
    svg.append(draw("line", { x1: LEFT, x2: width - RIGHT, y1: bottom, y2: bottom, class: "axis" }));
    let last = -Infinity;
    for (let power = 10; power <= x.range[1]; power *= 10) {
      for (const step of [1, 2, 5]) {
        const tick = power * step;
        if (tick < x.range[0] || tick > x.range[1]) continue;
        svg.append(draw("line", { x1: x(tick), x2: x(tick), y1: bottom, y2: bottom + 3, class: "axis" }));
        if (x(tick) - last < 36 || x(tick) > width - RIGHT - 10) continue;
        last = x(tick);
        svg.append(draw("text", { x: x(tick), y: bottom + 15, class: "tick", "text-anchor": "middle" }, short(tick)));
      }
    }
    svg.append(draw("text", { x: width - RIGHT, y: 14, class: "tick", "text-anchor": "end" }, unit));
  }

  function level(svg, y, label) {
    svg.append(draw("line", { x1: LEFT, x2: width - RIGHT, y1: y, y2: y, class: "grid" }));
    svg.append(draw("text", { x: LEFT - 7, y: y + 4, class: "tick", "text-anchor": "end" }, label));
  }

  function cursor(svg, top = null) {
    const line = draw("line", { y1: TOP - 6, y2: bottom, class: "cursor" });
    const dot = top ? draw("circle", { r: 5, class: "cursor-dot" }) : null;
    svg.append(line, ...(dot ? [dot] : []));
    cursors.push({ line, dot, top });
  }

  function recommended(svg) {
    if (answers.best === null) return;
    const place = x(answers.best);
    svg.append(draw("line", { x1: place, x2: place, y1: TOP - 6, y2: bottom, class: "best" }));
    svg.append(draw("path", { d: `M${place - 6} ${TOP - 12}h12l-6 8z`, class: "best-mark" }));
  }

  function drawCalls() {
    frame(calls, "Refused calls until it fits", "preserve_chars →");
    const most = Math.max(1, answers.most_refused, ...answers.calls);
    const anyNever = answers.calls.some(never);
    const high = TOP + (anyNever ? 22 : 6);
    const y = (count) => bottom - ((bottom - high) * count) / most;
    const step = Math.max(1, Math.ceil(most / 5));
    for (let count = 0; count <= most; count += step) level(calls, y(count), `${count}`);
    if (anyNever) level(calls, TOP, "never");
    const limit = y(answers.most_refused);
    calls.append(draw("line", { x1: LEFT, x2: width - RIGHT, y1: limit, y2: limit, class: "limit-line" }));
    recommended(calls);
    for (const [first, last, count] of runs(answers.calls)) {
      for (let index = first; index <= last; index += 1) {
        const place = x(record.values[index]);
        if (never(count)) calls.append(draw("path", { d: `M${place - 2.5} ${TOP - 2.5}l5 5m-5 0l5 -5`, class: "never" }));
        else calls.append(draw("circle", { cx: place, cy: y(count), r: 2.6, class: count <= answers.most_refused ? "point" : "point over" }));
      }
    }
    cursor(calls, (index) => never(answers.calls[index]) ? TOP : y(answers.calls[index]));
    const fitting = answers.calls.filter((count) => !never(count)).length;
    calls.setAttribute("aria-label", `Refused calls by preserve_chars: ${fitting} of ${answers.calls.length} values fit, with ${Math.min(...answers.calls.filter((count) => !never(count)))} to ${Math.max(...answers.calls)} refused calls. The table below has every value.`);
  }

  function drawKept() {
    frame(kept, "What is left then", "preserve_chars →");
    const y = (part) => bottom - (bottom - TOP) * Math.min(1, part);
    for (const part of [0, 0.25, 0.5, 0.75, 1]) level(kept, y(part), `${100 * part}%`);
    if (record.sessions.length === 1 && answers.budget < record.start.tokens) {
      const line = y(answers.budget / record.start.tokens);
      kept.append(draw("line", { x1: LEFT, x2: width - RIGHT, y1: line, y2: line, class: "budget" }));
      kept.append(draw("text", { x: LEFT + 5, y: line - 5, class: "budget-label" }, "budget"));
    }
    recommended(kept);
    for (const name of ["tokens", "characters"]) {
      const part = (index) => answers[name][index] / Math.max(1, record.start[name]);
      for (const [first, last, stuck] of runs(answers.calls.map(never))) {
        // A run is joined to the value before it, so that the line has no gap.
        const points = [];
        for (let index = Math.max(0, first - 1); index <= last; index += 1) points.push(`${x(record.values[index])},${y(part(index))}`);
        kept.append(draw("polyline", { points: points.join(" "), class: `${name}${stuck ? " stuck" : ""}` }));
      }
    }
    cursor(kept, (index) => y(answers.tokens[index] / Math.max(1, record.start.tokens)));
    kept.setAttribute("aria-label", "Characters and tokens left by preserve_chars, as parts of the start. The table below has every value.");
  }

  function drawSizes() {
    frame(sizes, "Sizes of texts", "characters →");
    const { edges, counts } = record.histogram;
    const most = Math.max(1, ...counts);
    const y = (count) => bottom - ((bottom - TOP - 8) * count) / most;
    const step = nice(most / 3);
    for (let count = 0; count <= most; count += Math.max(1, step)) level(sizes, y(count), short(count));
    sizes.zone = draw("rect", { y: TOP - 6, height: bottom - TOP + 6, class: "zone", fill: "url(#ctx-zone)" });
    sizes.append(hatching("ctx-zone", "zone-line"), sizes.zone);
    counts.forEach((count, bin) => {
      if (!count) return;
      const [first, last] = [x(edges[bin]), x(edges[bin + 1])];
      const rect = draw("rect", { x: first, y: y(count), width: Math.max(1, last - first - 1), height: bottom - y(count), class: "bin" });
      rect.append(draw("title", {}, `${few(edges[bin])} to ${few(edges[bin + 1])} characters: ${plural(count, "text")}`));
      sizes.append(rect);
    });
    cursor(sizes);
    mark();
  }

  // Where the texts of the message that is in focus elsewhere stand among all.
  function mark() {
    sizes.marks?.remove();
    const said = state.marked.length ? ` ${state.marked_by}: ${state.marked.map((length) => few(length)).join(", ")} characters.` : "";
    sizes.setAttribute("aria-label", `${plural(record.texts, "text")} by size, with the dead zone of the fixed rule between preserve_chars and three times that.${said}`);
    if (!state.marked_by) return;
    const words = `▼ ${state.marked_by}${state.marked.length ? "" : ": no text to cut"}`;
    sizes.marks = draw("g", { class: "marked" });
    sizes.marks.append(draw("text", { x: 104, y: 14 }, words));
    for (const length of new Set(state.marked)) {
      const place = x(length);
      sizes.marks.append(draw("path", { d: `M${place - 5} ${TOP - 8}h10l-5 9z` }), draw("line", { x1: place, x2: place, y1: TOP, y2: bottom }));
    }
    sizes.append(sizes.marks);
  }

  function drawHeat() {
    frame(heat, "Refused calls by budget", "preserve_chars →");
    const { budgets, calls: rows } = record.heat;
    const tall = (bottom - TOP) / budgets.length;
    const most = Math.max(1, ...rows.flat());
    const y = (budget) => TOP + tall * (budgets.length - (budget * budgets.length) / budgets[0] + 0.5);
    const line = Math.max(TOP, Math.min(bottom, y(answers.budget)));
    const edges = record.values.map((characters, index) => index ? (x(record.values[index - 1]) + x(characters)) / 2 : x(characters) - 2);
    edges.push(x(record.values[record.values.length - 1]) + 2);
    heat.append(hatching("ctx-never", "never-line"));
    const labelled = new Set();
    rows.forEach((row, index) => {
      for (const [first, last, count] of runs(row)) {
        const [left, right] = [edges[first], edges[last + 1]];
        const rect = draw("rect", { x: left, y: TOP + tall * index, width: right - left + 0.4, height: tall + 0.4, class: "cell", fill: never(count) ? "url(#ctx-never)" : `color-mix(in srgb, var(--ctx-user) ${Math.round(8 + (72 * count) / most)}%, var(--ctx-back))` });
        rect.append(draw("title", {}, `budget ${few(budgets[index])}, preserve_chars ${few(record.values[first])} to ${few(record.values[last])}: ${never(count) ? "never fits" : plural(count, "refused call")}`));
        rect.addEventListener("click", (event) => {
          on.budget?.(budgets[index]);
          choose(record.values[at(x.back(event.offsetX))], true);
        });
        heat.append(rect);
      }
    });
    // One number a region, where there is room for it: the colours alone tell nobody how many.
    rows.forEach((row, index) => {
      for (const [first, last, count] of runs(row)) {
        const [left, right] = [edges[first], edges[last + 1]];
        const middle = (left + right) / 2;
        const name = never(count) ? "never" : `${count}`;
        const need = name.length * 7 + 4;
        const near = [...labelled].some(([label, row, place]) => label === name && (index - row) * tall < 60 && Math.abs(place - middle) < 70);
        const over = [...labelled].some(([, row, place, half]) => Math.abs(index - row) * tall < 13 && Math.abs(place - middle) < half + need / 2);
        const crossed = Math.abs(TOP + tall * (index + 0.5) - line) < 9;
        if (right - left < need || near || over || crossed) continue;
        labelled.add([name, index, middle, need / 2]);
        heat.append(draw("text", { x: middle, y: TOP + tall * (index + 0.5) + 4, class: "cell-label", "text-anchor": "middle" }, name));
      }
    });
    for (const part of [1, 0.5]) {
      heat.append(draw("text", { x: LEFT - 7, y: y(budgets[0] * part) + 4, class: "tick", "text-anchor": "end" }, short(budgets[0] * part)));
    }
    heat.append(draw("line", { x1: LEFT, x2: width - RIGHT, y1: line, y2: line, class: "budget" }));
    cursor(heat);
    heat.setAttribute("aria-label", `Refused calls for ${budgets.length} budgets from ${few(budgets[budgets.length - 1])} to ${few(budgets[0])} tokens by preserve_chars; hatched where it never fits.`);
  }

  // The rounds of the value that is chosen: the one picture that is drawn anew when the line moves.
  function drawCurve(index) {
    const wide = +curve.getAttribute("width");
    const lines = record.rounds[index];
    const most = Math.max(answers.budget, ...lines.map((tokens) => tokens[0])) * 1.03;
    const rounds = Math.max(1, ...record.rounds.flatMap((all) => all.map((tokens) => tokens.length - 1)));
    const y = (tokens) => bottom - ((bottom - TOP) * tokens) / most;
    const along = (round) => LEFT + ((wide - LEFT - RIGHT - 12) * round) / rounds;
    curve.replaceChildren(draw("text", { x: 0, y: 14, class: "title" }, `Tokens after each refused call, with preserve_chars ${few(value)}`));
    const step = nice(most / 4);
    for (let tokens = 0; tokens <= most; tokens += step) {
      curve.append(draw("line", { x1: LEFT, x2: wide - RIGHT, y1: y(tokens), y2: y(tokens), class: "grid" }));
      curve.append(draw("text", { x: LEFT - 7, y: y(tokens) + 4, class: "tick", "text-anchor": "end" }, short(tokens)));
    }
    const every = Math.ceil(rounds / 20);
    for (let round = 0; round <= rounds; round += every) curve.append(draw("text", { x: along(round), y: bottom + 15, class: "tick", "text-anchor": "middle" }, round ? `${round}` : "start"));
    curve.append(draw("line", { x1: LEFT, x2: wide - RIGHT, y1: y(answers.budget), y2: y(answers.budget), class: "budget" }));
    curve.append(draw("text", { x: LEFT + 5, y: y(answers.budget) + (bottom - y(answers.budget) > 18 ? 13 : -5), class: "budget-label" }, `budget ${few(answers.budget)}`));
    for (const tokens of lines) {
      // Where it fits the rounds end; those that a smaller budget would need are hollow.
      const fits = tokens.findIndex((left) => left <= answers.budget);
      curve.append(draw("polyline", { points: tokens.map((left, round) => `${along(round)},${y(left)}`).join(" "), class: "line" }));
      if (rounds <= 60) tokens.forEach((left, round) => curve.append(draw("circle", { cx: along(round), cy: y(left), r: 3.5, class: fits < 0 || round <= fits ? "dot" : "dot to-come" })));
    }
    const names = lines.length > 1 ? record.sessions : [];
    // Each line has its name where it ends, but for a name that would stand on another one.
    const taken = [];
    names.forEach((name, session) => {
      const tokens = lines[session];
      const [end, height] = [along(tokens.length - 1), y(tokens[tokens.length - 1])];
      if (taken.some(([other, at]) => Math.abs(at - height) < 12 && Math.abs(other - end) < 200)) return;
      taken.push([end, height]);
      const left = end > wide - 200;
      curve.append(draw("text", { x: end + (left ? 0 : 8), y: height + (left ? -8 : 4), class: "line-name", "text-anchor": left ? "end" : "start" }, name));
    });
    const told = lines.slice(0, 3).map((tokens, session) => [names[session], tokens.map(few).join(", ")].filter(Boolean).join(" ")).join("; ");
    curve.setAttribute("aria-label", `Tokens after each refused call with preserve_chars ${few(value)}: ${told}. Budget ${few(answers.budget)}.`);
  }

  function hatching(id, name) {
    const pattern = draw("pattern", { id, width: 6, height: 6, patternUnits: "userSpaceOnUse", patternTransform: "rotate(45)" });
    pattern.append(draw("rect", { width: 6, height: 6, class: `${name}-ground` }), draw("line", { x1: 0, y1: 0, x2: 0, y2: 6, class: name }));
    const defs = draw("defs");
    defs.append(pattern);
    return defs;
  }

  // --- what goes with the pictures

  function explain() {
    const several = record.sessions.length > 1 ? ` Over ${record.sessions.length} sessions: the calls of the one that needs most, the sum of what is left.` : "";
    about.replaceChildren(
      make("span", {}, make("i", { class: "best-key", text: "▼" }), " recommended"),
      make("span", {}, make("i", { class: "line-key tokens-key" }), " tokens"),
      make("span", {}, make("i", { class: "line-key characters-key" }), " characters"),
      make("span", {}, make("i", { class: "zone-key" }), " dead zone of the fixed rule: longer than preserve_chars, not longer than 3 × that"),
      make("span", {}, make("i", { text: "×" }), " and hatched: never fits"),
      make("span", { text: `Drag in any picture to move the line.${several}` }),
    );
  }

  function recommend() {
    reason.textContent = answers.reason;
    take.hidden = answers.best === null;
    say.dataset.outcome = answers.best === null ? "stuck" : "fits";
    showRefused(answers.most_refused);
    root.dataset.best = answers.best ?? "";
  }

  function fillTable() {
    if (!table.open) return;
    body.replaceChildren(...record.values.map((characters, index) => make("tr", {},
      ...[few(characters), never(answers.calls[index]) ? "never fits" : few(answers.calls[index]), few(answers.characters[index]), few(answers.tokens[index])].map((text) => make("td", { text })))));
  }

  // The sentence is as high as its longest, so that nothing jumps while the line moves.
  function reserve() {
    now.style.minHeight = "";
    const texts = answers.words.map((text, index) => `${text} ${answers.beside[index]}`).sort((a, b) => b.length - a.length).slice(0, 3);
    lead.textContent = `preserve_chars ${few(record.values[record.values.length - 1])}:`;
    let highest = 0;
    for (const text of texts) {
      words.textContent = text;
      highest = Math.max(highest, now.offsetHeight);
    }
    now.style.minHeight = `${highest}px`;
  }

  function all() {
    knobs.scale(record.values, state.most);
    recommend();
    explain();
    fillTable();
    value = record.values[at(state.preserve_chars)];
    size();
  }

  function setState(next) {
    state = next;
    showRefused(state.most_refused);
    progress.hidden = !state.running;
    bar.value = state.to_try ? state.tried / state.to_try : 0;
    tried.textContent = `${few(state.tried)} of ${few(state.to_try)} tried`;
    error.textContent = state.error;
    if (x) {
      value = record.values[at(state.preserve_chars)];
      move();
      mark();
    }
  }

  function drag(event) {
    if (event.type === "pointerdown") {
      if (event.button !== 0) return;
      grid.setPointerCapture?.(event.pointerId);
      dragged = event.target.closest("svg:not(.curve)");
    }
    if (!dragged || !(event.buttons & 1)) return;
    const chosen = record.values[at(x.back(event.clientX - dragged.getBoundingClientRect().left))];
    if (chosen !== value) choose(chosen, true);
  }
  let dragged = null;
  grid.addEventListener("pointerdown", drag);
  grid.addEventListener("pointermove", drag);
  grid.addEventListener("pointerup", () => { dragged = null; });

  el.append(keepKeys(root));
  setState(state);
  const resized = new ResizeObserver(size);
  resized.observe(grid);
  all();
  return {
    set(newRecord, newAnswers) {
      // A budget that is new leaves the record as it is, a rule that is new brings both; they come one by one.
      [record, answers] = [newRecord, newAnswers];
      if (answers.rule === record.rule && answers.calls.length === record.values.length) all();
    },
    setState,
    destroy() {
      resized.disconnect();
      root.remove();
    },
  };
}

// The wrapper for Jupyter.
export default {
  render({ model, el }) {
    const names = ["rule", "preserve_chars", "budget", "most", "most_refused", "tried", "to_try", "running", "error", "marked", "marked_by"];
    const state = () => Object.fromEntries(names.map((name) => [name, model.get(name)]));
    const send = (name) => (value) => {
      model.set(name, value);
      model.save_changes();
    };
    const on = {
      ...Object.fromEntries(["rule", "preserve_chars", "budget", "most_refused"].map((name) => [name, send(name)])),
      stop: () => model.send({ do: "stop" }),
    };
    let tuner = null;
    const wait = make("p", { class: "ctx", text: "Trying the first values of preserve_chars …", role: "status" });
    el.append(wait);
    const build = () => {
      const texts = [model.get("record"), model.get("answers")];
      if (!texts[0] || !texts[1]) {
        wait.textContent = model.get("error") || wait.textContent;
        return;
      }
      const [record, answers] = texts.map((text) => JSON.parse(text));
      if (tuner) tuner.set(record, answers);
      else {
        wait.remove();
        tuner = renderTuner({ record, answers, state: state(), el, on });
      }
    };
    const turn = () => (tuner ? tuner.setState(state()) : build());
    const heard = { "change:record": build, "change:answers": build, ...Object.fromEntries(names.map((name) => [`change:${name}`, turn])) };
    for (const [event, hear] of Object.entries(heard)) model.on(event, hear);
    build();
    return () => {
      for (const [event, hear] of Object.entries(heard)) model.off(event, hear);
      tuner?.destroy();
    };
  },
};
