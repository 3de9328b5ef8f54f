// Copies and saves the state that the kernel offers, and sends a text that a person wants to open. It reads nothing in it.

const LONGEST = 100_000; // characters of a file that is sent at all

function render({ model, el }) {
  const make = (tag, values = {}, ...children) => {
    const node = Object.assign(document.createElement(tag), values);
    node.append(...children);
    return node;
  };
  const said = make("span", { role: "status" });
  said.setAttribute("aria-live", "polite");
  const input = make("input", { type: "text", autocomplete: "off", spellcheck: false, placeholder: "ctxlab-state.1.…" });
  input.setAttribute("aria-label", "State to open");
  const file = make("input", { type: "file", accept: ".json,application/json" });
  file.setAttribute("aria-label", "State file to open");
  const open = (text) => {
    if (!text.trim()) return;
    model.set("wish", { text, count: (model.get("wish").count ?? 0) + 1 });
    model.save_changes();
    said.textContent = "";
  };
  const form = make("form", { hidden: true }, input, make("button", { type: "submit", textContent: "Open" }), make("label", {}, "or a file ", file));
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    open(input.value);
  });
  file.addEventListener("change", async () => {
    const [chosen] = file.files;
    if (chosen && chosen.size > LONGEST) said.textContent = "This file is too large to be a state.";
    else if (chosen) open(await chosen.text());
    file.value = "";
  });
  const show = (on) => {
    form.hidden = !on;
    opener.setAttribute("aria-expanded", String(on));
    if (on) input.focus();
  };
  const copy = make("button", { type: "button", textContent: "Copy state", title: "Copy what is shown as one word, to pass it on" });
  copy.addEventListener("click", async () => {
    const text = model.get("text");
    try {
      await navigator.clipboard.writeText(text);
      said.textContent = `Copied, ${text.length} characters.`;
    } catch {
      // Not allowed here: put it where it can be copied by hand.
      show(true);
      input.value = text;
      input.select();
      said.textContent = "Press Ctrl+C to copy it.";
    }
  });
  const save = make("button", { type: "button", textContent: "Save state", title: "Save what is shown as a small JSON file" });
  save.addEventListener("click", () => {
    const url = URL.createObjectURL(new Blob([model.get("file")], { type: "application/json" }));
    make("a", { href: url, download: "ctxlab-state.json" }).click();
    setTimeout(() => URL.revokeObjectURL(url), 10_000);
    said.textContent = "Saved as ctxlab-state.json.";
  });
  const opener = make("button", { type: "button", textContent: "Open state…", title: "Show what somebody passed on" });
  opener.setAttribute("aria-expanded", "false");
  opener.addEventListener("click", () => show(form.hidden));
  el.classList.add("ctxlab-state");
  el.append(copy, save, opener, said, form);
  // On a page of its own the address holds the state, so that a reload, or a bookmark, shows it again.
  if (document.body.dataset.voila) {
    const asked = location.hash.slice(1);
    // Only when all of it stands: tabs that are still being put up choose the first one of their own accord.
    const stands = () => el.closest(".ctxlab")?.querySelector("[data-drawn]") && el.closest(".ctxlab").querySelector(".lm-TabBar-tab.lm-mod-current");
    const soon = () => setTimeout(() => (stands() ? setTimeout(() => open(asked), 300) : soon()), 100);
    if (asked.startsWith("ctxlab-state.")) soon();
    model.on("change:text", () => history.replaceState(null, "", `#${model.get("text")}`));
  }
  // JupyterLab takes single keys for commands.
  el.addEventListener("keydown", (event) => {
    if (!event.ctrlKey && !event.metaKey && !event.altKey && event.key !== "Escape") event.stopPropagation();
  });
}

export default { render };
