"use strict";
const data = JSON.parse(document.getElementById("data").textContent);
const chosen = id => document.getElementById(id).value;
const cells = [...document.querySelectorAll("[data-cell]")];
let source = data.question;

function index(cell) {
  const [row, column] = cell.dataset.cell.split(",").map(Number);
  return row * data.columns + column;
}

// Shares from the source to each cell, the question and the cells not shown: means over the chosen
// heads; null if the layer has no such heads.
function shares() {
  let sums = null, count = 0;
  for (const map of data.views[chosen("view")]) {
    if (chosen("layer") && Number(chosen("layer")) !== map.layer) continue;
    if (chosen("heads") && chosen("heads") !== map.heads) continue;
    const row = data.stored[map.shares][source].split(",");
    sums = row.map((number, target) => (sums ? sums[target] : 0) + map.count * Number(number));
    count += map.count;
  }
  return sums && sums.map(sum => sum / count / data.unit);
}

function percent(share) {
  return share >= 0.0995 ? `${Math.round(100 * share)} %` : `${(100 * share).toFixed(1)} %`;
}

function draw() {
  const found = shares(), isMask = chosen("view") === "mask";
  const values = found || new Array(data.question + 2).fill(0);
  const largest = Math.max(...values.slice(0, data.question)) || 1;
  for (const cell of cells) {
    const value = values[index(cell)];
    cell.style.setProperty("--share", (value / largest).toFixed(3));
    cell.classList.toggle("chosen", index(cell) === source);
    let number = cell.querySelector(".share");
    if (!number) {
      number = cell.appendChild(document.createElement("span"));
      number.className = "share";
    }
    number.textContent = value >= 0.001 ? percent(value) : "";
  }
  document.getElementById("question").classList.toggle("chosen", source === data.question);
  const kind = isMask ? "answer" : "attention";
  document.querySelector(".mate-table").className = `mate-table ${kind}`;
  const legend = document.querySelector(".legend");
  legend.className = `legend ${kind}`;
  const row = Math.floor(source / data.columns), column = source % data.columns + 1;
  const from = source === data.question ? "the question"
    : row ? `row ${row}, column ${column}` : `the name of column ${column}`;
  legend.firstChild.textContent =
    `${isMask ? "share of a cell's tokens attended to from" : "attention from"} ${from} 0`;
  legend.lastChild.textContent = percent(largest);
  const [toQuestion, toHidden] = values.slice(data.question);
  document.querySelector(".mate-below p").textContent = !found
    ? `${document.getElementById("layer").selectedOptions[0].text} has no ${chosen("heads")}`
    : `${isMask ? "It attends to" : "It gives"} ${percent(toQuestion)} ${isMask ? "of" : "to"} the question`
      + (data.hidden ? `, ${percent(toHidden)} ${isMask ? "of" : "to"} the cells not shown` : "");
}

function look(from) {
  source = from;
  draw();
}

for (const cell of cells) cell.addEventListener("click", () => look(index(cell)));
document.getElementById("question").addEventListener("click", () => look(data.question));
for (const id of ["view", "layer", "heads"]) {
  document.getElementById(id).addEventListener("change", draw);
}
draw();
