// A table of which the kernel sends only the rows in sight. Cells are set as text, so that nothing in them is markup.

function render({ model, el }) {
  el.classList.add("ctxlab-rows");
  const table = document.createElement("table");
  table.setAttribute("role", "grid");
  table.tabIndex = 0;
  const nav = document.createElement("nav");
  const button = (text, move) => {
    const made = document.createElement("button");
    made.type = "button";
    made.textContent = text;
    made.addEventListener("click", () => select(move()));
    return made;
  };
  const total = () => model.get("total");
  const page = () => model.get("page");
  const previous = button("◀ earlier", () => model.get("first") - page());
  const next = button("later ▶", () => model.get("first") + page());
  const shown = document.createElement("span");
  nav.append(previous, next, shown);
  el.append(table, nav);

  const select = (row) => {
    model.set("selected", Math.max(0, Math.min(total() - 1, row)));
    model.save_changes();
  };
  table.addEventListener("keydown", (event) => {
    const at = model.get("selected");
    const wanted = {
      ArrowUp: at - 1, ArrowDown: at + 1, PageUp: at - page(), PageDown: at + page(), Home: 0, End: total() - 1,
    }[event.key];
    if (wanted === undefined) return;
    event.preventDefault();
    event.stopPropagation();
    select(wanted);
  });

  const draw = () => {
    const columns = model.get("columns");
    const first = model.get("first");
    const rows = model.get("rows");
    const head = document.createElement("tr");
    for (const [title, kind] of columns) {
      const cell = document.createElement("th");
      cell.scope = "col";
      cell.textContent = title;
      cell.className = kind;
      head.append(cell);
    }
    const body = document.createElement("tbody");
    rows.forEach(([look, ...cells], number) => {
      const row = document.createElement("tr");
      row.className = look;
      row.dataset.row = first + number;
      row.setAttribute("aria-rowindex", first + number + 2);
      row.addEventListener("click", () => select(first + number));
      cells.forEach((text, at) => {
        const cell = document.createElement("td");
        cell.textContent = text;
        cell.className = columns[at][1];
        row.append(cell);
      });
      body.append(row);
    });
    const top = document.createElement("thead");
    top.append(head);
    table.replaceChildren(top, body);
    table.setAttribute("aria-rowcount", total() + 1);
    table.setAttribute("aria-label", model.get("label"));
    const last = first + rows.length;
    shown.textContent = rows.length ? `${model.get("noun")} ${first.toLocaleString("en")} to ` +
      `${(last - 1).toLocaleString("en")} of ${total().toLocaleString("en")}` : "";
    previous.disabled = first === 0;
    next.disabled = last >= total();
    nav.hidden = rows.length === total();
    mark();
  };
  const mark = () => {
    for (const row of table.tBodies[0]?.rows ?? []) {
      row.setAttribute("aria-selected", String(Number(row.dataset.row) === model.get("selected")));
    }
  };

  model.on("change:rows", draw);
  model.on("change:columns", draw);
  model.on("change:selected", mark);
  draw();
  return () => {
    model.off("change:rows", draw);
    model.off("change:columns", draw);
    model.off("change:selected", mark);
  };
}

export default { render };
