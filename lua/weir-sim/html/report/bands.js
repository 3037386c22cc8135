// bands.js - the rows of a Gantt chart by node and by rack: what rows fold to from afar, and how they are named.

// The levels above units, the lowest first: {name, first: units, names}. A run of flat units has none.
function levelsOf(run) {
  const { raw } = run, levels = [];
  if (raw.nodes && raw.nodes.first.length < run.total) levels.push({ name: "node", ...raw.nodes });
  else if (!raw.nodes && raw.per > 1 && raw.per < run.total) {
    const first = Array.from({ length: Math.ceil(run.total / raw.per) }, (_, i) => i * raw.per);
    levels.push({ name: "node", first, names: first.map((_, i) => raw.names[i] || "rank " + i) });
  }
  if (raw.racks) levels.push({ name: "rack", ...raw.racks });
  return levels;
}

function bandEnd(run, level, k) { return k + 1 < level.first.length ? level.first[k + 1] : run.total; }

const FOLD = 2, BAND = 4; // pixels: lower units fold; bands are as high at least, where there is a level of such bands

// The level to which rows fold in a picture of `h` pixels; null where units are high enough or there is nothing to fold to.
function foldedLevel(run, view, h) {
  const unit = h / (view.r1 - view.r0) / run.total;
  if (unit >= FOLD || run.levels.length === 0) return null;
  const height = (level) => unit * run.total / level.first.length;
  const found = run.levels.find((level) => height(level) >= BAND), last = run.levels[run.levels.length - 1];
  return found || (height(last) >= FOLD ? last : null);
}

// The sums of cells: how much of a cell is in use, and which job has most of it.
function sumsOf(n) {
  return { all: new Float32Array(n), own: new Float32Array(n), most: new Float32Array(n), last: new Int32Array(n).fill(-1),
    who: new Int32Array(n).fill(-1) };
}

function addToCell(sums, at, i, part) {
  sums.all[at] += part;
  sums.own[at] = sums.last[at] === i ? sums.own[at] + part : part;
  sums.last[at] = i;
  if (sums.own[at] > sums.most[at]) [sums.most[at], sums.who[at]] = [sums.own[at], i];
}

// Adds a range of units of job i to the bands k0 to k1 - 1, which have `w` cells each.
function addRange(run, level, sums, w, k0, k1, i, first, end, x0, x1) {
  const xa = Math.max(0, Math.floor(x0)), xb = Math.min(w, Math.ceil(x1));
  for (let k = Math.max(k0, place(level.first, first, true) - 1); k < k1 && level.first[k] < end; k++) {
    const lo = level.first[k], hi = bandEnd(run, level, k), part = (Math.min(end, hi) - Math.max(first, lo)) / (hi - lo);
    for (let x = xa; x < xb; x++) addToCell(sums, (k - k0) * w + x, i, part * (Math.min(x1, x + 1) - Math.max(x0, x)));
  }
}

function cellColour(run, sums, at, levels, dense) {
  if (sums.all[at] < 0.005) return FREE;
  if (!dense && sums.most[at] >= 0.5) return run.colours[sums.who[at]];
  return levels[clamp(Math.round(sums.all[at] * 10), 1, 10) - 1];
}

// Draws each band of a level as one row: in the colour of the job that has half of a cell, else by how much is in use.
function rasterBands(run, view, pixels, w, h, level, dense) {
  const sx = w / (view.t1 - view.t0), sy = h / (view.r1 - view.r0) / run.total, top = view.r0 * run.total;
  const k0 = Math.max(0, place(level.first, top, true) - 1), k1 = place(level.first, Math.min(run.total, view.r1 * run.total));
  const sums = sumsOf((k1 - k0) * w), heats = Uint32Array.from(theme.heats, packed);
  eachJob(run, view.t0, view.t1, (i) => {
    if (run.matches && !run.matches.has(i)) return;
    const x0 = (run.start[i] - view.t0) * sx, x1 = (run.finish[i] - view.t0) * sx;
    for (let k = run.first[i]; k < run.first[i] + run.ranges[i]; k++)
      addRange(run, level, sums, w, k0, k1, i, run.units[2 * k], run.units[2 * k] + run.units[2 * k + 1], x0, x1);
  });
  pixels.fill(GAP_COLOUR);
  for (let k = k0; k < k1; k++) {
    const y0 = Math.max(0, Math.floor((level.first[k] - top) * sy)), y1 = Math.min(h, Math.floor((bandEnd(run, level, k) - top) * sy));
    const gap = y1 - y0 > 5 ? 1 : 0;
    for (let x = 0; x < w; x++) {
      const colour = cellColour(run, sums, (k - k0) * w + x, heats, dense);
      for (let y = y0; y < y1 - gap; y++) pixels[y * w + x] = colour;
    }
  }
}

// ---- names --------------------------------------------------------------------------------------------------------

function unitName(run, unit) {
  const { type, names } = run.raw, level = run.levels.find((l) => l.name === "node");
  if (!level) return names[unit] || (run.raw.nodes ? run.raw.nodes.names[unit] : type + " " + unit);
  const k = place(level.first, unit, true) - 1;
  return level.names[k] + " " + type + " " + (unit - level.first[k]);
}

// The level whose bands are high enough for names in a picture whose units are `row` pixels high: the lowest, else none.
function namedLevel(run, row) {
  return run.levels.find((level) => row * run.total / level.first.length >= 12) || null;
}

function drawRow(c, text, y, h) {
  if (y >= 5 && y <= h - 5) c.fillText(text.length > 12 ? text.slice(0, 11) + "\u2026" : text, GUTTER - 6, y);
}

// Names of racks or nodes where there is room for them, else each so many of them, else round numbers of units.
function drawRows(c, run, view, h) {
  const row = h / (view.r1 - view.r0) / run.total, top = view.r0 * run.total, end = Math.min(run.total, view.r1 * run.total);
  c.font = "11px " + FONT;
  c.textAlign = "right";
  c.textBaseline = "middle";
  c.fillStyle = theme.soft;
  const level = namedLevel(run, row) || run.levels[run.levels.length - 1];
  if (level && row < 12 || level && level.name === "node" && row < 12) {
    const n = level.first.length, every = Math.max(1, roundStep(12 / (row * run.total / n)));
    for (let k = 0; k < n; k += every) {
      const lo = Math.max(top, level.first[k]), hi = Math.min(end, bandEnd(run, level, k));
      if (hi > lo) drawRow(c, level.names[k], every > 1 ? Math.max(6, (lo - top + 0.5) * row) : ((lo + hi) / 2 - top) * row, h);
    }
    return;
  }
  const flat = run.raw.nodes && run.raw.nodes.first.length === run.total, step = Math.max(1, roundStep(14 / row));
  for (let unit = Math.max(0, Math.ceil(top / step) * step); unit < end; unit += step)
    drawRow(c, flat || level ? unitName(run, unit) : grouped(unit), Math.max((unit - top + 0.5) * row, unit === 0 ? 6 : 0), h);
}

// Lines between racks, where they are high enough, in a picture of `w` by `h` pixels right of the names.
function drawRacks(c, run, view, w, h) {
  const level = run.levels.find((l) => l.name === "rack"), row = h / (view.r1 - view.r0) / run.total;
  if (!level || row * run.total / level.first.length < 8) return;
  c.fillStyle = theme.soft;
  for (const first of level.first) {
    const y = Math.round((first - view.r0 * run.total) * row);
    if (first > 0 && y > 0 && y < h) c.fillRect(GUTTER, y - 1, w, 1);
  }
}

// The band at a unit that a click on the names zooms to: the lowest level with names, else the highest: [first, end].
function bandAt(run, view, h, unit) {
  const row = h / (view.r1 - view.r0) / run.total, level = namedLevel(run, row) || run.levels[run.levels.length - 1];
  if (!level || unit < 0 || unit >= run.total) return null;
  const k = place(level.first, unit, true) - 1;
  return [level.first[k], bandEnd(run, level, k), level.names[k]];
}

// How many units of a band are in use at a time, and by how many jobs: [units, jobs].
function useOfBand(run, t, first, end) {
  let units = 0, jobs = 0;
  eachJob(run, t, t + 1e-9, (i) => {
    if (run.start[i] > t) return;
    let own = 0;
    for (let k = run.first[i]; k < run.first[i] + run.ranges[i]; k++)
      own += Math.max(0, Math.min(end, run.units[2 * k] + run.units[2 * k + 1]) - Math.max(first, run.units[2 * k]));
    units += own;
    if (own > 0) jobs++;
  });
  return [units, jobs];
}
