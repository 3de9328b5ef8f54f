// Brings the page of a session together: timeline, table, rounds and matrix follow one step and one message in focus.
// All of it comes from the record in the page (ctxlab/report); nothing is loaded and nothing is decided here.
//
// parts.js and lanes.js stand before this file, and the functions that draw.

const record = JSON.parse(document.getElementById("record").textContent);
const { pictures, stops, table } = record.moments;
const { count } = pictures[0].picture;
const { pages, texts, cells } = record.verdicts;
const place = (id) => document.querySelector(`#${id} .place`);
const clamp = (value, most) => Math.max(0, Math.min(most, value));

// The stylesheets ask the page for its theme as they ask JupyterLab.
const dark = window.matchMedia("(prefers-color-scheme: dark)");
const theme = () => {
  document.body.dataset.jpThemeLight = String(!dark.matches);
};
dark.addEventListener("change", theme);
theme();

// ---------------------------------------------------------------------------------------------- what is said of a message

const changed = stops.map(({ rows }) => new Map(rows.map(([index, ...row]) => [index, row])));

// The texts of a row come as a template with places for numbers (ctxlab/report/packing.py).
function textsOf([template, ...numbers]) {
  return table.templates[template].map((text) => text.split("\0").map((part, at) => (at % 2 ? few(numbers[part]) : part)).join(""));
}

// The row of a message at a stop and the sentences about it; null where the page has none.
function words(index) {
  for (let at = stop; at >= 0; at -= 1) {
    const row = changed[at].get(index);
    if (row) {
      const all = textsOf(row);
      return { row: all.slice(0, table.columns.length + 1), about: all.slice(table.columns.length + 1) };
    }
  }
  return null;
}

// ------------------------------------------------------------------------------------------------------------ the screen

let stop = stops.length - 1;
let view = 0; // which of the pictures is shown
let focus = record.focus;
let page = 0;
let top = 0;
let sought = null;

const button = (text, label, action) => make("button", { type: "button", "aria-label": label, title: label, text, onclick: action });
const back = [button("|◀", "To the first step", () => go(0)), button("◀ step", "Back one step", () => go(stop - 1))];
const on = [button("step ▶", "On one step", () => go(stop + 1)), button("▶|", "To the last step", () => go(stops.length - 1))];
const slider = make("input", { type: "range", min: 0, max: stops.length - 1, step: 1, "aria-label": "Jump to a step", oninput: () => go(+slider.value) });
const where = make("output", { class: "where" });
const sentence = make("p", { class: "ctxlab-step", role: "status" });
const exact = make("input", { type: "number", min: 0, max: count - 1, "aria-label": "Message in focus", onchange: () => look(Math.round(+exact.value) || 0) });
const previous = button("◀", "The message before", () => look(focus - 1));
const next = button("▶", "The message after", () => look(focus + 1));
const figure = make("div");
const legend = make("div", { class: "ctxlab-legend" });
const shown = make("span", { class: "shown" });
const views = pictures.map(({ picture: { first, last } }, at) => make("button", {
  type: "button", text: at ? `messages ${few(first)} to ${few(last - 1)}` : `all ${few(count)} messages`, onclick: () => zoom(at),
}));
const about = make("div", { class: "ctxlab-said ctxlab-about", "aria-live": "polite" });
place("timeline").replaceChildren(
  make("div", { class: "ctx steps" }, ...back, ...on, slider, where), sentence,
  ...(views.length > 1 ? [make("div", { class: "ctx focused" }, make("span", { text: "Picture of" }), ...views)] : []), figure, legend,
  make("div", { class: "ctx focused" }, make("span", { text: "Message in focus" }), previous, exact, next,
    shown),
  about,
);

const now = () => ({ ...stops[stop].now[view], focus, about: words(focus)?.about ?? ["The page has no words about this message."] });
const heights = () => stops.slice(0, stop + 1).findLast((one) => one.heights).heights[view];
const timeline = renderTimeline({
  values: { picture: pictures[view].picture, heights: heights(), now: now(), label: record.moments.label, focus, drawing: 0 }, el: figure, on: { focus: look },
});

function rowsInSight() {
  if (focus < top || focus >= top + table.page) top = focus;
  top = Math.max(table.first, Math.min(top, table.end - table.page));
  const rows = [];
  for (let index = top; index < Math.min(top + table.page, table.end); index += 1) rows.push(words(index).row);
  return { first: top, rows, selected: focus };
}
top = focus - Math.floor(table.page / 2);
place("candidates").replaceChildren();
const rows = renderRows({
  values: { ...rowsInSight(), columns: table.columns, total: count, page: table.page, noun: "messages", label: table.label },
  el: place("candidates"), on: { selected: look },
});

place("rounds").replaceChildren();
const player = renderRounds({ record: record.rounds, el: place("rounds"), on: { message: look } });
const played = place("rounds").querySelector(".ctx-rounds");

const said = ([key, name]) => (cells[key]?.[record.verdicts.columns.findIndex((column) => column.name === name)] ?? []).map((at) => texts[at]);
const pageOf = (key) => pages.findIndex((sight) => sight.rows.some((row) => row.key === key));
const refusing = record.verdicts.columns.find((_, at) => pages[0].rows[1].states[at] !== "a") ?? record.verdicts.columns[0];
let selected = [pages[0].rows[1].key, refusing.name];
page = Math.max(0, pageOf(focus));
const matrix = renderMatrix({
  values: {
    columns: record.verdicts.columns, headline: record.verdicts.headline, bad: record.verdicts.bad, sight: pages[page],
    selected, details: said(selected), hidden: [], every: false, error: "",
  },
  el: place("verdicts"),
  on: {
    selected: (cell) => {
      selected = cell;
      matrix.set({ selected, details: said(selected) });
      if (cell[0] >= 0) look(cell[0]);
    },
    look,
    hidden: (hidden) => matrix.set({ hidden }),
    page: (step) => {
      const held = place("verdicts").querySelector("table").contains(document.activeElement);
      const wanted = pages[clamp(page + step, pages.length - 1)];
      if (wanted === pages[page]) return;
      look(wanted.rows.find((row) => row.key >= 0 && pageOf(row.key) === pages.indexOf(wanted))?.key ?? focus);
      if (held) place("verdicts").querySelector("td[aria-selected=true]")?.focus({ preventScroll: true });
    },
  },
});

// ------------------------------------------------------------------------------------------- one step, one message in focus

function show() {
  const { where: at, sentence: text } = stops[stop];
  where.textContent = at;
  sentence.textContent = text;
  slider.value = stop;
  slider.setAttribute("aria-valuetext", at);
  for (const one of back) one.disabled = stop === 0;
  for (const one of on) one.disabled = stop === stops.length - 1;
  exact.value = focus;
  previous.disabled = focus === 0;
  next.disabled = focus === count - 1;
  const moment = now();
  about.replaceChildren(...moment.about.map((line) => make("p", { text: line })));
  timeline.set({ now: moment, heights: heights(), focus });
  rows.set(rowsInSight());
}

function zoom(wanted) {
  view = wanted;
  const { picture, legend: entries, shown: words } = pictures[view];
  legend.replaceChildren(...entries.map(([text, sign, colour]) => {
    const swatch = make("span", { class: `ctxlab-swatch${sign === "/" ? " hatched" : sign ? " sign" : ""}`, text: sign === "/" ? "" : sign });
    if (sign !== "/") swatch.style[sign ? "color" : "background"] = colour;
    return make("span", {}, ...(colour ? [swatch] : []), text);
  }));
  shown.textContent = words;
  views.forEach((one, at) => one.setAttribute("aria-pressed", String(at === view)));
  timeline.set({ picture, heights: heights(), now: now() });
}

function go(wanted) {
  stop = clamp(wanted, stops.length - 1);
  player.seek(stops[stop].edit);
  // What the player then says of its step is no wish of a person.
  sought = played.dataset.step;
  show();
}

function look(wanted) {
  const index = clamp(wanted, count - 1);
  focus = index;
  const { first, last } = pictures[view].picture;
  if (focus < first || focus >= last) zoom(0);
  show();
  player.focusMessage(focus);
  const held = pageOf(focus);
  if (held >= 0 && (selected[0] !== focus || held !== page)) {
    selected = [focus, selected[1]];
    page = pages[page].rows.some((row) => row.key === focus) ? page : held;
    matrix.set({ sight: pages[page], selected, details: said(selected) });
  }
}

new MutationObserver(() => {
  if (played.dataset.step === sought) return;
  sought = played.dataset.step;
  const found = stops.findLastIndex(({ edit }) => edit <= Number(sought));
  if (found !== stop) {
    stop = found;
    show();
  }
}).observe(played, { attributes: true, attributeFilter: ["data-step"] });

zoom(view);
go(stop);
player.focusMessage(focus);
document.getElementById("unscripted").remove();
