// chart.js - charts of step functions over the time that is looked at: all runs in one chart.

const GUTTER = 84, AXIS = 20;

// Mean, smallest and greatest value of steps by pixel column: NaN where there is nothing yet.
function columnsOf(s, t0, t1, width) {
  const mean = new Float64Array(width).fill(NaN), smallest = new Float64Array(width), greatest = new Float64Array(width), dt = (t1 - t0) / width;
  let i = place(s.times, t0, true) - 1;
  for (let x = 0; x < width; x++) {
    const a = t0 + x * dt, b = a + dt;
    let sum = 0, known = 0, lo = Infinity, hi = -Infinity;
    for (;;) {
      const from = i < 0 ? a : Math.max(a, s.times[i]), to = Math.min(b, i + 1 < s.times.length ? s.times[i + 1] : b);
      if (i >= 0 && to > from) {
        sum += s.values[i] * (to - from);
        known += to - from;
        lo = Math.min(lo, s.values[i]);
        hi = Math.max(hi, s.values[i]);
      }
      if (i + 1 >= s.times.length || s.times[i + 1] >= b) break;
      i++;
    }
    if (known > 0) [mean[x], smallest[x], greatest[x]] = [sum / known, lo, hi];
  }
  return { mean, smallest, greatest };
}

function roundTop(x) {
  if (!(x > 0)) return 1;
  return roundStep(x);
}

function runColour(number) { return data.hues[[1, 0, 6, 8, 2, 9, 11, 3][number % 8]][dark && number % 8 === 5 ? 1 : 0]; }

// The times of the axis on a canvas `w` wide: {x, text} each.
function ticksOf(view, w) {
  return clockTicks(view.t0, view.t1, Math.max(1, (w - GUTTER) / 100)).map((tick) =>
    ({ x: GUTTER + (tick.t - view.t0) / (view.t1 - view.t0) * (w - GUTTER), text: tick.text }));
}

function drawTimes(c, view, w, h) {
  c.font = "11px " + FONT;
  c.textBaseline = "top";
  c.textAlign = "center";
  for (const tick of ticksOf(view, w)) {
    c.fillStyle = theme.grid;
    c.fillRect(Math.round(tick.x), 0, 1, h - AXIS + 4);
    c.fillStyle = theme.soft;
    const half = c.measureText(tick.text).width / 2;
    if (tick.x - half > GUTTER - 20 && tick.x + half <= w) c.fillText(tick.text, tick.x, h - AXIS + 6);
  }
}

// A value of a series as text: "%" a share, "s" a length of time.
function valueText(x, unit) {
  return unit === "%" ? percent(x) : unit === "s" ? spanText(x) : grouped(+x.toFixed(x < 10 ? 2 : 1));
}

function drawValues(c, top, unit, w, h) {
  c.textAlign = "right";
  c.textBaseline = "middle";
  for (const f of [0, 0.5, 1]) {
    if (unit === "" && top === 1 && f === 0.5) continue;
    const y = Math.round((1 - f) * (h - AXIS - 8)) + 8;
    c.fillStyle = theme.grid;
    c.fillRect(GUTTER, y, w - GUTTER, 1);
    c.fillStyle = theme.soft;
    c.fillText(valueText(f * top, unit), GUTTER - 6, y);
  }
}

function drawSteps(c, cols, y, colour, alone) {
  const n = cols.mean.length;
  c.fillStyle = colour;
  if (alone) {
    c.globalAlpha = 0.25;
    for (let x = 0; x < n; x++) if (!Number.isNaN(cols.mean[x])) c.fillRect(GUTTER + x, y(cols.greatest[x]), 1, y(0) - y(cols.greatest[x]));
    c.globalAlpha = 1;
  }
  c.strokeStyle = colour;
  c.lineWidth = 1.5;
  c.lineJoin = "bevel";
  c.beginPath();
  let down = false;
  for (let x = 0; x < n; x++) {
    if (Number.isNaN(cols.mean[x])) down = false;
    else if (down) c.lineTo(GUTTER + x + 0.5, y(cols.mean[x]));
    else c.moveTo(GUTTER + x + 0.5, y(cols.mean[x]));
    down = down || !Number.isNaN(cols.mean[x]);
  }
  c.stroke();
}

// The unit of a series: "%", "s", or "" for a number.
function unitOf(name, runs) {
  if (name === "utilisation") return "%";
  const found = runs.map((run) => run.series.get(name)).find((s) => s && s.unit);
  return found ? found.unit : "";
}

const SPANS = [1, 2, 4, 10, 20, 60, 120, 240, 600, 1200, 3600, 7200, 4 * 3600, 8 * 3600, 12 * 3600, 86400, 2 * 86400, 4 * 86400];

// A round length of time not below x, whose half is round, too.
function roundSpan(x) { return SPANS.find((s) => s >= x) || 86400 * roundStep(x / 86400); }

// The largest value that the axis shows: round, and not below what is drawn.
function topOf(shown, unit) {
  let greatest = 0;
  for (const { cols } of shown) for (const x of shown.length === 1 && unit !== "s" ? cols.greatest : cols.mean) if (x > greatest) greatest = x;
  if (unit === "%" && greatest <= 1 + 1e-9) return 1;
  return greatest <= 0 ? 1 : unit === "s" ? roundSpan(greatest) : roundTop(greatest);
}

// A chart of one series of all runs.
function makeChart(name, runs, view) {
  const canvas = el("canvas", { class: "chart", "aria-label": name, tabindex: 0 }), unit = unitOf(name, runs);
  const chart = { name, canvas, draw() {
    const c = fitCanvas(canvas), w = canvas.clientWidth, h = canvas.clientHeight, width = Math.max(1, Math.floor(w - GUTTER));
    const shown = runs.filter((run) => run.series.has(name)).map((run) =>
      ({ run, cols: columnsOf(run.series.get(name), view.t0, view.t1, width) }));
    const top = topOf(shown, unit), y = (v) => 8 + (1 - Math.min(v, top) / top) * (h - AXIS - 8);
    c.clearRect(0, 0, w, h);
    drawTimes(c, view, w, h);
    drawValues(c, top, unit, w, h);
    for (const { run, cols } of shown) drawSteps(c, cols, y, runColour(run.number), shown.length === 1 && unit !== "s");
  }, at(t) {
    return runs.filter((run) => run.series.has(name)).map((run) => {
      const s = run.series.get(name), i = place(s.times, t, true) - 1, v = i < 0 ? 0 : s.values[i];
      return (runs.length > 1 ? run.raw.title + ": " : name + " ") + valueText(v, unit);
    });
  } };
  return chart;
}
