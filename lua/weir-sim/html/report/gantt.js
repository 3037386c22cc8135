// gantt.js - who has which units, when: rows are units, one picture a run. Drawn pixel by pixel, so that its cost is that of
// the pixels and of the jobs in sight, not of shapes.

// "#rrggbb" as it stands in the memory of an image.
function packed(colour) {
  const n = parseInt(colour.slice(1), 16);
  return (255 << 24 | (n & 255) << 16 | (n & 0xff00) | n >> 16) >>> 0;
}

const FREE = packed(theme.free), DIM = packed(dark ? "#3a424c" : "#c4ccd4"), GAP_COLOUR = packed(theme.page);

const WAITS = [[60, 0], [600, 2], [3600, 4], [4 * 3600, 6], [86400, 8], [Infinity, 9]];
function waitColour(wait) {
  return Number.isNaN(wait) ? theme.none : theme.heats[WAITS.find(([limit]) => wait <= limit)[1]];
}

const STATE_COLOURS = { done: "#44aa99", failed: "#cc6677", killed: "#882255", cancelled: "#999933", pending: "#88ccee" };

function jobPaint(run, i, by) {
  if (by === "user") return run.user[i] < 0 ? theme.none : colourOf(run.users[run.user[i]]);
  if (by === "wait") return waitColour(run.start[i] - run.submit[i]);
  if (by === "difference") return moveColour(run.moves ? run.moves[i] : NaN);
  if (by === "state") return STATE_COLOURS[stateOfJob(run, i)] || theme.none;
  return colourOf(run.id[i]);
}

// What started earlier than in the first run, and what started later: three shades each, by less than an hour, less than a
// day, and more.
const BETTER = dark ? ["#1d4f49", "#2c8478", "#5fd0bf"] : ["#a9dcd3", "#45a899", "#00695c"];
const WORSE = dark ? ["#5c3420", "#a85a32", "#ff9d6b"] : ["#f7cdb5", "#e5824f", "#b23c0a"];
function moveColour(move) {
  if (Number.isNaN(move) || move === 0) return theme.none;
  const far = Math.abs(move), shade = far < 3600 ? 0 : far < 86400 ? 1 : 2;
  return (move < 0 ? BETTER : WORSE)[shade];
}

// The colours of the jobs; those that are not searched for are grey.
function paintJobs(run, by) {
  const known = new Map();
  for (let i = 0; i < run.n; i++) {
    const colour = jobPaint(run, i, by);
    let n = known.get(colour);
    if (n === undefined) known.set(colour, n = packed(colour));
    run.colours[i] = run.matches && !run.matches.has(i) ? DIM : n;
  }
}

// Fills the pixels of one job; where it is smaller than a pixel, only what nobody else has.
function fillJob(pixels, w, x0, x1, y0, y1, colour) {
  if (x1 <= x0) {
    for (let y = y0, at = y0 * w + x0; y < y1; y++, at += w) if (pixels[at] === FREE) pixels[at] = colour;
    return;
  }
  const gap = x1 - x0 > 4;
  for (let y = y0; y < y1; y++) {
    const row = y * w;
    if (x1 - x0 < 12) for (let x = x0; x < x1; x++) pixels[row + x] = colour;
    else pixels.fill(colour, row + x0, row + x1);
    if (gap) pixels[row + x1 - 1] = GAP_COLOUR;
  }
}

// Draws jobs into an image of w x h pixels: those that are in a set, or all but these; all, without a set.
function raster(run, view, pixels, w, h, set, inside) {
  const sx = w / (view.t1 - view.t0), sy = h / (view.r1 - view.r0) / run.total, top = view.r0 * run.total;
  eachJob(run, view.t0, view.t1, (i) => {
    if (set && set.has(i) !== inside) return;
    const x0 = clamp(Math.floor((run.start[i] - view.t0) * sx), 0, w - 1), end = Math.min(w, Math.floor((run.finish[i] - view.t0) * sx));
    const x1 = set && inside ? Math.max(end, x0 + 1) : end;
    for (let k = run.first[i]; k < run.first[i] + run.ranges[i]; k++) {
      const a = Math.floor((run.units[2 * k] - top) * sy), b = Math.floor((run.units[2 * k] + run.units[2 * k + 1] - top) * sy);
      if (b < 0 || a >= h) continue;
      const y0 = Math.max(0, a), y1 = Math.min(h, Math.max(b - (sy > 5 ? 1 : 0), a + 1));
      fillJob(pixels, w, x0, x1, y0, y1, run.colours[i]);
    }
  });
}

// Adds `weight` to each pixel of a rectangle, in the part that it covers of it.
function cover(sums, w, h, x0, x1, y0, y1, weight) {
  const xa = Math.max(0, Math.floor(x0)), xb = Math.min(w, Math.ceil(x1));
  const ya = Math.max(0, Math.floor(y0)), yb = Math.min(h, Math.ceil(y1));
  for (let y = ya; y < yb; y++) {
    const high = (Math.min(y1, y + 1) - Math.max(y0, y)) * weight;
    for (let x = xa, at = y * w + xa; x < xb; x++, at++) sums[at] += high * (Math.min(x1, x + 1) - Math.max(x0, x));
  }
}

const heat = { sums: new Float32Array(0) }; // kept from frame to frame

// Where there are many jobs to a pixel: how much of it is in use.
function rasterHeat(run, view, pixels, w, h) {
  const sx = w / (view.t1 - view.t0), sy = h / (view.r1 - view.r0) / run.total, top = view.r0 * run.total;
  if (heat.sums.length !== w * h) heat.sums = new Float32Array(w * h);
  const sums = heat.sums.fill(0), levels = Uint32Array.from([theme.free, ...theme.heats], packed);
  eachJob(run, view.t0, view.t1, (i) => {
    const x0 = (run.start[i] - view.t0) * sx, x1 = (run.finish[i] - view.t0) * sx;
    for (let k = run.first[i]; k < run.first[i] + run.ranges[i]; k++)
      cover(sums, w, h, x0, x1, (run.units[2 * k] - top) * sy, (run.units[2 * k] + run.units[2 * k + 1] - top) * sy, 1);
  });
  for (let i = 0; i < sums.length; i++) pixels[i] = levels[sums[i] < 0.005 ? 0 : clamp(Math.round(sums[i] * 10), 1, 10)];
}

const DENSE = 3; // jobs to a column of pixels, from which on one cannot tell them apart

// Returns how many jobs there are in sight. Rows fold to nodes or racks where units are too low to be seen.
function paint(run, view, pixels, w, h, by) {
  let count = 0;
  eachJob(run, view.t0, view.t1, () => { count++; });
  const dense = by === "job" && !run.matches && count > DENSE * w, level = foldedLevel(run, view, h);
  if (level) {
    rasterBands(run, view, pixels, w, h, level, dense);
  } else if (dense) {
    rasterHeat(run, view, pixels, w, h);
  } else {
    pixels.fill(FREE);
    raster(run, view, pixels, w, h, run.matches, false);
    if (run.matches) raster(run, view, pixels, w, h, run.matches, true);
  }
  return count;
}

// ---- what is written on it ----------------------------------------------------------------------------------------

function drawLabels(c, run, view, w, h) {
  const sx = w / (view.t1 - view.t0), sy = h / (view.r1 - view.r0) / run.total, top = view.r0 * run.total;
  let left = 1500;
  c.font = "11px " + FONT;
  c.textAlign = "left";
  c.textBaseline = "middle";
  eachJob(run, view.t0, view.t1, (i) => {
    const x0 = Math.max(0, (run.start[i] - view.t0) * sx), wide = Math.min(w, (run.finish[i] - view.t0) * sx) - x0;
    if (wide < 24 || left <= 0) return;
    for (let k = run.first[i]; k < run.first[i] + run.ranges[i]; k++) {
      const y0 = Math.max(0, (run.units[2 * k] - top) * sy), y1 = Math.min(h, (run.units[2 * k] + run.units[2 * k + 1] - top) * sy);
      const text = String(run.id[i]);
      if (y1 - y0 < 11 || text.length * 7 + 6 > wide) continue;
      c.fillStyle = isDark("#" + colourHex(run.colours[i])) ? "#fff" : "#1f2328";
      c.fillText(text, GUTTER + x0 + 3, (y0 + y1) / 2 + 0.5);
      left--;
      break;
    }
  });
}

function colourHex(n) {
  return ((n & 255) << 16 | (n & 0xff00) | n >> 16 & 255).toString(16).padStart(6, "0");
}

// ---- one chart ----------------------------------------------------------------------------------------------------

function makeGantt(run, view, settings) {
  const canvas = el("canvas", { class: "gantt", tabindex: 0, "aria-label": "Gantt chart of " + run.raw.title });
  let image = null;
  return { run, canvas, draw() {
    const began = performance.now(), ratio = window.devicePixelRatio || 1, c = fitCanvas(canvas);
    const w = Math.max(1, Math.floor((canvas.clientWidth - GUTTER) * ratio));
    const h = Math.max(1, Math.floor((canvas.clientHeight - AXIS) * ratio));
    if (!image || image.width !== w || image.height !== h) image = c.createImageData(w, h);
    c.clearRect(0, 0, canvas.clientWidth, canvas.clientHeight);
    const seen = paint(run, view, new Uint32Array(image.data.buffer), w, h, settings.by);
    drawTimes(c, view, canvas.clientWidth, canvas.clientHeight);
    c.putImageData(image, Math.round(GUTTER * ratio), 0);
    if (seen <= DENSE * w && !foldedLevel(run, view, h)) drawLabels(c, run, view, w / ratio, h / ratio);
    drawRacks(c, run, view, w / ratio, h / ratio);
    drawRows(c, run, view, h / ratio);
    canvas.dataset.seen = seen;
    canvas.dataset.ms = (performance.now() - began).toFixed(1);
  }, height() { return canvas.clientHeight - AXIS; }, unitAt(y) {
    return Math.floor((view.r0 + y / (canvas.clientHeight - AXIS) * (view.r1 - view.r0)) * run.total);
  } };
}
