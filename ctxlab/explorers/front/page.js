// What ipywidgets leave out: names for screen readers, and keys that stay here. It shows nothing.

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
  // JupyterLab takes single keys on any control of an output for commands of its own: "d d" would delete the cell.
  const keep = (event) => {
    if (!event.ctrlKey && !event.metaKey && !event.altKey && event.key !== "Escape") event.stopPropagation();
  };
  const attach = () => {
    if (stopped) return;
    root = el.closest(".ctxlab");
    if (!root) return void requestAnimationFrame(attach);
    changes.observe(root, { childList: true, subtree: true });
    root.addEventListener("keydown", keep);
    soon();
  };
  requestAnimationFrame(attach);
  model.on("change:names", soon);
  return () => {
    stopped = true;
    cancelAnimationFrame(due);
    changes.disconnect();
    root?.removeEventListener("keydown", keep);
    model.off("change:names", soon);
  };
}

export default { render };
