// What ipywidgets leave out: names for screen readers, and Enter in the path. It shows nothing itself.

function render({ model, el }) {
  el.classList.add("ctxlab-hidden");
  let root = null;
  let due = 0;
  let stopped = false;

  const name = () => {
    due = 0;
    for (const [selector, attribute, text] of model.get("names")) {
      for (const element of root.querySelectorAll(selector)) {
        if (element.getAttribute(attribute) !== text) element.setAttribute(attribute, text);
      }
    }
  };
  const soon = () => {
    if (root && !due) due = requestAnimationFrame(name);
  };
  const changes = new MutationObserver(soon);
  const enter = (event) => {
    if (event.key === "Enter" && event.target.closest(".ctxlab-path")) root.querySelector(".ctxlab-open")?.click();
  };
  const attach = () => {
    if (stopped) return;
    root = el.closest(".ctxlab");
    if (!root) return void requestAnimationFrame(attach);
    changes.observe(root, { childList: true, subtree: true });
    // On the way down: a text field of ipywidgets lets no key up again.
    root.addEventListener("keydown", enter, true);
    soon();
  };
  requestAnimationFrame(attach);
  model.on("change:names", soon);
  return () => {
    stopped = true;
    cancelAnimationFrame(due);
    changes.disconnect();
    root?.removeEventListener("keydown", enter, true);
    model.off("change:names", soon);
  };
}

export default { render };
