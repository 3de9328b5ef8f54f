// Trim points, or policies, against providers, a cell each, from the record of ctxlab/figures/matrix.py. It decides nothing.
//
// renderMatrix({values, el, on, words}) needs no kernel and returns {set, destroy}. With `words` for its corner and its
// label it is the table and the details alone. parts.js and lanes.js stand before this file.

const CELLS = { a: ["✓", "accepted"], r: ["×", "refused"], u: ["?", "unknown"] };
const HEADS = {
  breach: "Breach", answer: "It would answer", "answer-unknown": "Its answer", evidence: "How this is known", sdk: "The SDK, before it sends",
  repair: "To be accepted", limit: "What is not judged", about: "",
};

export function renderMatrix({ values, el, on = {}, words = null }) {
  const headline = make("p", { role: "status" });
  const chips = make("div", { class: "chips", role: "group", "aria-label": "Providers" });
  const shownWords = make("span", { class: "soft" });
  const table = make("table", { role: "grid", "aria-label": words?.label ?? "Trim points and providers" });
  const earlier = make("button", { type: "button", text: "◀ earlier", onclick: () => on.page?.(-1) });
  const later = make("button", { type: "button", text: "later ▶", onclick: () => on.page?.(1) });
  const every = make("input", { type: "checkbox", onchange: () => on.every?.(every.checked) });
  const details = make("div", { class: "details", role: "region", "aria-live": "polite", "aria-label": "The cell in focus" });
  const error = make("p", { class: "error", role: "alert" });
  const root = make("section", { class: "ctx ctx-matrix", "aria-label": words?.label ?? "Invariants" },
    ...(words ? [] : [make("div", { class: "say" }, headline), chips]),
    make("div", { class: "scroll" }, table),
    ...(words ? [] : [make("nav", {}, earlier, later, make("label", {}, every, " every message"), shownWords)]), details, error);
  el.replaceChildren(root);

  const columns = () => values.columns.filter(({ name }) => !values.hidden.includes(name));

  function cells() {
    return [...table.querySelectorAll("td[data-key]")];
  }
  function mark() {
    const [key, name] = values.selected;
    let found = false;
    for (const cell of cells()) {
      const is = Number(cell.dataset.key) === key && cell.dataset.name === name;
      found ||= is;
      cell.setAttribute("aria-selected", String(is));
      cell.tabIndex = is ? 0 : -1;
    }
    if (!found && cells().length) cells()[0].tabIndex = 0;
  }

  function drawTable() {
    const held = document.activeElement?.closest?.("td[data-key]");
    const focused = held && table.contains(held) ? [held.dataset.key, held.dataset.name] : null;
    const names = columns();
    const head = make("tr", {}, make("th", { scope: "col", text: words?.corner ?? "starting at" }), make("th", { scope: "col", class: "what", text: "" }),
      ...names.map(({ label, head }) => make("th", { scope: "col", class: "provider", title: label, text: head })));
    const places = Object.fromEntries(values.columns.map(({ name }, at) => [name, at]));
    const body = values.sight.rows.map((row, number) => make("tr", { class: [row.key < 0 ? "special" : "", row.candidate ? "" : "faint", row.taken ? "taken" : "", row.key >= 0 && values.sight.rows[number - 1]?.key < 0 ? "first" : ""].join(" ") },
      make("th", { scope: "row" }, make("span", { class: `sign ${{ "▲": "user", "◆": "pair" }[row.sign] ?? ""}`, text: row.sign }), ` ${row.head}${row.taken ? " ✂" : ""}`),
      make("td", { class: "what", text: row.about, title: row.about }),
      ...names.map(({ name, label }) => {
        const [sign, word] = CELLS[row.states[places[name]]];
        return make("td", {
          class: `cell ${word}`, "data-key": row.key, "data-name": name, role: "gridcell", tabindex: -1,
          "aria-label": `${row.key < 0 ? row.head : `message ${row.head}`}, ${label}: ${word}`,
          onfocus: () => select(row.key, name), onclick: (event) => event.currentTarget.focus(),
        }, make("b", { text: sign }), make("span", { text: word }));
      })));
    table.replaceChildren(make("thead", {}, head), make("tbody", {}, ...body));
    mark();
    if (focused) cells().find((cell) => cell.dataset.key === focused[0] && cell.dataset.name === focused[1])?.focus({ preventScroll: true });
  }

  function drawChips() {
    chips.replaceChildren(make("span", { class: "soft", text: "Providers " }), ...values.columns.map(({ name, label }) => make("button", {
      type: "button", class: "chip", "aria-pressed": String(!values.hidden.includes(name)), text: label.replace(", ", " "),
      onclick: () => {
        const hidden = values.hidden.includes(name) ? values.hidden.filter((other) => other !== name) : [...values.hidden, name];
        if (hidden.length < values.columns.length) on.hidden?.(hidden);
      },
    })));
  }

  function drawDetails() {
    const go = (message) => (message === undefined || !on.look ? [] : [" ", make("button", { type: "button", class: "go", text: `Go to message ${few(message)}`, onclick: () => on.look(message) })]);
    details.replaceChildren(...values.details.map(({ kind, text, message }, at) => (at === 0
      ? make("p", { class: `verdict ${kind}` }, make("b", { text }))
      : make("p", { class: kind }, ...(HEADS[kind] ? [make("b", { text: `${HEADS[kind]}: ` })] : []), kind === "answer" ? make("q", { text }) : text, ...go(message)))));
  }

  function select(key, name) {
    if (values.selected[0] === key && values.selected[1] === name) return;
    values.selected = [key, name];
    mark();
    on.selected?.([key, name]);
  }

  table.addEventListener("keydown", (event) => {
    const cell = event.target.closest("td[data-key]");
    if (!cell || event.altKey || event.ctrlKey || event.metaKey) return;
    const wide = columns().length;
    const all = cells();
    const at = all.indexOf(cell);
    const row = at - (at % wide);
    const wanted = { ArrowLeft: Math.max(row, at - 1), ArrowRight: Math.min(row + wide - 1, at + 1), ArrowUp: at - wide, ArrowDown: at + wide, Home: row, End: row + wide - 1 }[event.key];
    if (event.key === "PageDown" || event.key === "PageUp") on.page?.(event.key === "PageDown" ? 1 : -1);
    else if (wanted === undefined) return;
    else if (wanted >= all.length) on.page?.(1);
    else all[Math.max(0, wanted)]?.focus();
    event.preventDefault();
    event.stopPropagation();
  });

  function paint(changed = {}) {
    const first = !Object.keys(changed).length;
    if (first || "headline" in changed) headline.textContent = values.headline;
    if (!words) root.querySelector(".say").dataset.outcome = values.bad ? "stuck" : "fits";
    if (first || "columns" in changed || "hidden" in changed) drawChips();
    if (first || "columns" in changed || "hidden" in changed || "sight" in changed) drawTable();
    else if ("selected" in changed) mark();
    if (first || "details" in changed) drawDetails();
    error.textContent = values.error;
    shownWords.textContent = values.sight.sentence;
    every.checked = values.every;
    const page = values.sight.rows.filter((row) => row.key >= 0).length;
    earlier.disabled = values.sight.first === 0;
    later.disabled = values.sight.first + page >= values.sight.total;
  }
  paint();
  return {
    set(changed) {
      values = { ...values, ...changed };
      paint(changed);
    },
    destroy() {},
  };
}
