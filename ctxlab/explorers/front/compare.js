// One session under several policies, a lane each, aligned by message, from the record of ctxlab/explorers/compare.py.
// It decides nothing. parts.js, lanes.js and matrix.js stand before this file; text from a session only becomes textContent.

const FATES = { k: "stays", d: "goes", c: "is shortened", m: "goes in part" };
const SHOWN = 2; // broken rules that are listed below a lane

export function renderCompare({ record, focus, selected, details, el, on = {} }) {
  const headline = make("p", { role: "status" });
  const ranges = make("p", { class: "ranges" });
  const lanes = make("ol", { class: "lanes" });
  const about = make("p", { class: "about", "aria-live": "polite" });
  const sight = make("span", { class: "soft" });
  const keep = make("button", { type: "button", text: "Keep this policy as a lane", title: "It stays below while you choose another one above", onclick: () => on.wish?.("keep") });
  const reset = make("button", { type: "button", text: "Usual lanes", title: "Compare with the releases that differ, careful and summarizing", onclick: () => on.wish?.("reset") });
  const table = make("div");
  const root = make("section", { class: "ctx ctx-compare", "aria-label": "The same session under several policies", tabindex: 0 },
    make("div", { class: "say" }, headline, ranges), make("div", { class: "bar" }, keep, reset, sight), lanes, about,
    make("div", { class: "keys" },
      make("span", {}, make("i", { class: "hatched" }), "hatched: goes"), make("span", {}, make("i", { class: "sign", text: "⌇" }), "zigzag: shortened"),
      make("span", {}, make("i", { class: "sign", text: "┃" }), "the cut"), make("span", {}, make("i", { class: "sign round", text: "▲" }), "kept as the anchor"),
      make("span", {}, make("i", { class: "sign bad", text: "×" }), "breaks a rule")),
    make("h3", { text: "What each provider makes of what is left" }), table);
  el.replaceChildren(keepKeys(root));
  let stops = [];
  const cells = () => ({
    columns: record.columns, sight: { first: 0, total: record.rows.length, rows: record.rows, sentence: "" }, selected, details,
    hidden: [], every: false, headline: "", bad: false, error: "",
  });
  const matrix = renderMatrix({
    values: cells(), el: table, words: { corner: "policy", label: "Policies and providers" },
    on: {
      selected: (cell) => {
        selected = cell;
        on.selected?.(cell);
      },
      look: (message) => on.focus?.(message),
    },
  });

  const choose = (message) => {
    const wanted = Math.max(0, Math.min(record.count - 1, message));
    if (wanted !== focus) on.focus?.(wanted);
  };
  function mark() {
    const at = Math.floor((focus - record.first) / record.size);
    for (const band of root.querySelectorAll(".band")) {
      const unit = Number(band.dataset.unit);
      const wide = Math.max(unit, 2);
      band.setAttribute("x", Number(band.dataset.start) + (focus - record.first + 0.5) * unit - wide / 2);
      band.setAttribute("width", wide);
      band.style.display = at < 0 || at >= record.bars.length ? "none" : "";
    }
    if (!record.bars[at]) return;
    const fates = new Map();
    for (const strip of record.strips) fates.set(FATES[strip.fates[at]], [...(fates.get(FATES[strip.fates[at]]) ?? []), strip.brief]);
    about.textContent = `In focus, ${record.bars[at].words}: ${[...fates].map(([fate, names]) => `${fate} under ${names.length === record.strips.length ? "all" : names.join("; ")}`).join(". It ")}.`;
  }
  // The room beside the axis of messages: that of the timeline above, so that a message is at the same place in both.
  function room(holder) {
    const figure = holder.closest(".ctxlab")?.querySelector(".ctxlab-figure");
    if (!figure?.dataset.left) return { left: 0, right: 0 };
    const [own, its] = [holder.getBoundingClientRect(), figure.getBoundingClientRect()];
    const end = its.left + Math.round(its.width) - Number(figure.dataset.right);
    return { left: its.left + Number(figure.dataset.left) - own.left, right: own.right - end };
  }
  function drawLane(strip, holder, width) {
    const words = `${strip.name}: ${strip.outcome}. ${strip.cut >= 0 ? `Cut at message ${strip.cut}.` : "Nothing is cut."} ${strip.sentence}`;
    const shown = { ...strip, marks: strip.marks.filter(({ message }) => message < 0 || (message >= record.first && message < record.last)) };
    const at = axisOf({ first: record.first, last: record.last, size: record.size, width, ...room(holder) });
    const svg = laneOf({ bars: record.bars, strip: shown, size: record.size, first: record.first, width, label: words, at });
    svg.prepend(draw("rect", { class: "band", x: -999, y: 0, height: "100%", width: at.unit, "data-unit": at.unit, "data-start": at.start }));
    holder.replaceChildren(svg);
    // Of the place, not of the picture, which may be drawn anew between press and release.
    holder.onclick = (event) => choose(at.message(event.clientX - holder.getBoundingClientRect().left));
    mark();
  }
  const marksOf = (strip) => make("ul", { class: "marks" },
    ...strip.marks.slice(0, SHOWN).map(({ rule, message, detail }) => make("li", {}, make("b", { text: `× ${rule}` }), ` at ${message < 0 ? "a new message" : `message ${few(message)}`}: ${detail}`)),
    ...(strip.marks.length > SHOWN ? [make("li", { text: `… and ${few(strip.marks.length - SHOWN)} more broken rules` })] : []));
  const fact = (value, what) => make("span", { class: "fact" }, make("b", { text: value }), ` ${what}`);
  const takers = (strip) => {
    const refused = strip.answers.filter(({ status }) => status === "refused").length;
    const unknown = strip.answers.filter(({ status }) => status === "unknown").length;
    const words = refused || unknown ? [refused && `× ${refused} of ${strip.answers.length} refuse`, unknown && `?\u00a0${unknown}\u00a0unknown`].filter(Boolean).join(", ") : `✓ all ${strip.answers.length} accept`;
    return make("span", { class: `fact ${refused ? "refused" : unknown ? "unknown" : "accepted"}`, text: words });
  };

  function item(strip, number) {
    const holder = make("div", { class: "picture" });
    const fits = strip.outcome === "fits";
    const buttons = number === 0 ? [make("span", { class: "soft", text: "chosen above" })] : [
      make("button", { type: "button", text: "Choose", "aria-label": `Choose ${strip.name}`, onclick: () => on.wish?.("show", strip.name) }),
      make("button", { type: "button", text: "Remove", "aria-label": `Remove ${strip.name}`, onclick: () => on.wish?.("remove", strip.name) })];
    const where = strip.where >= 0 ? [" ", make("button", { type: "button", text: `Go to message ${few(strip.where)}`, onclick: () => on.focus?.(strip.where) })] : [];
    stops.push(onWidth(holder, (width) => drawLane(strip, holder, width)));
    return make("li", { class: number === 0 ? "lane chosen" : "lane" },
      make("div", { class: "head" },
        make("div", { class: "who" }, make("b", { text: strip.name }), make("div", { class: "buttons" }, ...buttons)),
        make("div", { class: "facts" },
          make("b", { class: `fact ${fits ? "accepted" : "refused"}`, text: fits ? "✓ fits" : `× ${strip.outcome}` }),
          fact(few(strip.rounds), strip.rounds === 1 ? "round" : "rounds"), fact(few(strip.calls), strip.calls === 1 ? "refused call" : "refused calls"),
          fact(few(strip.tokens), "tokens left"), fact(few(strip.left), strip.left === 1 ? "message kept" : "messages kept"), takers(strip))),
      holder,
      make("div", { class: "words" },
        ...(strip.error ? [make("p", { class: "refused", text: `“${strip.error}”` })] : []),
        ...(strip.difference ? [make("p", { class: "difference" }, strip.difference, ...where)] : []),
        marksOf(strip), make("p", { class: "soft", text: strip.about })));
  }
  function set(next) {
    record = next;
    stops.forEach((stop) => stop());
    stops = [];
    const held = lanes.contains(document.activeElement);
    const stuck = record.strips.filter((strip) => strip.outcome !== "fits").map((strip) => strip.brief);
    ranges.textContent = record.ranges;
    headline.textContent = `${plural(record.count, "message")}, ${few(record.tokens)} tokens, budget ${few(record.budget)}. `
      + `${record.strips.length - stuck.length} of ${plural(record.strips.length, "policy").replace(/policys$/, "policies")} make it fit.${stuck.length ? ` Stuck: ${stuck.join("; ")}.` : ""}`;
    root.querySelector(".say").dataset.outcome = record.strips[0]?.outcome ?? "fits";
    sight.textContent = record.sight;
    keep.disabled = record.full;
    reset.disabled = !record.chosen;
    lanes.replaceChildren(...record.strips.map(item));
    if (held) root.focus({ preventScroll: true }); // its button is another one now
    matrix.set(cells());
    mark();
  }
  const steps = { ArrowLeft: -1, ArrowRight: 1, PageUp: -10, PageDown: 10 };
  root.addEventListener("keydown", (event) => {
    if (event.target !== root || event.altKey || event.ctrlKey || event.metaKey) return;
    const wanted = { Home: 0, End: record.count - 1 }[event.key] ?? focus + (steps[event.key] ?? NaN);
    if (Number.isNaN(wanted)) return;
    event.preventDefault();
    choose(wanted);
  });
  set(record);
  return {
    set,
    look(message) {
      focus = message;
      mark();
    },
    tell(next) {
      details = next;
      matrix.set({ details });
    },
    destroy: () => stops.forEach((stop) => stop()),
  };
}

function render({ model, el }) {
  let shown = null;
  const changed = () => {
    if (!model.get("record")) return;
    const record = JSON.parse(model.get("record"));
    if (shown) return shown.set(record);
    const send = (name, value) => {
      model.set(name, value);
      model.save_changes();
    };
    shown = renderCompare({
      record, focus: model.get("focus"), selected: model.get("selected"), details: model.get("details"), el,
      on: {
        focus: (message) => send("focus", message), selected: (cell) => send("selected", cell),
        wish: (what, lane = "") => send("wish", { do: what, lane, count: (model.get("wish").count ?? 0) + 1 }),
      },
    });
  };
  const looked = () => shown?.look(model.get("focus"));
  const told = () => shown?.tell(model.get("details"));
  changed();
  const listeners = [["change:record", changed], ["change:focus", looked], ["change:details", told]];
  listeners.forEach(([name, listener]) => model.on(name, listener));
  return () => {
    listeners.forEach(([name, listener]) => model.off(name, listener));
    shown?.destroy();
  };
}

export default { render };
