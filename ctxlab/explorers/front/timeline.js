// Draws the timeline: two pictures on one axis of messages, from the records `picture`, `heights` and `now`. It decides
// nothing. All of it is drawn anew at each change, as a dozen paths, which takes a few milliseconds however long the
// session is. Texts are set as text, never as markup, and styles one by one, which a strict page allows.
//
// renderTimeline({values, el, on}) needs no kernel and returns {set, destroy}. Without on.span nothing can be dragged.

const SVG = "http://www.w3.org/2000/svg";
const HEIGHT = 430;
const LEFT = 64;
const RIGHT = 14;
const ABOVE = { top: 24, bottom: 208 };
const BELOW = { top: 252, bottom: 398 };
const GAP = 4;
const KEYS = { ArrowLeft: -1, ArrowRight: 1, PageUp: -10, PageDown: 10 };
let pictures = 0;

const number = (value) => Math.round(value).toLocaleString("en");
const short = (value) => (value < 1e6 ? number(value) : `${(value / 1e6).toLocaleString("en")}M`);

function ticks(highest, most, whole = true) {
  const rough = highest / most;
  const power = 10 ** Math.floor(Math.log10(Math.max(rough, 1e-9)));
  let step = [1, 2, 5, 10].map((factor) => factor * power).find((size) => size >= rough);
  if (whole) step = Math.max(1, step);
  return { step, upTo: Array.from({ length: Math.floor(highest / step) + 1 }, (_, at) => at * step) };
}

// The colour of the record, unless the theme has a lighter one of the same hue.
const themed = (name, colour) => `var(--ctxlab-${name.replace(" ", "-")}, ${colour})`;

function make(parent, tag, attributes = {}, text) {
  const made = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name === "colours") Object.assign(made.style, value);
    else made.setAttribute(name, value);
  }
  if (text !== undefined) made.textContent = text;
  parent.append(made);
  return made;
}

const box = (x, y, width, height) => `M${x.toFixed(2)} ${y.toFixed(2)}h${width.toFixed(2)}v${height.toFixed(2)}h${(-width).toFixed(2)}z`;

const SYMBOLS = {
  "triangle-up": (x, y, r) => `M${x} ${y - r}L${x + r} ${y + 0.8 * r}L${x - r} ${y + 0.8 * r}z`,
  diamond: (x, y, r) => `M${x} ${y - r}L${x + r} ${y}L${x} ${y + r}L${x - r} ${y}z`,
  circle: (x, y, r) => `M${x - r} ${y}a${r} ${r} 0 1 0 ${2 * r} 0a${r} ${r} 0 1 0 ${-2 * r} 0z`,
  "x-thin": (x, y, r) => `M${x - r} ${y - r}L${x + r} ${y + r}M${x - r} ${y + r}L${x + r} ${y - r}`,
};

// Where things are: messages to pixels across, tokens to pixels up.
function scales(picture, width) {
  const count = Math.max(picture.last - picture.first, 1);
  const unit = (width - LEFT - RIGHT) / count;
  const up = (from, most) => (tokens) => from.bottom - (Math.min(tokens, most) / most) * (from.bottom - from.top);
  return {
    unit,
    edge: (message) => LEFT + (message - picture.first) * unit,
    centre: (message) => LEFT + (message - picture.first + 0.5) * unit,
    above: up(ABOVE, picture.top),
    below: up(BELOW, picture.ceiling),
    right: width - RIGHT,
  };
}

function axes(svg, picture, at) {
  const grid = make(svg, "g", { class: "grid" });
  const marks = make(svg, "g", { class: "ticks" });
  for (const [area, most, scale] of [[ABOVE, picture.top, at.above], [BELOW, picture.ceiling, at.below]]) {
    for (const value of ticks(most, area === ABOVE ? 4 : 5).upTo) {
      const y = Math.round(scale(value)) + 0.5;
      make(grid, "path", { d: `M${LEFT} ${y}H${at.right}` });
      make(marks, "text", { x: LEFT - 7, y: y + 4, "text-anchor": "end" }, short(value));
    }
  }
  const room = Math.max(2, Math.floor((at.right - LEFT) / 70));
  const { step } = ticks(picture.last - picture.first, room);
  for (let index = Math.ceil(picture.first / step) * step; index < picture.last; index += step) {
    const x = at.centre(index);
    make(grid, "path", { class: "tick", d: `M${x} ${BELOW.bottom}v5` });
    make(marks, "text", { x, y: BELOW.bottom + 18, "text-anchor": "middle" }, number(index));
  }
  const title = (y, text) => make(svg, "text", { class: "title", x: LEFT, y }, text);
  title(ABOVE.top - 8, picture.above);
  title(BELOW.top - 8, picture.below);
}

// The parts of a bar: [from, to, gone] in messages.
function* parts(start, end, gaps) {
  let from = start;
  for (const [first, last] of gaps) {
    if (last <= from) continue;
    if (first >= end) break;
    if (first > from) yield [from, first, false];
    const to = Math.min(last, end);
    yield [Math.max(from, first), to, true];
    from = to;
  }
  if (from < end) yield [from, end, false];
}

function bars(svg, picture, now, at, hatch) {
  const { size, first, last, stacks } = picture;
  const solid = stacks.map(() => []);
  const pale = stacks.map(() => []);
  const away = [];
  const inset = size === 1 && at.unit > 3 ? 0.09 : 0;
  const lost = new Map(now.lost.map(([bar, stack, tokens]) => [bar * stacks.length + stack, tokens]));
  for (let bar = 0, start = first; start < last; bar++, start += size) {
    const end = Math.min(start + size, last);
    for (const [from, to, gone] of parts(start, end, now.gaps)) {
      const x = at.edge(from + inset);
      const width = Math.max(at.edge(to - inset) - x, 0.6);
      let below = 0;
      let cut = 0;
      stacks.forEach((stack, number) => {
        const missing = lost.get(bar * stacks.length + number) ?? 0;
        const tokens = stack.tokens[bar] - missing;
        cut += Math.max(missing, 0);
        if (tokens <= 0) return;
        const y = at.above(below + tokens);
        (gone ? pale : solid)[number].push(box(x, y, width, at.above(below) - y));
        below += tokens;
      });
      if (cut > 0) away.push(box(x, at.above(below + cut), width, at.above(below) - at.above(below + cut)));
    }
  }
  const layer = make(svg, "g", { class: "bars" });
  stacks.forEach(({ kind, colour }, number) => {
    for (const [name, paths] of [["gone", pale[number]], ["stays", solid[number]]]) {
      if (paths.length) make(layer, "path", { class: name, colours: { fill: themed(kind, colour) }, d: paths.join("") });
    }
  });
  if (away.length) make(svg, "path", { class: "away", fill: `url(#${hatch})`, d: away.join("") });
  const going = now.gaps.map(([from, to]) => box(at.edge(from), ABOVE.top, at.edge(to) - at.edge(from), ABOVE.bottom - ABOVE.top));
  if (going.length) make(svg, "path", { class: "going", fill: `url(#${hatch})`, d: going.join("") });
  const sign = (where, name, shape) => {
    const paths = where.map((index) => shape(at.centre(index), ABOVE.bottom + 8));
    if (paths.length) make(svg, "path", { class: name, d: paths.join("") });
  };
  sign(picture.pinned, "pinned", (x, y) => `M${x - 4} ${y - 4}h8l-4 7z`);
  sign(picture.media, "media", (x, y) => `M${x - 3} ${y + 5}h6v6h-6z`);
}

function line(svg, picture, heights, at) {
  const points = [];
  for (let bar = 0, start = picture.first; start < picture.last; bar++, start += picture.size) {
    const y = at.below(heights.line[bar]).toFixed(2);
    const end = Math.min(start + picture.size, picture.last);
    points.push(`${bar ? "L" : "M"}${at.edge(start).toFixed(2)} ${y}H${at.edge(end).toFixed(2)}`);
  }
  if (points.length) make(svg, "path", { class: "line", d: points.join("") });
}

function marks(svg, picture, heights, now, at) {
  const layer = make(svg, "g", { class: "marks" });
  const crowded = ((at.right - LEFT) / Math.max(picture.marks.length, 1)) < 12;
  const isGone = (index) => now.gaps.some(([first, last]) => first <= index && index < last);
  const groups = new Map();
  picture.marks.forEach(([index, kind], mark) => {
    const style = picture.styles[kind];
    const big = style.symbol === "triangle-up" ? 7 : style.symbol === "x-thin" ? 3 : 6;
    const radius = crowded ? (style.symbol === "x-thin" ? 2 : big * 0.72) : big;
    const pale = isGone(index) || index < now.start;
    const key = `${kind} ${now.fits[mark]} ${pale}`;
    if (!groups.has(key)) groups.set(key, { style, fits: now.fits[mark] === "1", pale, paths: [] });
    groups.get(key).paths.push(SYMBOLS[style.symbol](at.centre(index), at.below(heights.marks[mark]), radius));
  });
  for (const [, { style, fits, pale, paths }] of [...groups].sort().reverse()) {
    const thin = style.symbol === "x-thin";
    const colour = themed(style.symbol, style.colour);
    make(layer, "path", {
      class: `${thin ? "refused" : fits ? "fits" : "over"}${pale ? " pale" : ""}`,
      "data-word": style.word, "data-count": paths.length, d: paths.join(""),
      ...(thin ? {} : { colours: fits ? { fill: colour, stroke: colour } : { stroke: colour } }),
    });
  }
}

// A label beside an upright line, on the side with more room, pushed in where it would leave the picture.
function beside(svg, name, x, y, text, at, framed) {
  const group = make(svg, "g", { class: `label ${name}` });
  const frame = framed ? make(group, "rect") : null;
  const words = make(group, "text", { y: y + 15 }, text);
  const wide = words.getComputedTextLength() + 12;
  const left = x < (LEFT + at.right) / 2 ? x + GAP : x - GAP - wide;
  const from = Math.max(LEFT, Math.min(left, at.right - wide));
  words.setAttribute("x", from + 6);
  if (frame) for (const [key, value] of Object.entries({ x: from, y, width: wide, height: 21 })) frame.setAttribute(key, value);
}

// A line down both parts; where it would cross the title of the lower one, it makes room for it.
function upright(svg, kind, x) {
  const titles = [...svg.querySelectorAll(".title")];
  const end = LEFT + titles[titles.length - 1].getComputedTextLength() + GAP;
  const room = x < end ? `V${BELOW.top - 22}M${x} ${BELOW.top - 3}` : "";
  make(svg, "path", { class: kind, d: `M${x} ${ABOVE.top}${room}V${BELOW.bottom}` });
}

function lines(svg, picture, now, at) {
  const seen = (index) => index >= picture.first && index <= picture.last;
  const over = at.below(now.budget);
  if (now.budget <= picture.ceiling) {
    make(svg, "path", { class: "budget", d: `M${LEFT} ${over.toFixed(1)}H${at.right}` });
  }
  const high = now.budget > 0.45 * picture.ceiling;
  const under = now.budget > 0.85 * picture.ceiling;
  make(svg, "text", {
    class: "budget-label", x: high ? at.right - 2 : LEFT + 4, y: under ? over + 15 : over - 6,
    "text-anchor": high ? "end" : "start",
  }, now.budget_label);
  if (seen(now.start)) {
    const x = at.edge(now.start);
    upright(svg, "start", x);
    beside(svg, "start", x, BELOW.top, now.start_label, at, false);
  }
  if (now.cut >= 0 && seen(now.cut)) {
    const x = at.edge(now.cut);
    upright(svg, "cut", x);
    beside(svg, "cut", x, ABOVE.top, now.cut_label, at, true);
  }
}

export function renderTimeline({ values, el, on = {} }) {
  el.classList.add("ctxlab-figure");
  Object.assign(el.dataset, { left: LEFT, right: RIGHT }); // whoever draws on the same axis reads it here
  el.tabIndex = 0;
  el.setAttribute("role", "application");
  el.setAttribute("aria-roledescription", "picture");
  const hatch = `ctxlab-hatch-${++pictures}`;
  const svg = document.createElementNS(SVG, "svg");
  svg.setAttribute("height", HEIGHT);
  svg.setAttribute("aria-hidden", "true");
  const tip = document.createElement("div");
  tip.className = "ctxlab-tip";
  tip.hidden = true;
  el.append(svg, tip);
  let width = 0;
  let at = null;
  let drawn = null;
  let due = 0;

  const draw = () => {
    due = 0;
    const { picture, now, heights } = values;
    if (!width || !picture.stacks) return;
    at = scales(picture, width);
    if (picture !== drawn) hide();
    drawn = picture;
    svg.setAttribute("width", width);
    svg.replaceChildren();
    const defs = make(svg, "defs");
    const pattern = make(defs, "pattern", {
      id: hatch, width: 7, height: 7, patternUnits: "userSpaceOnUse", patternTransform: "rotate(45)",
    });
    make(pattern, "path", { class: "hatch", d: "M0 0V7" });
    const over = at.below(now.budget);
    make(svg, "path", { class: "over", d: box(LEFT, BELOW.top, at.right - LEFT, Math.max(0, over - BELOW.top)) });
    if (now.focus >= picture.first && now.focus < picture.last) {
      const wide = Math.max(at.unit, 2);
      make(svg, "path", { class: "focus", d: box(at.centre(now.focus) - wide / 2, ABOVE.top, wide, BELOW.bottom - ABOVE.top) });
    }
    axes(svg, picture, at);
    bars(svg, picture, now, at, hatch);
    line(svg, picture, heights, at);
    lines(svg, picture, now, at);
    marks(svg, picture, heights, now, at);
    el.setAttribute("aria-label", values.label);
    el.dataset.drawn = values.drawing;
    if (el.matches(":focus-visible")) tell();
  };
  // In the next frame, and once a frame: what came in between is drawn with it.
  const soon = () => {
    if (!due) due = requestAnimationFrame(draw);
  };

  const show = (x, y, text) => {
    tip.textContent = text;
    tip.hidden = false;
    const wide = tip.offsetWidth;
    const left = x + 14 + wide > width ? x - 14 - wide : x + 14;
    tip.style.left = `${Math.max(0, Math.min(left, width - wide))}px`;
    tip.style.top = `${Math.max(0, Math.min(y - tip.offsetHeight / 2, HEIGHT - tip.offsetHeight))}px`;
  };
  const tell = () => {
    const { picture, now } = values;
    if (now.focus < picture.first || now.focus >= picture.last) return;
    show(at.centre(now.focus), (ABOVE.bottom + BELOW.top) / 2, now.about.join("\n"));
  };
  const hide = () => {
    tip.hidden = true;
  };
  const leave = () => {
    hide();
    from = null;
    svg.querySelector(".chosen")?.remove();
  };
  const under = (event) => {
    const { picture } = values;
    const bounds = svg.getBoundingClientRect();
    const x = event.clientX - bounds.left;
    if (!at || x < LEFT || x > at.right) return null;
    const index = Math.min(picture.last - 1, picture.first + Math.floor((x - LEFT) / at.unit));
    return { index, bar: Math.floor((index - picture.first) / picture.size), x, y: event.clientY - bounds.top };
  };
  const hover = (event) => {
    const found = under(event);
    if (!found) return hide();
    const { picture, now, heights } = values;
    const start = picture.first + found.bar * picture.size;
    const all = [...parts(start, Math.min(start + picture.size, picture.last), now.gaps)];
    const fate = all.every(([, , gone]) => gone) ? "goes" : all.some(([, , gone]) => gone) ? "goes in part" : "stays";
    const room = now.room[found.bar] === "1" ? "within the budget" : "above the budget";
    show(found.x, found.y, `${picture.hover[found.bar]}\nstarting here: ${number(heights.line[found.bar])} tokens, ${room}\n${fate}`);
  };
  const want = (index) => {
    on.focus?.(Math.max(0, Math.min(values.picture.count - 1, index)));
  };
  // A click puts a message in focus; a drag across the picture shows the messages that it went over.
  let from = null;
  const press = (event) => {
    from = event.button === 0 ? under(event) : null;
  };
  const drag = (event) => {
    hover(event);
    const to = from && under(event);
    if (!to || !on.span || Math.abs(to.x - from.x) < 6) return;
    const x = Math.min(from.x, to.x);
    svg.querySelector(".chosen")?.remove();
    make(svg, "path", { class: "chosen", d: box(x, ABOVE.top, Math.abs(to.x - from.x), BELOW.bottom - ABOVE.top) });
  };
  const release = (event) => {
    const to = from && under(event);
    const moved = svg.querySelector(".chosen");
    moved?.remove();
    if (to && moved) on.span([Math.min(from.index, to.index), Math.max(from.index, to.index) + 1]);
    else if (to) want(to.index);
    from = null;
  };
  const keys = (event) => {
    if (event.altKey || event.ctrlKey || event.metaKey) return;
    if (event.key === "Escape") return hide();
    const wanted = { Home: 0, End: values.picture.count - 1 }[event.key] ?? values.focus + (KEYS[event.key] ?? NaN);
    if (Number.isNaN(wanted)) return;
    event.preventDefault();
    event.stopPropagation();
    want(wanted);
  };

  const sizes = new ResizeObserver(([entry]) => {
    const wide = Math.round(entry.contentRect.width);
    if (wide && wide !== width) {
      width = wide;
      draw();
    }
  });
  sizes.observe(el);
  svg.addEventListener("mousemove", drag);
  svg.addEventListener("mouseleave", leave);
  svg.addEventListener("mousedown", press);
  svg.addEventListener("mouseup", release);
  el.addEventListener("keydown", keys);
  el.addEventListener("focus", () => at && el.matches(":focus-visible") && tell());
  el.addEventListener("blur", hide);
  return {
    set(changed) {
      values = { ...values, ...changed };
      soon();
    },
    destroy() {
      cancelAnimationFrame(due);
      sizes.disconnect();
    },
  };
}

function render({ model, el }) {
  const names = ["picture", "heights", "now", "label", "focus", "drawing"];
  const send = (name) => (value) => {
    model.set(name, value);
    model.save_changes();
  };
  const values = Object.fromEntries(names.map((name) => [name, model.get(name)]));
  const shown = renderTimeline({ values, el, on: { focus: send("focus"), span: send("span") } });
  const heard = names.map((name) => [`change:${name}`, () => shown.set({ [name]: model.get(name) })]);
  for (const [event, hear] of heard) model.on(event, hear);
  return () => {
    for (const [event, hear] of heard) model.off(event, hear);
    shown.destroy();
  };
}

export default { render };
