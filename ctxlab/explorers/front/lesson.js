// Exercises: choose a message in the timeline, read why or why not, then see what the release did and who refuses it.
//
// Every answer is in the record (ctxlab/figures/lesson.py); nothing is decided here. renderLesson({record, el, on}) needs
// no kernel and returns {set, go, choices, destroy}. parts.js and lanes.js stand before this file.

const NOWHERE = -1;
const STATES = {
  open: ["○", "not answered"], tried: ["◔", "not solved yet"], solved: ["◕", "solved"], "first try": ["●", "right at the first try"],
  shown: ["◌", "shown"],
};

export function renderLesson({ record, el, on = {}, choices = {}, shown = [], current = 0 }) {
  const dots = make("div", { class: "dots", role: "tablist", "aria-label": "Exercises" });
  const score = make("p", { class: "score", "aria-live": "polite" });
  const title = make("h3");
  const setting = make("p");
  const question = make("p", { class: "question" });
  const line = make("div", { class: "line", role: "group" });
  const nowhere = make("button", { type: "button", class: "nowhere", onclick: () => choose(NOWHERE) });
  const reading = make("div", { class: "reading" });
  const feedback = make("div", { class: "feedback", role: "status", "aria-live": "polite" });
  const reveal = make("div", { class: "reveal" });
  const back = make("button", { type: "button", text: "◀ Previous", onclick: () => go(current - 1) });
  const again = make("button", { type: "button", text: "Try again", onclick: () => reset() });
  const show = make("button", { type: "button", text: "Show me", onclick: () => give() });
  const next = make("button", { type: "button", class: "next", text: "Next ▶", onclick: () => go(current + 1) });
  const root = make("section", { class: "ctx ctx-lesson", "aria-label": "Exercises" },
    make("div", { class: "how-far" }, dots, score),
    title, setting, question,
    make("div", { class: "pick" }, line, nowhere), reading, feedback, reveal,
    make("nav", { class: "moves" }, back, again, show, next));
  el.replaceChildren(root);
  let stops = [];
  let focus = 0;

  const exercise = () => record[current];
  const made = (one = exercise()) => choices[one.id] ?? [];
  const told = (one, choice) => (choice === NOWHERE ? one.nowhere_told : one.told[choice - one.first]);
  const right = (one) => made(one).some((choice) => told(one, choice)?.right);
  function state(one) {
    const before = made(one);
    if (right(one)) return told(one, before[0])?.right ? "first try" : "solved";
    if (shown.includes(one.id)) return "shown";
    return before.length ? "tried" : "open";
  }
  const open = (one = exercise()) => right(one) || shown.includes(one.id);

  function progress() {
    const states = record.map(state);
    dots.replaceChildren(...record.map((one, at) => {
      const [sign, word] = STATES[states[at]];
      return make("button", {
        type: "button", role: "tab", class: `dot ${states[at].replace(" ", "-")}`, "aria-selected": String(at === current),
        tabindex: at === current ? 0 : -1, title: `${at + 1}. ${one.title}: ${word}`, "aria-label": `Exercise ${at + 1}, ${one.title}: ${word}`,
        text: sign, onclick: () => go(at),
      });
    }));
    const solved = states.filter((one) => one === "first try" || one === "solved").length;
    const first = states.filter((one) => one === "first try").length;
    score.textContent = `Exercise ${current + 1} of ${record.length} · ${solved} solved, ${first} at the first try`;
  }

  // The timeline: a button a message.
  function timeline() {
    const one = exercise();
    line.setAttribute("aria-label", `Timeline of ${plural(one.count, "message")}. Arrow keys move, Enter chooses.`);
    const tiles = one.messages.map((message, at) => {
      const index = one.first + at;
      const bar = make("span", { class: "bar", style: `height: ${12 + (44 * Math.sqrt(one.bars[at].height)) / 10}px` });
      const kinds = message.parts.length ? message.parts : [{ kind: "empty", colour: "transparent", text: "" }];
      for (const part of kinds) bar.append(make("i", { style: `background: ${part.colour}` }));
      const tile = make("button", {
        type: "button", class: `tile ${message.role === "user" ? "user" : "assistant"}`, "data-index": index, tabindex: at === focus ? 0 : -1,
        "aria-label": `Message ${index}, ${message.role}${message.pinned ? ", pinned" : ""}: ${kinds.map((part) => `${part.kind} ${part.text}`).join("; ")}`,
        onclick: () => choose(index), onfocus: () => look(at), onpointerenter: () => look(at, false),
      },
      make("span", { class: "bars" }, bar),
      make("b", { text: `${few(index)}${message.pinned ? " ▼" : ""}` }),
      make("span", { class: "role", text: message.role }),
      make("span", { class: "parts" }, ...kinds.slice(0, 3).map((part) => make("span", { class: "part", text: part.text || part.kind }))),
      make("span", { class: "mark" }));
      return tile;
    });
    line.replaceChildren(...tiles);
    if (one.start >= one.first && one.start < one.first + tiles.length) {
      const start = make("span", { class: "start", "aria-hidden": "true" }, make("span", { text: `the search starts at ${few(one.start)}` }));
      tiles[one.start - one.first].before(start);
    }
    nowhere.hidden = !one.nowhere;
    nowhere.textContent = one.ask === "split" ? "It cannot be split" : "It cannot be cut";
    for (const [at, tile] of tiles.entries()) judge(tile, one, one.first + at);
    judge(nowhere, one, NOWHERE);
  }

  // A choice that was made, and after the solution every message, carries its verdict.
  function judge(button, one, choice) {
    const answer = told(one, choice);
    const known = made(one).includes(choice) || (open(one) && (choice !== NOWHERE || answer.right));
    button.classList.toggle("right", known && answer.right);
    button.classList.toggle("wrong", known && !answer.right);
    button.classList.toggle("chosen", made(one).includes(choice));
    const mark = button.querySelector(".mark");
    if (mark && known) {
      mark.textContent = answer.right ? `${answer.sign} ${one.ask === "spot" ? "this one" : "yes"}` : one.ask === "spot" ? "no" : `${answer.sign} no`;
    }
    if (known) button.title = answer.why;
  }

  function look(at, focused = true) {
    const one = exercise();
    if (focused) {
      focus = at;
      line.querySelectorAll(".tile").forEach((tile, number) => { tile.tabIndex = number === at ? 0 : -1; });
    }
    const message = one.messages[at];
    const words = message.parts.map((part) => make("span", { class: "said" }, make("i", { style: `background: ${part.colour}` }), make("b", { text: part.kind }), ` ${part.text}`));
    const last = made(one).at(-1);
    const answer = open(one) && one.first + at !== last ? one.told[at] : null;
    reading.replaceChildren(make("b", { text: `Message ${few(one.first + at)}, ${message.role}${message.pinned ? ", pinned" : ""}: ` }), ...(words.length ? words : ["it is empty"]));
    if (answer) reading.append(make("p", { class: answer.right ? "accepted" : "soft", text: `${answer.sign} ${answer.why}` }));
  }

  function feed(choice) {
    const one = exercise();
    const answer = told(one, choice);
    const where = choice === NOWHERE ? nowhere.textContent : `Message ${few(choice)}`;
    const good = answer.right ? ["✓", "Right.", "good"] : ["×", "Not quite.", "bad"];
    feedback.className = `feedback ${good[2]}`;
    feedback.replaceChildren(make("p", {}, make("b", { text: `${good[0]} ${where}: ${good[1]}` }), ` ${answer.why}`));
    if (!answer.right && !open(one)) feedback.append(make("p", { class: "soft", text: "Choose another one, or let it be shown to you." }));
  }

  function solution() {
    const one = exercise();
    stops.forEach((stop) => stop());
    stops = [];
    reveal.replaceChildren();
    if (!open(one)) return;
    if (one.lesson) reveal.append(make("p", { class: "take" }, one.lesson));
    if (one.report) {
      const link = one.source ? make("a", { href: one.source, target: "_blank", rel: "noopener noreferrer", text: one.number }) : "";
      reveal.append(make("p", {}, make("b", { text: "The report: " }), link, ` ${one.report}`));
    }
    if (one.deeds.length) {
      const lanes = make("ol", { class: "lanes" });
      for (const strip of one.deeds) {
        const holder = make("div", { class: "picture" });
        lanes.append(make("li", { class: "lane" },
          make("div", { class: "who" }, make("b", { text: strip.name }), make("p", { text: strip.sentence })),
          holder, make("div", { class: "then" }, answersOf(strip.answers))));
        stops.push(onWidth(holder, (width) => holder.replaceChildren(laneOf({ bars: one.bars, strip, first: one.first, width, label: `${strip.name}: ${strip.sentence}` }))));
      }
      reveal.append(make("p", { class: "head", text: "What was done, and who takes what is left" }), lanes);
    }
    if (one.answers.length) reveal.append(answersOf(one.answers, true));
    if (one.repair) reveal.append(make("p", {}, make("b", { text: "To be accepted: " }), one.repair));
  }

  function paint() {
    const one = exercise();
    title.textContent = `${current + 1}. ${one.title}`;
    setting.textContent = one.setting + (one.messages.length < one.count ? ` Shown are messages ${few(one.first)} to ${few(one.first + one.messages.length - 1)} of ${few(one.count)}.` : "");
    question.textContent = one.question;
    focus = Math.max(0, Math.min(one.messages.length - 1, focus));
    progress();
    timeline();
    look(focus);
    solution();
    const before = made(one);
    if (before.length) feed(before[before.length - 1]);
    else {
      feedback.className = "feedback";
      feedback.replaceChildren();
    }
    back.disabled = current === 0;
    next.disabled = current === record.length - 1;
    again.disabled = !before.length && !shown.includes(one.id);
    show.disabled = open(one);
    next.classList.toggle("go", open(one) && !next.disabled);
  }

  function choose(choice) {
    const one = exercise();
    const held = document.activeElement;
    if (!open(one)) {
      choices = { ...choices, [one.id]: [...made(one), choice] };
      on.choices?.(choices);
    }
    if (choice !== NOWHERE) focus = choice - one.first;
    paint();
    if (open(one) && !made(one).includes(choice)) feed(choice);
    // The buttons are drawn anew: whoever works with the keyboard stays where they were.
    if (held && held.classList.contains("tile")) line.querySelector(`.tile[data-index="${choice}"]`)?.focus({ preventScroll: true });
  }
  function give() {
    shown = [...shown, exercise().id];
    on.shown?.(shown);
    paint();
  }
  function reset() {
    choices = { ...choices };
    delete choices[exercise().id];
    shown = shown.filter((id) => id !== exercise().id);
    on.choices?.(choices);
    on.shown?.(shown);
    paint();
  }
  function go(at) {
    if (at < 0 || at >= record.length || at === current) return;
    current = at;
    focus = 0;
    on.current?.(current);
    paint();
  }
  const moved = (event, at, count) => ({ ArrowLeft: at - 1, ArrowRight: at + 1, Home: 0, End: count - 1 })[event.key];
  line.addEventListener("keydown", (event) => {
    const tiles = [...line.querySelectorAll(".tile")];
    const wanted = moved(event, tiles.indexOf(event.target), tiles.length);
    if (wanted === undefined) return;
    event.preventDefault();
    event.stopPropagation();
    tiles[Math.max(0, Math.min(tiles.length - 1, wanted))].focus();
  });
  dots.addEventListener("keydown", (event) => {
    const wanted = moved(event, current, record.length);
    if (wanted === undefined) return;
    event.preventDefault();
    event.stopPropagation();
    go(wanted);
    dots.children[current].focus();
  });
  // Keys that choose must not reach the notebook, which has its own meaning for Enter.
  root.addEventListener("keydown", (event) => (event.key === "Enter" || event.key === " ") && event.stopPropagation());
  paint();
  return {
    set(values) {
      ({ record = record, choices = choices, shown = shown, current = current } = values);
      current = Math.max(0, Math.min(record.length - 1, current));
      paint();
    },
    destroy: () => stops.forEach((stop) => stop()),
  };
}

function render({ model, el }) {
  const values = () => ({
    record: JSON.parse(model.get("record")), choices: model.get("choices"), shown: model.get("shown"), current: model.get("current"),
  });
  let quiet = false;
  const send = (name) => (value) => {
    quiet = true;
    model.set(name, value);
    model.save_changes();
    quiet = false;
  };
  const lesson = renderLesson({ ...values(), el, on: { choices: send("choices"), shown: send("shown"), current: send("current") } });
  const changed = () => quiet || lesson.set(values());
  const names = ["record", "choices", "shown", "current"];
  names.forEach((name) => model.on(`change:${name}`, changed));
  return () => {
    names.forEach((name) => model.off(`change:${name}`, changed));
    lesson.destroy();
  };
}

export default { render };
