// One conversation under several policies, a lane each, aligned by message (ctxlab/figures/lanes.py).
//
// renderReleases({record, el}) needs no kernel and returns {set, destroy}. parts.js and lanes.js stand before this file.

const SHOWN = 3; // broken rules that are listed below a lane

export function renderReleases({ record, el }) {
  const lanes = make("ol", { class: "lanes" });
  const about = make("p", { class: "about", "aria-live": "polite" });
  const keys = make("div", { class: "keys" });
  const said = make("p");
  const root = make("section", { class: "ctx ctx-releases", "aria-label": "The same conversation under several releases", tabindex: 0 },
    make("div", { class: "say" }, said), lanes, about, keys);
  el.replaceChildren(root);
  let focus = -1;
  let stops = [];

  const point = (column) => {
    focus = Math.max(0, Math.min(record.bars.length - 1, column));
    for (const band of root.querySelectorAll(".band")) {
      const unit = Number(band.dataset.unit);
      band.setAttribute("x", focus * unit);
      band.setAttribute("width", unit);
    }
    const where = { k: "stays", d: "goes", c: "is shortened", m: "goes in part" };
    const fates = new Map();
    for (const strip of record.strips) fates.set(where[strip.fates[focus]], [...(fates.get(where[strip.fates[focus]]) ?? []), strip.name]);
    about.textContent = `${record.bars[focus].words}: ${[...fates].map(([fate, names]) => `${fate} under ${names.length === record.strips.length ? "all" : names.join(", ")}`).join("; ")}.`;
  };

  function lane(strip, holder, width) {
    const words = `${strip.name}: ${strip.sentence}. ${strip.cut >= 0 ? `Cut at message ${strip.cut}.` : "Nothing is cut."} ${strip.marks.map((mark) => `${mark.rule} is broken.`).join(" ")}`;
    const svg = laneOf({ bars: record.bars, strip, size: record.size, width, label: words });
    const unit = width / record.bars.length;
    const band = draw("rect", { class: "band", x: -999, y: 0, height: "100%", width: unit, "data-unit": unit });
    svg.prepend(band);
    svg.addEventListener("pointermove", (event) => point(Math.floor((event.clientX - svg.getBoundingClientRect().left) / unit)));
    holder.replaceChildren(svg);
    if (focus >= 0) point(focus);
  }

  function marksOf(strip) {
    const list = make("ul", { class: "marks" });
    for (const mark of strip.marks.slice(0, SHOWN)) {
      const where = mark.message < 0 ? "a new message" : `message ${few(mark.message)}`;
      list.append(make("li", { title: mark.detail }, make("b", { text: `× ${mark.rule}` }), ` at ${where}: ${mark.detail}`));
    }
    if (strip.marks.length > SHOWN) list.append(make("li", { text: `… and ${few(strip.marks.length - SHOWN)} more` }));
    return list;
  }

  function set(next) {
    record = next;
    stops.forEach((stop) => stop());
    stops = [];
    const way = record.occasion === "routine" ? "managed in routine, as after every turn" : `overflowing a budget of ${few(record.budget)} tokens`;
    const stuck = record.strips.filter((strip) => strip.outcome === "stuck").map((strip) => strip.name);
    const clean = record.strips.filter((strip) => !strip.marks.length && strip.outcome === "fits").map((strip) => strip.name);
    const bits = [`${plural(record.count, "message")}, ${few(record.tokens)} tokens, ${way}.`];
    if (stuck.length) bits.push(`Stuck: ${stuck.join(", ")}.`);
    bits.push(clean.length ? `Without breaking a rule: ${clean.join(", ")}.` : "Every one of them breaks a rule or is stuck.");
    said.textContent = bits.join(" ");
    lanes.replaceChildren(...record.strips.map((strip) => {
      const holder = make("div", { class: "picture" });
      const outcome = strip.outcome === "stuck" ? make("b", { class: "refused", text: "× stuck" }) : make("b", { class: "accepted", text: record.occasion === "routine" ? "✓ done" : "✓ fits" });
      const item = make("li", { class: "lane" },
        make("div", { class: "who" }, make("b", { text: strip.name }), make("p", { text: strip.about })),
        make("div", { class: "what" }, holder, marksOf(strip)),
        make("div", { class: "then" }, outcome, make("p", { text: strip.sentence }), answersOf(strip.answers)));
      stops.push(onWidth(holder, (width) => lane(strip, holder, width)));
      return item;
    }));
    const kinds = [...new Set(record.bars.map((bar) => bar.kind))];
    keys.replaceChildren(...kinds.map((kind) => make("span", {}, make("i", { style: `--key: ${hueOf(kind)}` }), kind)),
      make("span", {}, make("i", { class: "hatched" }), "hatched: goes"),
      make("span", {}, make("i", { class: "sign", text: "⌇" }), "zigzag: shortened"),
      make("span", {}, make("i", { class: "sign", text: "┃" }), "the cut"),
      make("span", {}, make("i", { class: "sign round", text: "▲" }), "kept as the anchor"),
      make("span", {}, make("i", { class: "sign bad", text: "×" }), "breaks a rule"));
    const grouped = record.size > 1 ? ` A bar stands for ${record.size} messages.` : "";
    about.textContent = `Point at a message, or use the arrow keys, to read what becomes of it.${grouped}`;
  }
  root.addEventListener("keydown", (event) => {
    const wanted = { ArrowLeft: focus - 1, ArrowRight: focus + 1, Home: 0, End: record.bars.length - 1 }[event.key];
    if (wanted === undefined || event.target.closest("details")) return;
    event.preventDefault();
    event.stopPropagation();
    point(wanted);
  });
  set(record);
  return { set, destroy: () => stops.forEach((stop) => stop()) };
}

function render({ model, el }) {
  const shown = renderReleases({ record: JSON.parse(model.get("record")), el });
  const changed = () => shown.set(JSON.parse(model.get("record")));
  model.on("change:record", changed);
  return () => {
    model.off("change:record", changed);
    shown.destroy();
  };
}

export default { render };
