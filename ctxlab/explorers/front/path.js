// A field for a path and the button that opens it. What is sent is what stands in the field, in one message: were the text
// sent as it is typed, Enter could overtake its last letters.

function render({ model, el }) {
  const input = document.createElement("input");
  input.type = "text";
  input.autocomplete = "off";
  input.spellcheck = false;
  input.placeholder = "path of a file or session folder";
  input.setAttribute("aria-label", "Path of a session file or folder");
  const button = document.createElement("button");
  button.type = "submit";
  button.textContent = "Open";
  button.title = "Read the file or folder at the path";
  const form = document.createElement("form");
  const label = document.createElement("label");
  label.append("Path", input);
  form.append(label, button);
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    model.set("wish", { path: input.value, count: (model.get("wish").count ?? 0) + 1 });
    model.save_changes();
  });
  el.classList.add("ctxlab-path");
  el.append(form);
}

export default { render };
