// A table of which only the rows in sight are there. Cells are set as text, so that nothing in them is markup.
//
// renderRows({values, el, on}) needs no kernel and returns {set}; on.selected(row) is told what a person wants.
// Rows and cells stay and their text changes: while steps are played a press and its release are on the same cell.

export function renderRows({ values, el, on = {} }) {
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
  // A page that was asked for and is still on its way is the one to go on from.
  const from = () => {
    const { first, page, selected } = values;
    return selected >= first && selected < first + page ? first : selected;
  };
  const previous = button("◀ earlier", () => from() - values.page);
  const next = button("later ▶", () => from() + values.page);
  const shown = document.createElement("span");
  nav.append(previous, next, shown);
  const top = document.createElement("thead");
  const body = document.createElement("tbody");
  table.append(top, body);
  el.append(table, nav);

  const select = (row) => {
    on.selected?.(Math.max(0, Math.min(values.total - 1, row)));
  };
  table.addEventListener("keydown", (event) => {
    const { selected: at, page, total } = values;
    const wanted = { ArrowUp: at - 1, ArrowDown: at + 1, PageUp: at - page, PageDown: at + page, Home: 0, End: total - 1 }[event.key];
    if (wanted === undefined) return;
    event.preventDefault();
    event.stopPropagation();
    select(wanted);
  });

  body.addEventListener("click", (event) => {
    const row = event.target.closest("tr");
    if (row) select(Number(row.dataset.row));
  });

  // As many elements of a kind as asked for, those that are there first.
  const filled = (parent, tag, count) => {
    while (parent.children.length > count) parent.lastElementChild.remove();
    while (parent.children.length < count) parent.append(document.createElement(tag));
    return [...parent.children];
  };
  const draw = () => {
    const { columns, first, rows, total } = values;
    const [head] = filled(top, "tr", 1);
    filled(head, "th", columns.length).forEach((cell, at) => {
      cell.scope = "col";
      [cell.textContent, cell.className] = columns[at];
    });
    filled(body, "tr", rows.length).forEach((row, number) => {
      const [look, ...cells] = rows[number];
      row.className = look;
      row.dataset.row = first + number;
      row.setAttribute("aria-rowindex", first + number + 2);
      filled(row, "td", cells.length).forEach((cell, at) => {
        cell.textContent = cells[at];
        cell.className = columns[at][1];
      });
    });
    table.setAttribute("aria-rowcount", total + 1);
    table.setAttribute("aria-label", values.label);
    const last = first + rows.length;
    const said = (value) => value.toLocaleString("en");
    shown.textContent = rows.length ? `showing ${said(rows.length)} of ${said(total)} ${values.noun}: ${said(first)} to ${said(last - 1)}` : "";
    previous.disabled = first === 0;
    next.disabled = last >= total;
    nav.hidden = rows.length === total;
    mark();
  };
  const mark = () => {
    for (const row of body.rows) {
      row.setAttribute("aria-selected", String(Number(row.dataset.row) === values.selected));
    }
  };

  draw();
  return {
    set(changed) {
      values = { ...values, ...changed };
      if ("rows" in changed || "columns" in changed) draw();
      else mark();
    },
  };
}

function render({ model, el }) {
  const names = ["columns", "rows", "first", "total", "selected", "page", "noun", "label"];
  const values = () => Object.fromEntries(names.map((name) => [name, model.get(name)]));
  const shown = renderRows({
    values: values(), el, on: {
      selected: (row) => {
        model.set("selected", row);
        model.save_changes();
      },
    },
  });
  const rows = () => shown.set(values());
  const selected = () => shown.set({ selected: model.get("selected") });
  model.on("change:rows change:columns", rows);
  model.on("change:selected", selected);
  return () => {
    model.off("change:rows change:columns", rows);
    model.off("change:selected", selected);
  };
}

export default { render };
