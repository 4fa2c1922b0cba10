// What one can do with the page beside looking at it: choose runs along axes, find a run in every picture, sort.
"use strict";
document.documentElement.classList.add("js");

// A run is a line, points and a row of the table, which share its number.
const marks = new Map();
for (const element of document.querySelectorAll("[data-row]")) {
  const row = element.dataset.row;
  if (!marks.has(row)) marks.set(row, []);
  marks.get(row).push(element);
}
const chosen = document.querySelector(".chosen");

function light(row, on) {
  for (const element of marks.get(row) || []) {
    element.classList.toggle(element.matches("circle") ? "lit" : "on", on);
    const title = element.querySelector("title");
    if (on && title) chosen.textContent = title.textContent;
  }
  if (!on) chosen.textContent = "";
}

for (const [row, elements] of marks) {
  for (const element of elements) {
    element.addEventListener("pointerenter", () => light(row, true));
    element.addEventListener("pointerleave", () => light(row, false));
  }
}

// Parallel coordinates: a range of each axis, as places in the picture; a run is chosen if it crosses all of them.
const svg = document.querySelector("svg.parallel");
const ranges = new Map();
const lines = [...document.querySelectorAll(".parallel polyline")].map((line) => ({
  row: line.dataset.row,
  places: new Map(line.getAttribute("points").split(" ").map((point) => point.split(",").map(Number))),
}));

function choose() {
  let inside = 0;
  for (const line of lines) {
    const out = [...ranges].some(([x, [from, to]]) => {
      const y = line.places.get(x);
      return y === undefined || y < from - 0.5 || y > to + 0.5;
    });
    if (!out) inside += 1;
    for (const element of marks.get(line.row)) {
      if (element.matches("tr")) element.hidden = out;
      else element.classList.toggle("out", out);
    }
  }
  const count = document.querySelector(".count");
  if (count) count.textContent = ranges.size > 0 ? `${inside} of ${lines.length} runs are chosen.` : "";
}

for (const axis of svg ? svg.querySelectorAll(".axis") : []) {
  const grip = axis.querySelector(".grip");
  const brush = axis.querySelector(".brush");
  const x = Number(axis.dataset.x);
  const top = Number(grip.getAttribute("y"));
  const bottom = top + Number(grip.getAttribute("height"));
  const place = (event) => {
    const point = new DOMPoint(event.clientX, event.clientY).matrixTransform(svg.getScreenCTM().inverse());
    return Math.min(bottom, Math.max(top, point.y));
  };
  let start = null;
  const draw = (from, to) => {
    brush.setAttribute("y", from);
    brush.setAttribute("height", to - from);
    if (to - from > 2) ranges.set(x, [from, to]);
    else ranges.delete(x);
    if (to - from <= 2) brush.setAttribute("height", 0);
    choose();
  };
  grip.addEventListener("pointerdown", (event) => {
    start = place(event);
    grip.setPointerCapture(event.pointerId);
    draw(start, start);
    event.preventDefault();
  });
  grip.addEventListener("pointermove", (event) => {
    if (start !== null) draw(Math.min(start, place(event)), Math.max(start, place(event)));
  });
  grip.addEventListener("pointerup", () => {
    start = null;
  });
}

// Tables that can be put in another order: by number where all values are numbers.
for (const table of document.querySelectorAll("table[data-sortable]")) {
  const body = table.tBodies[0];
  for (const button of table.querySelectorAll("thead button")) {
    button.addEventListener("click", () => {
      const head = button.closest("th");
      const column = head.cellIndex;
      const descending = head.getAttribute("aria-sort") === "ascending";
      for (const th of table.querySelectorAll("thead th")) th.removeAttribute("aria-sort");
      head.setAttribute("aria-sort", descending ? "descending" : "ascending");
      const values = new Map([...body.rows].map((row) => [row, row.cells[column].dataset.value]));
      const numeric = [...values.values()].every((value) => value === "" || Number.isFinite(Number(value)));
      // What has no value goes last.
      const number = (row) => (values.get(row) === "" ? Infinity * (descending ? -1 : 1) : Number(values.get(row)));
      const order = numeric
        ? (a, b) => number(a) - number(b) || 0
        : (a, b) => values.get(a).localeCompare(values.get(b), "en");
      body.append(...[...body.rows].sort((a, b) => (descending ? order(b, a) : order(a, b))));
    });
  }
}
