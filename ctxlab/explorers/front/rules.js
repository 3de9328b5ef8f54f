// Rules as small stories: the smallest conversation that breaks each and one that holds (ctxlab/figures/rule_stories.py).
//
// renderRules({record, el}) needs no kernel and returns {set}. parts.js and lanes.js stand before this file.

export function renderRules({ record, el }) {
  function tile(message, index, found) {
    const here = found.filter((one) => one.message === index);
    const box = make("li", { class: `tile ${message.role === "user" ? "user" : "assistant"} ${message.fate}${here.length ? " broken" : ""}` },
      make("b", { text: `${index}${message.pinned ? " ▼ pinned" : ""}` }), make("span", { class: "role", text: ` ${message.role}` }));
    for (const part of message.parts.length ? message.parts : [{ colour: "transparent", text: "(no content)" }]) {
      box.append(make("span", { class: "part" }, make("i", { style: `background: ${part.colour}` }), part.text));
    }
    if (message.fate === "goes") box.append(make("em", { text: "goes" }));
    if (message.fate === "changes") box.append(make("em", { text: `${few(message.before)} → ${few(message.after)} characters` }));
    return box;
  }
  const example = (one, good) => make("div", { class: `example ${good ? "holds" : "breaks"}` },
    make("p", {}, make("b", { class: good ? "accepted" : "refused", text: good ? "✓ holds" : "× broken" }), one.caption ? ` ${one.caption}` : ""),
    make("ol", { class: "tiles" }, ...one.messages.map((message, index) => tile(message, index, one.found))),
    ...one.found.map(({ message, detail }) => make("p", { class: "why" }, make("b", { text: `message ${message}: ` }), detail)));
  const story = (rule) => make("article", { "aria-label": rule.id },
    make("h3", {}, rule.id, make("small", { text: ` ${rule.source}` })), make("p", { class: "sentence", text: rule.sentence }),
    make("div", { class: "pair" }, example(rule.breaks, false), example(rule.holds, true)),
    ...(rule.answers.length ? [answersOf(rule.answers)] : []));
  const root = make("section", { class: "ctx ctx-rules", "aria-label": "Rules" });
  el.replaceChildren(root);
  const set = (next) => root.replaceChildren(...next.map(story));
  set(record);
  return { set };
}

function render({ model, el }) {
  renderRules({ record: JSON.parse(model.get("record")), el });
}

export default { render };
