// The matrix of trim points and providers as a widget of its own. parts.js, lanes.js and matrix.js stand before this file.

function render({ model, el }) {
  const names = ["columns", "sight", "headline", "bad", "selected", "details", "hidden", "every", "error"];
  const values = Object.fromEntries(names.map((name) => [name, model.get(name)]));
  const send = (name, value) => {
    model.set(name, value);
    model.save_changes();
  };
  const shown = renderMatrix({
    values, el, on: {
      selected: (value) => send("selected", value), hidden: (value) => send("hidden", value), every: (value) => send("every", value),
      page: (step) => send("turned", { step, count: (model.get("turned").count ?? 0) + 1 }),
    },
  });
  const listeners = names.map((name) => [name, () => shown.set({ [name]: model.get(name) })]);
  listeners.forEach(([name, listener]) => model.on(`change:${name}`, listener));
  return () => {
    listeners.forEach(([name, listener]) => model.off(`change:${name}`, listener));
    shown.destroy();
  };
}

export default { render };
