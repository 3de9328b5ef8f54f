// Something to take away: what it is, what was replaced in it, how it was proven, its text, and a download. The browser
// writes the file. parts.js stands before this file. Session text only ever becomes textContent.

const SHOWN = 12_000; // characters of the text that are shown

const size = (text) => {
  const bytes = new Blob([text]).size;
  return bytes < 1000 ? plural(bytes, "byte") : bytes < 1e6 ? `${(bytes / 1e3).toFixed(1)} kB` : `${(bytes / 1e6).toFixed(1)} MB`;
};

function render({ model, el }) {
  const said = make("p", { class: "spoken", role: "status", "aria-live": "polite" });
  const told = make("span", { role: "status" });
  const problem = make("p", { class: "problem", role: "alert" });
  const root = make("section", { class: "made", "aria-label": "What was made", hidden: true });
  const whole = keepKeys(make("div", { class: "ctx ctx-offer empty" }, said, problem, root));
  el.append(whole);
  let shown = 0;

  const save = () => {
    const url = URL.createObjectURL(new Blob([model.get("text")], { type: model.get("media_type") }));
    make("a", { href: url, download: model.get("name") }).click();
    setTimeout(() => URL.revokeObjectURL(url), 10_000);
    told.textContent = `Downloaded as ${model.get("name")}.`;
  };
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(model.get("text"));
      told.textContent = "Copied.";
    } catch {
      told.textContent = "The browser does not allow to copy here; download it instead.";
    }
  };
  const item = (text) => make("li", { text });
  const run = ([holds, text]) => make("li", { class: holds ? "good" : "bad", text: `${holds ? "✓" : "✗"} ${text}` });
  const list = (title, found, told = item) => (found.length ? [make("h4", { text: title }), make("ul", {}, ...found.map(told))] : []);

  const paint = () => {
    const name = model.get("name");
    root.hidden = !name;
    problem.textContent = model.get("problem");
    whole.classList.toggle("empty", !name && !model.get("problem"));
    if (!name) return;
    const text = model.get("text");
    const page = model.get("media_type") === "text/html";
    told.textContent = "";
    root.replaceChildren(
      make("h3", {}, make("span", { text: name }), make("small", { text: ` ${size(text)}` })),
      make("p", { class: "stale", text: model.get("stale") }),
      make("div", { class: "buttons" },
        make("button", { type: "button", class: "download", onclick: save, text: "⬇ Download", title: `Save ${name} on this computer` }),
        make("button", { type: "button", onclick: copy, text: "Copy", title: "Copy the whole text" }), told),
      make("ul", { class: "about" }, ...model.get("about").map(item)),
      ...list("It was run", model.get("runs"), run),
      ...list("Not run", model.get("missing")),
      ...list("Replaced before it leaves", model.get("redacted")),
      ...(page ? [make("p", { text: "Open the downloaded file in a browser: it needs no network and no kernel." })] : [
        make("pre", { tabindex: 0, "aria-label": `The text of ${name}`, text: text.slice(0, SHOWN) }),
        make("p", { class: "soft", text: text.length > SHOWN ? `Showing ${few(SHOWN)} of ${few(text.length)} characters; the download has all.` : "" }),
      ]),
    );
    if (model.get("made") !== shown) said.textContent = `${name} is made.`;
    shown = model.get("made");
  };
  const again = () => {
    const place = root.querySelector(".stale");
    if (place) place.textContent = model.get("stale");
  };
  model.on("change:made", paint);
  model.on("change:stale", again);
  paint();
  return () => {
    model.off("change:made", paint);
    model.off("change:stale", again);
  };
}

export default { render };
