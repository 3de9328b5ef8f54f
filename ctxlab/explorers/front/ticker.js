// A clock for playing: it asks for the next step only once the last one is shown, so that a slow kernel or a remote one
// drops steps instead of queueing them.

function render({ model, el }) {
  el.classList.add("ctxlab-hidden");
  let timer = 0;
  const tick = () => {
    timer = 0;
    if (!model.get("playing")) return;
    model.set("asked", model.get("shown") + 1);
    model.save_changes();
  };
  const wait = () => {
    clearTimeout(timer);
    timer = model.get("playing") ? setTimeout(tick, model.get("interval")) : 0;
  };
  model.on("change:playing", wait);
  model.on("change:shown", wait);
  wait();
  return () => {
    clearTimeout(timer);
    model.off("change:playing", wait);
    model.off("change:shown", wait);
  };
}

export default { render };
