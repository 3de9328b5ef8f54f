// One session under several policies, a lane each, aligned by message, from the record of ctxlab/explorers/compare.py.
// It decides nothing. parts.js and lanes.js stand before this file; text from a session only becomes textContent.

const FATES = { k: "stays", d: "goes", c: "is shortened", m: "goes in part" };
const SHOWN = 2; // broken rules that are listed below a lane

export function renderCompare({ record, focus, el, on = {} }) {
  const headline = make("p", { role: "status" });
  const lanes = make("ol", { class: "lanes" });
  const about = make("p", { class: "about", "aria-live": "polite" });
  const sight = make("span", { class: "soft" });
  const keep = make("button", { type: "button", text: "Keep this policy as a lane", title: "It stays below while you choose another one above", onclick: () => on.wish?.("keep") });
  const reset = make("button", { type: "button", text: "Usual lanes", title: "Compare with the releases that differ, careful and summarizing", onclick: () => on.wish?.("reset") });
  const root = make("section", { class: "ctx ctx-compare", "aria-label": "The same session under several policies", tabindex: 0 },
    make("div", { class: "say" }, headline), make("div", { class: "bar" }, keep, reset, sight), lanes, about,
    make("div", { class: "keys" },
      make("span", {}, make("i", { class: "hatched" }), "hatched: goes"), make("span", {}, make("i", { class: "sign", text: "⌇" }), "zigzag: shortened"),
      make("span", {}, make("i", { class: "sign", text: "┃" }), "the cut"), make("span", {}, make("i", { class: "sign round", text: "▲" }), "kept as the anchor"),
      make("span", {}, make("i", { class: "sign bad", text: "×" }), "breaks a rule")));
  el.replaceChildren(keepKeys(root));
  let stops = [];

  const column = () => Math.floor((focus - record.first) / record.size);
  const choose = (at) => {
    const wanted = record.first + Math.max(0, Math.min(record.bars.length - 1, at)) * record.size;
    if (Math.floor((focus - record.first) / record.size) !== Math.max(0, Math.min(record.bars.length - 1, at))) on.focus?.(wanted);
  };
  function mark() {
    const at = column();
    for (const band of root.querySelectorAll(".band")) {
      const unit = Number(band.dataset.unit);
      band.setAttribute("x", at * unit);
      band.setAttribute("width", Math.max(unit, 2));
      band.style.display = at < 0 || at >= record.bars.length ? "none" : "";
    }
    if (!record.bars[at]) return;
    const fates = new Map();
    for (const strip of record.strips) fates.set(FATES[strip.fates[at]], [...(fates.get(FATES[strip.fates[at]]) ?? []), strip.brief]);
    about.textContent = `In focus, ${record.bars[at].words}: ${[...fates].map(([fate, names]) => `${fate} under ${names.length === record.strips.length ? "all" : names.join("; ")}`).join(". It ")}.`;
  }
  function drawLane(strip, holder, width) {
    const words = `${strip.name}: ${strip.outcome}. ${strip.cut >= 0 ? `Cut at message ${strip.cut}.` : "Nothing is cut."} ${strip.sentence}`;
    const shown = { ...strip, marks: strip.marks.filter(({ message }) => message < 0 || (message >= record.first && message < record.first + record.bars.length * record.size)) };
    const svg = laneOf({ bars: record.bars, strip: shown, size: record.size, first: record.first, width, label: words });
    const unit = width / record.bars.length;
    svg.prepend(draw("rect", { class: "band", x: -999, y: 0, height: "100%", width: unit, "data-unit": unit }));
    svg.addEventListener("click", (event) => choose(Math.floor((event.clientX - svg.getBoundingClientRect().left) / unit)));
    holder.replaceChildren(svg);
    mark();
  }
  const marksOf = (strip) => make("ul", { class: "marks" },
    ...strip.marks.slice(0, SHOWN).map(({ rule, message, detail }) => make("li", {}, make("b", { text: `× ${rule}` }), ` at ${message < 0 ? "a new message" : `message ${few(message)}`}: ${detail}`)),
    ...(strip.marks.length > SHOWN ? [make("li", { text: `… and ${few(strip.marks.length - SHOWN)} more broken rules` })] : []));
  const facts = (strip) => make("div", { class: "facts" },
    make("p", { text: `${plural(strip.rounds, "round")}, ${plural(strip.calls, "refused call")}` }),
    make("p", { text: `${few(strip.tokens)} tokens left, ${plural(strip.left, "message")} kept` }));

  function item(strip, number) {
    const holder = make("div", { class: "picture" });
    const fits = strip.outcome === "fits";
    const buttons = number === 0 ? [make("p", { text: "the policy chosen above" })] : [
      make("button", { type: "button", text: "Choose", "aria-label": `Choose ${strip.name}`, onclick: () => on.wish?.("show", number) }),
      make("button", { type: "button", text: "Remove", "aria-label": `Remove ${strip.name}`, onclick: () => on.wish?.("remove", number) })];
    const where = strip.where >= 0 ? [" ", make("button", { type: "button", text: `Go to message ${few(strip.where)}`, onclick: () => on.focus?.(strip.where) })] : [];
    stops.push(onWidth(holder, (width) => drawLane(strip, holder, width)));
    return make("li", { class: number === 0 ? "lane chosen" : "lane" },
      make("div", { class: "who" }, make("b", { text: strip.name }), make("p", { text: strip.about }), ...buttons),
      make("div", { class: "what" }, holder, ...(strip.difference ? [make("p", { class: "difference" }, strip.difference, ...where)] : []), marksOf(strip)),
      make("div", { class: "then" }, make("b", { class: fits ? "accepted" : "refused", text: fits ? "✓ fits" : `× ${strip.outcome}` }),
        ...(strip.error ? [make("p", { class: "soft", text: `“${strip.error}”` })] : []), facts(strip), answersOf(strip.answers)));
  }
  function set(next) {
    record = next;
    stops.forEach((stop) => stop());
    stops = [];
    const held = record.strips.filter((strip) => strip.outcome !== "fits").map((strip) => strip.brief);
    headline.textContent = `${plural(record.count, "message")}, ${few(record.tokens)} tokens, budget ${few(record.budget)}. `
      + `${record.strips.length - held.length} of ${plural(record.strips.length, "policy").replace(/policys$/, "policies")} make it fit.${held.length ? ` Stuck: ${held.join("; ")}.` : ""}`;
    root.querySelector(".say").dataset.outcome = record.strips[0]?.outcome ?? "fits";
    sight.textContent = record.sight;
    keep.disabled = record.full;
    reset.disabled = !record.chosen;
    lanes.replaceChildren(...record.strips.map(item));
    mark();
  }
  root.addEventListener("keydown", (event) => {
    if (event.target !== root) return;
    const wanted = { ArrowLeft: column() - 1, ArrowRight: column() + 1, Home: 0, End: record.bars.length - 1 }[event.key];
    if (wanted === undefined) return;
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
    destroy: () => stops.forEach((stop) => stop()),
  };
}

function render({ model, el }) {
  let shown = null;
  const changed = () => {
    if (!model.get("record")) return;
    const record = JSON.parse(model.get("record"));
    if (shown) return shown.set(record);
    shown = renderCompare({
      record, focus: model.get("focus"), el,
      on: {
        focus: (message) => { model.set("focus", message); model.save_changes(); },
        wish: (what, lane = 0) => { model.set("wish", { do: what, lane, count: (model.get("wish").count ?? 0) + 1 }); model.save_changes(); },
      },
    });
  };
  const looked = () => shown?.look(model.get("focus"));
  changed();
  model.on("change:record", changed);
  model.on("change:focus", looked);
  return () => {
    model.off("change:record", changed);
    model.off("change:focus", looked);
    shown?.destroy();
  };
}

export default { render };
