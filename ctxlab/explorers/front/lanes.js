// Lanes: what policies made of the messages of one conversation, a column a message, the same columns in every lane. From
// the records of ctxlab/figures/lanes.py; nothing is decided here. The file parts.js stands before this one.

const LANE = { top: 20, height: 40, bottom: 20 };
const HUES = { "user text": "user", "assistant text": "assistant", toolUse: "use", toolResult: "result", media: "media", reasoning: "reasoning" };
let hatches = 0;

// The colour of a kind of content, as the theme has it.
const hueOf = (kind) => `var(--ctx-${HUES[kind] ?? "other"})`;

// Where the messages [first, last) of a picture are across, in columns of `size` messages (the last may have fewer), with
// `left` and `right` pixels kept free.
function axisOf({ first, last, size, width, left = 0, right = 0 }) {
  const unit = Math.max(1, width - left - right) / Math.max(last - first, 1);
  const edge = (message) => left + (Math.max(first, Math.min(last, message)) - first) * unit;
  return {
    unit, edge, start: left, end: width - right,
    column: (message) => Math.floor((message - first) / size),
    left: (column) => edge(first + column * size),
    wide: (column) => edge(first + (column + 1) * size) - edge(first + column * size),
    message: (x) => Math.max(first, Math.min(last - 1, first + Math.floor((x - left) / unit))),
  };
}

function hatchOf(svg) {
  const id = `ctx-hatch-${(hatches += 1)}`;
  const pattern = draw("pattern", { id, width: 6, height: 6, patternUnits: "userSpaceOnUse", patternTransform: "rotate(45)" });
  pattern.append(draw("line", { x1: 0, y1: 0, x2: 0, y2: 6, class: "hatch-line" }));
  const defs = draw("defs");
  defs.append(pattern);
  svg.append(defs);
  return `url(#${id})`;
}

// One lane as an SVG: solid stays, hatched goes, a notch is shortened, a line is the cut, × is a broken rule.
function laneOf({ bars, strip, size = 1, first = 0, width, label, at = axisOf({ first, last: first + bars.length * size, size, width }) }) {
  const { top, height, bottom } = LANE;
  const svg = draw("svg", { width, height: top + height + bottom, viewBox: `0 0 ${width} ${top + height + bottom}`, role: "img", "aria-label": label });
  const hatch = hatchOf(svg);
  const base = top + height;
  bars.forEach((bar, number) => {
    const fate = strip.fates[number];
    const room = at.wide(number);
    const gap = room > 8 ? Math.min(3, room / 8) : 0;
    const x = at.left(number) + gap / 2;
    const wide = Math.max(room - gap, 0.7);
    const tall = 6 + ((height - 6) * Math.sqrt(bar.height)) / 10;
    const group = draw("g", { class: `column ${{ k: "stays", d: "goes", c: "short", m: "mixed" }[fate]}` });
    const kept = fate === "k" ? tall : fate === "d" ? 0 : Math.max(3, (tall * strip.shares[number]) / 100);
    if (kept > 0) group.append(draw("rect", { x, y: base - kept, width: wide, height: kept, fill: hueOf(bar.kind) }));
    if (kept < tall) {
      group.append(draw("rect", { x, y: base - tall, width: wide, height: tall - kept, fill: hueOf(bar.kind), class: "gone" }));
      group.append(draw("rect", { x, y: base - tall, width: wide, height: tall - kept, fill: hatch }));
    }
    if (fate === "c" && room > 7) {
      const [mid, step] = [base - Math.min(kept, tall - 2), wide / 6];
      group.append(draw("path", { class: "notch", d: `M${x} ${mid}l${step} -3l${step} 6l${step} -6l${step} 6l${step} -6l${step} 3` }));
    }
    svg.append(group);
  });
  svg.append(draw("line", { x1: at.start, x2: at.end, y1: base + 0.5, y2: base + 0.5, class: "floor" }));
  if (strip.cut >= 0) {
    const x = at.edge(strip.cut);
    svg.append(draw("line", { x1: x, x2: x, y1: 3, y2: base + 5, class: "cut" }));
    const left = x < width / 2;
    svg.append(draw("text", { x: x + (left ? 5 : -5), y: 13, class: "cut-label", "text-anchor": left ? "start" : "end" }, `cut at ${few(strip.cut)}`));
  }
  if (strip.anchor >= 0) {
    const x = at.edge(strip.anchor) + at.unit / 2;
    svg.append(draw("path", { class: "anchor", d: `M${x - 5} ${base + 13}h10l-5 -8z` }));
    const left = x < width / 2;
    svg.append(draw("text", { x: x + (left ? 9 : -9), y: base + 14, class: "anchor-label", "text-anchor": left ? "start" : "end" }, "anchor"));
  }
  const seen = new Set();
  for (const mark of strip.marks) {
    const place = at.column(mark.message < 0 ? Math.max(strip.cut, first) : mark.message);
    if (place < 0 || place >= bars.length || seen.has(place)) continue;
    seen.add(place);
    const x = at.left(place) + at.wide(place) / 2;
    const sign = draw("g", { class: "broken" });
    sign.append(draw("circle", { cx: x, cy: base + 11, r: 6.5 }), draw("path", { d: `M${x - 3} ${base + 8}l6 6M${x - 3} ${base + 14}l6 -6` }));
    svg.append(sign);
  }
  return svg;
}

const STATUS = { accepted: ["✓", "accepts"], refused: ["×", "refuses"], unknown: ["?", "unknown"] };

// Who takes what is left: counts, and behind them each provider with its words.
function answersOf(answers, open = false) {
  const count = (status) => answers.filter((answer) => answer.status === status).length;
  const [refused, unknown] = [count("refused"), count("unknown")];
  const words = !refused && !unknown ? `✓ all ${answers.length} accept it`
    : [refused && `× ${refused} of ${answers.length} refuse it`, unknown && `? ${unknown} unknown`].filter(Boolean).join(", ");
  const summary = make("summary", { title: "Show what each provider makes of it", class: refused ? "refused" : unknown ? "unknown" : "accepted", text: words });
  const list = make("ul", { class: "answers" });
  for (const status of ["refused", "unknown", "accepted"]) {
    for (const answer of answers.filter((one) => one.status === status)) {
      const [sign, word] = STATUS[status];
      const item = make("li", { class: status }, make("b", { text: `${sign} ${answer.label}` }), ` ${word}`);
      if (answer.text) item.append(make("q", { text: answer.text }));
      list.append(item);
    }
  }
  return make("details", { open }, summary, list);
}

// Draws again when the width of an element changes. Returns how to stop.
function onWidth(el, redraw) {
  let width = 0;
  const watcher = new ResizeObserver(([entry]) => {
    const now = Math.floor(entry.contentRect.width);
    if (now && now !== width) {
      width = now;
      redraw(now);
    }
  });
  watcher.observe(el);
  return () => watcher.disconnect();
}
