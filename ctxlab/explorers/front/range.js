// A slider: the browser's own, which has a name and a value in words, and never reports a move that nobody made.

function render({ model, el }) {
  el.classList.add("ctxlab-slider");
  const label = document.createElement("label");
  const words = document.createElement("span");
  const input = document.createElement("input");
  input.type = "range";
  input.min = 0;
  label.append(words, input);
  el.append(label);
  let held = false;

  const show = () => {
    words.textContent = model.get("label");
    input.max = model.get("max");
    input.step = model.get("step");
    input.disabled = model.get("max") === 0;
    input.setAttribute("aria-valuetext", model.get("words"));
    // A hand on the slider is ahead of what the kernel has seen.
    if (!held) input.value = model.get("value");
  };
  const move = () => {
    model.set("value", Number(input.value));
    model.save_changes();
  };
  const release = () => {
    held = false;
  };
  input.addEventListener("pointerdown", () => {
    held = true;
  });
  input.addEventListener("pointerup", release);
  input.addEventListener("pointercancel", release);
  input.addEventListener("input", move);
  // JupyterLab would take the arrows for its own.
  input.addEventListener("keydown", (event) => event.stopPropagation());
  const watched = "change:label change:max change:step change:value change:words";
  model.on(watched, show);
  show();
  return () => model.off(watched, show);
}

export default { render };
