// Small parts that the pictures of truncation share: elements, numbers in words, and the dials of the fallback.
//
// Python puts this file in front of the script of each widget, because a widget has one script. Text from a session
// only ever becomes textContent.

const SVG = "http://www.w3.org/2000/svg";
const number = new Intl.NumberFormat("en-US");
const few = (value) => number.format(value);
const short = (value) => value >= 1e6 ? `${+(value / 1e6).toFixed(1)}M` : value >= 1e4 ? `${Math.round(value / 1e3)}k`
  : value >= 1e3 ? `${+(value / 1e3).toFixed(1)}k` : `${Math.round(value)}`;
const plural = (count, thing) => `${few(count)} ${thing}${count === 1 ? "" : "s"}`;

function make(tag, attributes = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name === "text") node.textContent = value;
    else if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else if (value !== false && value != null) node.setAttribute(name, value === true ? "" : value);
  }
  node.append(...children);
  return node;
}

function draw(tag, attributes = {}, text = null) {
  const node = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
  if (text !== null) node.textContent = text;
  return node;
}

function nice(step) {
  const power = 10 ** Math.floor(Math.log10(Math.max(1, step)));
  return power * ([1, 2, 2.5, 5, 10].find((factor) => factor * power >= step) ?? 10);
}

// What JupyterLab or the page says about its colours has changed: call back. Returns how to stop.
function watchTheme(changed) {
  const watcher = new MutationObserver(changed);
  watcher.observe(document.body, { attributes: true, attributeFilter: ["data-jp-theme-light", "data-jp-theme-name", "class"] });
  return () => watcher.disconnect();
}

// JupyterLab's notebook takes single keys for commands (d d deletes a cell) wherever the focus is; not in here.
function keepKeys(node) {
  node.addEventListener("keydown", (event) => {
    if (!event.ctrlKey && !event.metaKey && !event.altKey && event.key !== "Escape") event.stopPropagation();
  });
  return node;
}

// Keeps what a person types into a box: what comes late from a kernel is shown once they are done. `done(text)` is told
// then what stands there, and returns the value to show from now on. Returns how to show a value.
function keepTyped(input, done) {
  let typing = false;
  let value = "";
  const show = () => {
    if (!typing && input.value !== String(value)) input.value = value;
  };
  const end = () => {
    if (!typing) return;
    typing = false;
    value = done(input.value);
    show();
  };
  input.addEventListener("input", () => {
    typing = true;
  });
  input.addEventListener("change", end);
  input.addEventListener("blur", end);
  input.addEventListener("keydown", (event) => {
    if (event.key === "Enter") end();
  });
  return (shown) => {
    value = shown;
    show();
  };
}

// A box for a whole number from `min` on, which keeps what a person types. `chosen(value)` is told of it. Returns the
// element and how to show a value.
function numberBox(label, min, chosen) {
  const input = make("input", { type: "number", min, "aria-label": label });
  const show = keepTyped(input, (text) => {
    const value = Math.max(min, Math.round(+text) || min);
    chosen(value);
    return value;
  });
  return [input, show];
}

const RULES = [
  ["fixed", "fixed", "1.63.0: cuts what is longer than 3 × preserve_chars, and keeps preserve_chars at each end"],
  ["proportional", "proportional", "Proposed in #5791: cuts what is longer than preserve_chars, and keeps at most a quarter at each end"],
  ["collapse", "collapse", "Rejected in #5791: all texts of the largest message become one preview; blocks are removed"],
];

// The dials of the fallback: rule, preserve_chars on a scale of `values`, and budget. `chosen(name, value)` is called
// with what a person chooses; `show` puts values on the dials without a call.
function dials({ values, most, chosen, budget = true }) {
  const group = `ctx-${Math.random().toString(36).slice(2)}`;
  const radios = RULES.map(([rule, label, title]) => {
    const input = make("input", { type: "radio", name: group, value: rule, onchange: () => chosen("rule", rule) });
    return [rule, input, make("label", { title }, input, make("span", { text: label }))];
  });
  const rules = make("fieldset", { class: "rules" }, make("legend", { text: "Rule" }), ...radios.map(([, , label]) => label));
  const about = make("span", { class: "about" });
  const nearest = (value) => values.reduce((best, other, at) => Math.abs(Math.log(other / value)) < Math.abs(Math.log(values[best] / value)) ? at : best, 0);
  const slide = make("input", { type: "range", min: 0, step: 1, "aria-label": "preserve_chars", class: "preserve", oninput: () => {
    const value = values[+slide.value];
    showExact(value);
    say(value);
    chosen("preserve_chars", value);
  } });
  const [exact, showExact] = numberBox("preserve_chars, exactly", 1, (value) => chosen("preserve_chars", value));
  const say = (value) => slide.setAttribute("aria-valuetext", `${few(value)} characters`);
  const slideBudget = make("input", { type: "range", min: 0, "aria-label": "Token budget", class: "budget", oninput: () => {
    showBudget(+slideBudget.value);
    chosen("budget", +slideBudget.value);
  } });
  const [exactBudget, showBudget] = numberBox("Token budget, exactly", 0, (value) => chosen("budget", value));
  const el = make("div", { class: "dials" }, rules,
    make("div", { class: "dial" }, make("span", { text: "preserve_chars" }), slide, exact),
    ...(budget ? [make("div", { class: "dial" }, make("span", { text: "token budget" }), slideBudget, exactBudget)] : []));
  return {
    el,
    scale(newValues, newMost) {
      [values, most] = [newValues, newMost];
      slide.max = Math.max(0, values.length - 1);
      slideBudget.max = most;
      slideBudget.step = Math.max(1, Math.round(most / 400));
    },
    show({ rule, preserve_chars: preserve, budget: tokens }) {
      for (const [name, input] of radios) input.checked = name === rule;
      slide.value = nearest(preserve);
      say(preserve);
      showExact(preserve);
      slideBudget.value = tokens;
      showBudget(tokens);
    },
  };
}
