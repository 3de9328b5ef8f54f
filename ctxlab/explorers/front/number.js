// A number box that is the person's own while they type: see `keepTyped` in parts.js, which stands before this file. It
// looks as those of ipywidgets do, whose styles it takes.

function render({ model, el }) {
  el.classList.add("jupyter-widgets", "widget-inline-hbox", "widget-text");
  const id = `ctxlab-${Math.random().toString(36).slice(2)}`;
  const label = make("label", { class: "widget-label", for: id });
  label.style.width = "initial";
  const input = make("input", { type: "number", id });
  el.append(label, input);

  const bounded = (value) => {
    const whole = Number.isInteger(model.get("step")) ? Math.round(value) : value;
    return Math.max(model.get("min"), Math.min(model.get("max"), whole));
  };
  const showValue = keepTyped(input, (text) => {
    if (text !== "") {
      model.set("value", bounded(Number(text)));
      model.save_changes();
    }
    return model.get("value");
  });
  const show = () => {
    label.textContent = model.get("description");
    label.hidden = !model.get("description");
    if (label.hidden) input.setAttribute("aria-label", model.get("name"));
    label.title = input.title = model.get("tooltip");
    for (const name of ["min", "max", "step"]) input[name] = model.get(name);
    input.disabled = model.get("disabled");
    showValue(model.get("value"));
  };
  model.on("change", show);
  show();
  return () => model.off("change", show);
}

export default { render };
