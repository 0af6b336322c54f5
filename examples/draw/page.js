// What you draw, how it is told, and what it changes.
const model = new FlyBloom(EXPORTED);
const SIDE = 8, CELLS = 32, PEN = 2.2; // the digits were scanned to 32 x 32 dots, and each pixel counts 16 of them
const element = id => document.getElementById(id);
const colour = name => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
const state = { strokes: [], example: null, nextExample: 0, row: null, winners: [], chosen: null, taught: [] };

// The strokes as 64 whole numbers: as large as the dots allow, drawn with a pen of fixed width, dots counted.
function pixelsOf(strokes) {
  const points = strokes.flat();
  if (!points.length) return null;
  const low = axis => Math.min(...points.map(p => p[axis])), high = axis => Math.max(...points.map(p => p[axis]));
  const room = CELLS - 2 * PEN, scale = room / Math.max(high(0) - low(0), high(1) - low(1), 0.05);
  const shift = axis => (CELLS - scale * (low(axis) + high(axis))) / 2;
  const dots = new Uint8Array(CELLS * CELLS);
  for (const stroke of strokes) {
    stroke.forEach((to, i) => {
      const from = stroke[Math.max(i - 1, 0)], steps = 1 + Math.ceil(4 * scale * Math.hypot(to[0] - from[0], to[1] - from[1]));
      for (let step = 0; step <= steps; step++) {
        const [x, y] = [0, 1].map(axis => shift(axis) + scale * (from[axis] + (to[axis] - from[axis]) * step / steps));
        for (let row = Math.floor(y - PEN); row <= y + PEN; row++) for (let column = Math.floor(x - PEN); column <= x + PEN; column++) {
          const isNear = Math.hypot(column + 0.5 - x, row + 0.5 - y) <= PEN;
          if (isNear && row >= 0 && row < CELLS && column >= 0 && column < CELLS) dots[row * CELLS + column] = 1;
        }
      }
    });
  }
  const pixels = new Int32Array(SIDE * SIDE), size = CELLS / SIDE;
  dots.forEach((dot, i) => { pixels[Math.floor(i / CELLS / size) * SIDE + Math.floor((i % CELLS) / size)] += dot; });
  return pixels;
}

function paint(canvas, values, ink) {
  const context = canvas.getContext("2d"), reach = Math.max(...values, 1e-9);
  context.clearRect(0, 0, canvas.width, canvas.height);
  context.fillStyle = colour("--pale");
  context.fillRect(0, 0, canvas.width, canvas.height);
  context.fillStyle = colour(ink);
  values.forEach((value, i) => {
    context.globalAlpha = value / reach;
    context.fillRect(i % SIDE, Math.floor(i / SIDE), 1, 1);
  });
  context.globalAlpha = 1;
}

function paintPad() {
  const pad = element("pad"), context = pad.getContext("2d");
  context.clearRect(0, 0, pad.width, pad.height);
  context.lineWidth = pad.width / 12;
  context.lineCap = context.lineJoin = "round";
  context.strokeStyle = colour("--ink");
  for (const stroke of state.strokes) {
    context.beginPath();
    stroke.forEach(([x, y], i) => context[i ? "lineTo" : "moveTo"](x * pad.width, y * pad.height));
    if (stroke.length === 1) context.lineTo(stroke[0][0] * pad.width, stroke[0][1] * pad.height);
    context.stroke();
  }
  if (state.example) {
    context.globalAlpha = 0.8;
    context.fillStyle = colour("--ink");
    const size = pad.width / (SIDE + 2);
    state.example.forEach((value, i) => {
      context.globalAlpha = value / 16;
      context.fillRect(size * (1 + i % SIDE), size * (1 + Math.floor(i / SIDE)), size, size);
    });
    context.globalAlpha = 1;
  }
}

// The counts of one class, a square for each component; a frame around the winners of the drawing.
function paintCounts(entry) {
  const canvas = element("hash"), context = canvas.getContext("2d");
  const across = Math.ceil(Math.sqrt(model.nComponents)), size = canvas.width / across;
  const reach = Math.log1p(Math.max(...entry.counts, 1));
  const corner = j => [(j % across) * size, Math.floor(j / across) * size];
  context.fillStyle = colour("--pale");
  context.fillRect(0, 0, canvas.width, canvas.height);
  context.fillStyle = colour("--fly");
  entry.counts.forEach((count, j) => {
    context.globalAlpha = count ? 0.15 + 0.85 * Math.log1p(count) / reach : 0;
    context.fillRect(...corner(j), size - 1, size - 1);
  });
  context.globalAlpha = 1;
  context.strokeStyle = colour("--win");
  context.lineWidth = 2.5;
  state.winners.forEach(j => context.strokeRect(...corner(j), size - 1, size - 1));
  const won = state.winners.map(j => entry.counts[j]), met = won.filter(Boolean).length;
  element("hash-caption").textContent = `Class ${entry.label}. ` + (won.length
    ? `${met} of your ${won.length} winners have won there before: ${won.slice(0, 12).join(", ")}, ... times.` : "");
}

function show() {
  state.row = state.example ?? pixelsOf(state.strokes);
  state.winners = state.row ? model.winners(state.row) : [];
  const novelty = state.row ? model.novelty(state.winners) : null;
  const told = novelty ? novelty.indexOf(Math.min(...novelty)) : -1;
  paintPad();
  paint(element("seen"), Array.from(state.row ?? new Int32Array(64)), "--ink");
  paint(element("speaks"), Array.from(told < 0 ? new Float64Array(64) : model.familiarityOf(state.row, state.winners, told)), "--fly");
  element("label").textContent = told < 0 ? "?" : model.classes[told].label;
  element("why").textContent = told < 0 ? "nothing drawn yet" : novelty[told] > 0.6
    ? `the least novel class, but novel to all: ${novelty[told].toFixed(3)}` : `the least novel class, ${novelty[told].toFixed(3)}`;
  const chosen = model.classes.find(entry => entry.label === state.chosen) ?? model.classes[Math.max(told, 0)];
  showClasses(novelty, told, chosen);
  paintCounts(chosen);
  showTeaching();
}

function showClasses(novelty, told, chosen) {
  element("classes").replaceChildren(...model.classes.map((entry, i) => {
    const line = document.createElement("tr");
    line.className = (i === told ? "told " : "") + (entry === chosen ? "chosen" : "");
    const bar = document.createElement("span");
    bar.className = "bar";
    bar.style.width = novelty ? `${70 * novelty[i]}%` : "0";
    const cells = [entry.label, entry.rows, novelty ? novelty[i].toFixed(3) : ""].map(text => {
      const cell = document.createElement("td");
      cell.textContent = text;
      return cell;
    });
    if (novelty) cells[2].prepend(bar);
    line.append(...cells);
    line.onclick = () => { state.chosen = entry.label; show(); };
    return line;
  }));
}

function showTeaching() {
  const labels = model.classes.map(entry => entry.label);
  element("teach").replaceChildren(...labels.map(label => {
    const button = document.createElement("button");
    button.textContent = label;
    button.disabled = !state.row;
    button.onclick = () => teach(label);
    return button;
  }));
  document.querySelector("#new-class button").disabled = !state.row;
  element("taught").replaceChildren(...state.taught.map((lesson, i) => {
    const line = document.createElement("li"), picture = document.createElement("canvas"), button = document.createElement("button");
    picture.width = picture.height = SIDE;
    paint(picture, Array.from(lesson.row), "--ink");
    button.textContent = "Forget";
    button.onclick = () => forget(i);
    line.append(picture, `taught as ${lesson.label}`, button);
    return line;
  }));
  element("forget-all").hidden = state.taught.length < 2;
  const changed = model.changedCounts(), all = model.exported.length * model.nComponents;
  element("state").textContent = changed
    ? `${changed} counts differ from those the page came with.`
    : `All ${all.toLocaleString("en")} counts are those the page came with, exactly.`;
  element("state").dataset.changed = changed;
}

function teach(label) {
  model.learn(state.winners, label);
  state.taught.push({ label, row: state.row, winners: state.winners });
  state.chosen = label;
  show();
}

function forget(i) {
  const [lesson] = state.taught.splice(i, 1);
  model.forget(lesson.winners, lesson.label);
  show();
}

function placeOf(event) {
  const box = element("pad").getBoundingClientRect();
  return [(event.clientX - box.left) / box.width, (event.clientY - box.top) / box.height];
}

element("pad").addEventListener("pointerdown", event => {
  event.preventDefault();
  if (event.isTrusted) element("pad").setPointerCapture(event.pointerId);
  [state.example, state.chosen] = [null, null];
  state.strokes.push([placeOf(event)]);
  show();
});
element("pad").addEventListener("pointermove", event => {
  if (!event.buttons || !state.strokes.length) return;
  state.strokes.at(-1).push(placeOf(event));
  requestAnimationFrame(show);
});
element("clear").onclick = () => { Object.assign(state, { strokes: [], example: null, chosen: null }); show(); };
element("example").onclick = () => {
  const rows = EXPORTED.examples;
  Object.assign(state, { strokes: [], example: Int32Array.from(rows[state.nextExample++ % rows.length]), chosen: null });
  show();
};
element("new-class").onsubmit = event => {
  event.preventDefault();
  const label = element("new-label").value.trim();
  if (label && state.row) teach(label);
};
element("forget-all").onclick = () => { while (state.taught.length) forget(state.taught.length - 1); };
element("decay").value = model.decay;
element("decay").oninput = event => { model.decay = Number(event.target.value); show(); element("decay-value").textContent = model.decay.toFixed(2); };
element("decay-value").textContent = model.decay.toFixed(2);
element("learned").textContent = model.classes.reduce((sum, entry) => sum + entry.rows, 0).toLocaleString("en");
element("n-components").textContent = model.nComponents.toLocaleString("en");
element("n-connections").textContent = model.nConnections;
element("n-winners").textContent = model.nWinners;
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", show);
show();
