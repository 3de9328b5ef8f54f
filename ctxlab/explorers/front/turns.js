// Several turns of a session, a restart between them: what was live and what a restart loads, a pair of bars a turn.
//
// renderTurns({record, el}) needs no kernel and returns {set, destroy}. The file parts.js stands before this one.

const HEIGHT = 230;
const TOP = 56;
const LEFT = 46;

export function renderTurns({ record, el }) {
  const summary = make("p", { class: "state" });
  const pictures = make("div", { class: "pictures" });
  const legend = make("p", { class: "legend" },
    make("span", {}, make("i", { class: "live-key" }), " live at the end of the turn"),
    make("span", {}, make("i", { class: "restored-key" }), " what a restart loads"),
    make("span", {}, make("i", { class: "budget-key" }), " token budget"));
  const body = make("tbody");
  const table = make("table", {}, make("thead", {}, make("tr", {},
    ...["what is stored", "turn", "refused calls", "live", "a restart loads", "they differ"].map((text) => make("th", { text, scope: "col" })))), body);
  const root = make("section", { class: "ctx ctx-turns", "aria-label": "Turns" },
    make("div", { class: "say" }, summary), pictures, legend, table);

  function picture(store, most) {
    const width = Math.floor(pictures.clientWidth >= 640 ? (pictures.clientWidth - 20) / 2 : pictures.clientWidth);
    const bottom = HEIGHT - 22;
    const svg = draw("svg", { role: "img", width, height: HEIGHT, viewBox: `0 0 ${width} ${HEIGHT}`, "aria-label": `${store.title}: ${store.turns.map((turn, at) => `turn ${at + 1} ${plural(turn.refused, "refused call")}`).join(", ")}.` });
    const y = (tokens) => bottom - ((bottom - TOP) * tokens) / most;
    svg.append(draw("text", { x: 0, y: 14, class: "title" }, store.title), draw("text", { x: 0, y: 32, class: "tick" }, "tokens"));
    const step = nice(most / 3);
    for (let value = 0; value <= most; value += step) {
      svg.append(draw("line", { x1: LEFT, x2: width, y1: y(value), y2: y(value), class: "grid" }));
      svg.append(draw("text", { x: LEFT - 7, y: y(value) + 4, class: "tick", "text-anchor": "end" }, short(value)));
    }
    const room = (width - LEFT) / store.turns.length;
    store.turns.forEach((turn, at) => {
      const middle = LEFT + room * (at + 0.5);
      const half = Math.min(34, room / 2 - 5);
      const bar = (tokens, x, name) => {
        const rect = draw("rect", { x, y: y(tokens), width: half - 2, height: bottom - y(tokens), class: name });
        rect.append(draw("title", {}, turn.words));
        svg.append(rect);
      };
      bar(turn.live, middle - half, "live");
      bar(turn.restored, middle + 2, "restored");
      const called = turn.fits ? `${few(turn.refused)} refused` : `${few(turn.refused)} refused, stuck`;
      const high = Math.min(y(turn.live), y(turn.restored)) - 6;
      const crossed = Math.abs(high - 4 - y(record.budget)) < 9;
      svg.append(draw("text", { x: middle, y: crossed ? y(record.budget) - 6 : high, class: `called${turn.fits ? "" : " stuck"}`, "text-anchor": "middle" }, called));
      svg.append(draw("text", { x: middle, y: bottom + 15, class: "tick", "text-anchor": "middle" }, `turn ${at + 1}`));
    });
    svg.append(draw("line", { x1: LEFT, x2: width, y1: y(record.budget), y2: y(record.budget), class: "budget" }));
    return svg;
  }

  function show() {
    const all = record.stores.flatMap((store) => store.turns);
    const most = Math.max(record.budget, ...all.map((turn) => Math.max(turn.live, turn.restored))) * 1.02;
    summary.textContent = record.summary;
    if (pictures.clientWidth) pictures.replaceChildren(...record.stores.map((store) => picture(store, most)));
    const size = (tokens, messages) => `${plural(messages, "message")}, ${plural(tokens, "token")}`;
    body.replaceChildren(...record.stores.flatMap((store) => store.turns.map((turn, at) => make("tr", {}, ...[
      store.name, `${at + 1}`, turn.fits ? few(turn.refused) : `${few(turn.refused)}, stuck`,
      size(turn.live, turn.messages[0]), size(turn.restored, turn.messages[1]),
      turn.difference === null ? "no" : `from message ${few(turn.difference)} on`,
    ].map((text) => make("td", { text }))))));
  }

  el.append(keepKeys(root));
  const resized = new ResizeObserver(show);
  resized.observe(root);
  show();
  return {
    set(next) {
      record = next;
      show();
    },
    destroy() {
      resized.disconnect();
      root.remove();
    },
  };
}

export default {
  render({ model, el }) {
    const view = renderTurns({ record: JSON.parse(model.get("record")), el });
    const redo = () => view.set(JSON.parse(model.get("record")));
    model.on("change:record", redo);
    return () => {
      model.off("change:record", redo);
      view.destroy();
    };
  },
};
