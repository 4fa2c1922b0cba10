// What the pictures can do beside being looked at. Everything is in the page without it.
"use strict";
document.documentElement.classList.add("js");

// One moment for all charts over time: a slider under each, or the pointer in it.
const charts = [...document.querySelectorAll("figure.chart")].map((figure) => ({
  figure,
  svg: figure.querySelector(".plot svg"),
  cursor: figure.querySelector(".cursor"),
  slider: figure.querySelector(".scrub input"),
  output: figure.querySelector(".scrub output"),
  names: [...figure.querySelectorAll("thead th")].map((th) => th.textContent),
  rows: [...figure.querySelectorAll("tbody tr")],
}));

// The first cycle of the axis, and the one behind its last.
function ends(chart) {
  return [Number(chart.rows[0].children[0].textContent), Number(chart.rows.at(-1).children[1].textContent)];
}

function moveTo(window, speaker) {
  for (const chart of charts) {
    const row = chart.rows[window];
    if (!row) continue;
    const cells = [...row.children].map((cell) => cell.textContent);
    const [from, to] = cells.map(Number);
    const [first, last] = ends(chart);
    chart.cursor.setAttribute("d", `M${(500 * (from + to - 2 * first)) / (last - first)} 0V100`);
    chart.cursor.style.visibility = "visible";
    chart.slider.value = window;
    const numbers = cells.slice(2).map(Number);
    const sum = numbers.reduce((a, b) => a + b, 0);
    const shares = chart.figure.id === "issue-slots";
    const parts = numbers
      .map((n, i) => [n, chart.names[i + 2]])
      .filter(([n]) => !shares || n > 0)
      .map(([n, name]) => (shares ? `${name} ${((100 * n) / sum).toFixed(1)} %` : `${name}: ${n.toLocaleString("en")}`));
    const text = `Cycles ${from} to ${to - 1}: ${parts.join(", ")}`;
    chart.slider.setAttribute("aria-valuetext", text);
    chart.output.textContent = text;
    // Only the chart that is being used is read aloud.
    chart.output.setAttribute("aria-live", chart === speaker ? "polite" : "off");
  }
}

for (const chart of charts) {
  chart.slider.addEventListener("input", () => moveTo(Number(chart.slider.value), chart));
  chart.svg.addEventListener("pointermove", (event) => {
    const box = chart.svg.getBoundingClientRect();
    const [first, last] = ends(chart);
    const cycle = first + ((event.clientX - box.left) / box.width) * (last - first);
    const window = chart.rows.findIndex((row) => Number(row.children[1].textContent) > cycle);
    if (window >= 0) moveTo(window, chart);
  });
}
if (charts.length > 0 && charts[0].rows.length > 0) {
  moveTo(Math.floor(charts[0].rows.length / 2), null);
}

// Tables that can be put in another order.
for (const table of document.querySelectorAll("table[data-sortable]")) {
  const body = table.tBodies[0];
  for (const button of table.querySelectorAll("thead button")) {
    button.addEventListener("click", () => {
      const head = button.closest("th");
      const column = head.cellIndex;
      const descending = head.getAttribute("aria-sort") !== "descending";
      for (const th of table.querySelectorAll("thead th")) th.removeAttribute("aria-sort");
      head.setAttribute("aria-sort", descending ? "descending" : "ascending");
      const value = (row) => Number(row.cells[column].dataset.value);
      const rows = [...body.rows].sort((a, b) => (descending ? value(b) - value(a) : value(a) - value(b)));
      body.append(...rows);
    });
  }
}

// The pipeline: zoom, and the times of the instruction that is chosen. Arrow keys go from one to the next.
for (const figure of document.querySelectorAll("figure.pipeline")) {
  const lanes = figure.querySelector(".lanes");
  const scroller = figure.querySelector(".lanes .scroll");
  const about = figure.querySelector("output.about");
  const names = [...figure.querySelectorAll("button.name")];
  // Brings the cycles of an instruction into view, the first of them if there are too many.
  const show = (name) => {
    const scale = scroller.scrollWidth / Number(lanes.style.getPropertyValue("--span"));
    const [from, to] = [name.dataset.from, name.dataset.to].map((cycle) => Number(cycle) * scale);
    const [left, width] = [scroller.scrollLeft, scroller.clientWidth];
    if (from < left || to > left + width) {
      scroller.scrollLeft = to - from > width ? from - width / 10 : (from + to - width) / 2;
    }
  };
  for (const button of figure.querySelectorAll("[data-zoom]")) {
    button.addEventListener("click", () => {
      const factor = Number(button.dataset.zoom);
      const span = Number(lanes.style.getPropertyValue("--span"));
      const whole = scroller.clientWidth / span;
      const middle = (scroller.scrollLeft + scroller.clientWidth / 2) / scroller.scrollWidth;
      const before = scroller.scrollWidth / span;
      const zoom = factor === 0 ? whole : Math.min(40, Math.max(whole, before * factor));
      lanes.style.setProperty("--zoom", zoom);
      scroller.scrollLeft = middle * scroller.scrollWidth - scroller.clientWidth / 2;
      // Not to end up where there is nothing: the chosen instruction is kept in view, or the one that is nearest.
      const distance = ({ dataset: { from, to } }) => Math.max(from - middle * span, middle * span - to, 0);
      const nearest = () => names.reduce((best, name) => (distance(name) < distance(best) ? name : best));
      show(names.find((name) => name.classList.contains("chosen")) ?? nearest());
    });
  }
  const choose = (name) => {
    for (const other of names) {
      other.tabIndex = other === name ? 0 : -1;
      other.classList.toggle("chosen", other === name);
    }
    about.textContent = name.dataset.about;
  };
  names.forEach((name, place) => {
    name.addEventListener("focus", () => {
      choose(name);
      show(name);
    });
    name.addEventListener("pointerenter", () => choose(name));
    name.addEventListener("keydown", (event) => {
      const to = { ArrowDown: place + 1, ArrowUp: place - 1, Home: 0, End: names.length - 1 }[event.key];
      if (to !== undefined && names[to]) {
        event.preventDefault();
        names[to].focus();
      }
    });
  });
  if (names.length > 0) names[0].tabIndex = 0;
}
