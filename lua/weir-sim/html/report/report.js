// report.js - the page of a report: sentences, charts that share their time, metrics side by side, search.

for (const run of runs) readRun(run);
const begin = Math.min(...runs.map((run) => run.begin)), finish = Math.max(begin + 1, ...runs.map((run) => run.end));
data.base = begin > 1e8 ? begin : 0; // a clock since 1970 is recognized by the first submission on
times.extent = finish - data.base;
const all = { t0: begin, t1: finish, r0: 0, r1: 1 };
const view = { ...all }, ui = { charts: [], gantts: [], by: "job" };
const FOUND = 100;

// Whether a run may be judged against the first one: all jobs of both ended.
function comparable(run) { return !runs[0].raw.incomparable && !run.raw.incomparable; }

for (const run of runs.slice(1)) if (comparable(run)) run.moves = movesOf(runs[0], run);

// ---- metrics ------------------------------------------------------------------------------------------------------

function metricText(row) {
  if (row === undefined || row.value === undefined) return "";
  if (typeof row.value === "string") return row.value;
  if (row.unit === "%") return percent(row.value);
  if (row.unit === "s") return spanText(row.value);
  const n = Math.abs(row.value) >= 100 ? Math.round(row.value * 10) / 10 : +row.value.toPrecision(4);
  return grouped(n) + (row.unit ? " " + row.unit : "");
}

// What moved against the first run.
function movedCell(base, row) {
  const numbers = base && row && typeof base.value === "number" && typeof row.value === "number";
  if (!numbers || Math.abs(row.value - base.value) <= 0.0005 * Math.abs(base.value)) return el("td", { class: "moved" });
  const change = row.value - base.value, part = base.value !== 0 ? change / Math.abs(base.value) : null;
  const good = row.better && (row.better === "less") === (change < 0);
  const text = part === null ? "from 0" : part >= 9 ? "\u00d7 " + (row.value / base.value).toFixed(0)
    : (change > 0 ? "+" : "\u2212") + Math.abs(part * 100).toFixed(Math.abs(part) < 0.1 ? 1 : 0) + " %";
  return el("td", { class: "moved " + (row.better ? good ? "good" : "bad" : "") }, text);
}

function metricRow(row, tables) {
  if (row.group && row.value === undefined) return el("tr", {}, el("th", { colspan: 2 * runs.length, class: "group" }, row.group));
  const found = tables.map((table) => table.get(row.name)), cells = [];
  found.forEach((x, i) => {
    cells.push(el("td", { class: "number" }, metricText(x)));
    if (i > 0) cells.push(comparable(runs[i]) ? movedCell(found[0], x) : el("td", { class: "moved" }));
  });
  return el("tr", {}, el("td", { title: row.doc }, row.name), ...cells);
}

function metricsTable() {
  const tables = runs.map((run) => new Map(run.raw.metrics.map((row) => [row.name, row]))), rows = [], met = new Set();
  for (const run of runs)
    for (const row of run.raw.metrics) {
      const key = row.group && row.value === undefined ? "\0" + row.group : row.name;
      if (!met.has(key)) rows.push(metricRow(row, tables));
      met.add(key);
    }
  if (rows.length === 0) return null;
  const heads = runs.map((run, i) =>
    el("th", { colspan: i ? 2 : 1, class: "number" }, runs.length > 1 ? swatch(runColour(run.number)) : null, run.raw.title));
  return el("table", { id: "metrics" }, el("thead", {}, el("tr", {}, el("th"), ...heads)), el("tbody", {}, ...rows));
}

// ---- what is looked at --------------------------------------------------------------------------------------------

function draw() {
  const began = performance.now();
  for (const g of ui.gantts) g.draw();
  for (const chart of ui.charts) chart.draw();
  const span = view.t1 - view.t0, rows = view.r1 - view.r0 < 1 ? ", " + percent(view.r1 - view.r0) + " of the rows" : "";
  ui.range.textContent = shortClock(view.t0, span) + " to " + shortClock(view.t1, span) + " (" + spanText(span) + ")" + rows;
  document.body.dataset.ms = (performance.now() - began).toFixed(1);
}
const redraw = lazily(draw);

function look(t0, t1, r0, r1) {
  const whole = finish - begin, span = clamp(t1 - t0, whole * 1e-7, whole * 1.1), units = Math.max(...runs.map((run) => run.total));
  const rows = clamp(r1 - r0, Math.min(1, 2 / units), 1);
  view.t0 = clamp(t0, begin - whole * 0.05, finish + whole * 0.05 - span);
  view.t1 = view.t0 + span;
  view.r0 = clamp(r0, 0, 1 - rows);
  view.r1 = view.r0 + rows;
  remember();
  redraw();
}

function zoom(x, y, fx, fy) {
  const t = view.t0 + x * (view.t1 - view.t0), r = view.r0 + y * (view.r1 - view.r0);
  look(t - (t - view.t0) * fx, t + (view.t1 - t) * fx, r - (r - view.r0) * fy, r + (view.r1 - r) * fy);
}

function remember() {
  if (!ui.ready) return;
  const whole = ["t0", "t1", "r0", "r1"].every((k) => view[k] === all[k]);
  const part = { t0: +view.t0.toPrecision(12), t1: +view.t1.toPrecision(12), r0: +view.r0.toPrecision(6), r1: +view.r1.toPrecision(6) };
  writeHash({ ...(whole ? {} : part), by: ui.by === "job" ? undefined : ui.by, q: ui.search.value || undefined });
}

// ---- the pointer --------------------------------------------------------------------------------------------------

// Dragging moves, the wheel zooms in time, with Shift in rows; `rows`: whether there are any.
function listen(canvas, rows, lines) {
  let from = null;
  const width = () => canvas.clientWidth - GUTTER, height = () => canvas.clientHeight - AXIS;
  canvas.addEventListener("wheel", (e) => {
    if (!(e.ctrlKey || e.shiftKey || e.altKey || document.activeElement === canvas || ui.wheel)) return;
    e.preventDefault();
    const f = Math.exp((e.deltaY || e.deltaX) * (e.deltaMode ? 0.05 : 0.0015)), both = rows && (e.shiftKey || e.altKey);
    zoom((e.offsetX - GUTTER) / width(), e.offsetY / height(), both ? 1 : f, both ? f : 1);
  }, { passive: false });
  canvas.addEventListener("pointerdown", (e) => {
    from = { x: e.offsetX, y: e.offsetY, ...view };
    ui.wheel = true;
    canvas.setPointerCapture(e.pointerId);
  });
  canvas.addEventListener("pointerup", () => { from = null; });
  canvas.addEventListener("pointerleave", () => tip.hide());
  canvas.addEventListener("dblclick", (e) => zoom((e.offsetX - GUTTER) / width(), e.offsetY / height(), 0.4, rows ? 0.4 : 1));
  canvas.addEventListener("pointermove", (e) => {
    if (!from) {
      const t = view.t0 + (e.offsetX - GUTTER) / width() * (view.t1 - view.t0);
      return e.offsetX < GUTTER ? tip.hide() : tip.show(lines(t, e.offsetY), e.clientX, e.clientY);
    }
    const dt = (e.offsetX - from.x) / width() * (from.t1 - from.t0), dr = rows ? (e.offsetY - from.y) / height() * (from.r1 - from.r0) : 0;
    tip.hide();
    look(from.t0 - dt, from.t1 - dt, from.r0 - dr, from.r1 - dr);
  });
}

function ganttLines(gantt) {
  const { run } = gantt;
  return (t, y) => {
    const unit = gantt.unitAt(y);
    if (unit < 0 || unit >= run.total) return [clockText(t)];
    if (foldedLevel(run, view, gantt.height())) {
      const [first, end, name] = bandAt(run, view, gantt.height(), unit), [units, jobs] = useOfBand(run, t, first, end);
      return [name + " at " + clockText(t), grouped(units) + " of " + grouped(end - first) + " " + run.raw.type + " in use, by "
        + counted(jobs, "job"), "a click on its name shows it alone"];
    }
    const i = jobAt(run, t, unit), where = unitName(run, unit) + " at " + clockText(t);
    return i < 0 ? [where, "free"] : describeJob(run, i).concat(where);
  };
}

// A click on a name shows its rack or node alone; one more click, everything.
function unfold(gantt) {
  gantt.canvas.addEventListener("click", (e) => {
    if (e.offsetX >= GUTTER) return;
    const { run } = gantt, band = bandAt(run, view, gantt.height(), gantt.unitAt(e.offsetY));
    if (!band) return;
    const [r0, r1] = [band[0] / run.total, band[1] / run.total], whole = r1 - r0 >= view.r1 - view.r0 - 1e-9;
    look(view.t0, view.t1, whole ? 0 : r0, whole ? 1 : r1);
  });
}

function cycleColours() {
  const words = [...ui.colour.options].map((o) => o.value);
  changeColours(words[(words.indexOf(ui.by) + 1) % words.length]);
}

// The list stands below the charts: opened by a key, it is brought into view.
function toggleKeys() {
  ui.keys.open = !ui.keys.open;
  if (ui.keys.open) ui.keys.scrollIntoView({ block: "end" });
}

function key(e) {
  if (e.key === "Escape" && document.activeElement) document.activeElement.blur();
  if (e.target.tagName === "INPUT" || e.target.tagName === "SELECT" || e.ctrlKey || e.metaKey || e.altKey) return;
  const dt = (view.t1 - view.t0) * 0.15, dr = (view.r1 - view.r0) * 0.15;
  const move = (t, r) => () => look(view.t0 + t, view.t1 + t, view.r0 + r, view.r1 + r);
  const actions = { ArrowLeft: move(-dt, 0), ArrowRight: move(dt, 0),
    ArrowUp: e.shiftKey && move(0, -dr), ArrowDown: e.shiftKey && move(0, dr),
    "+": () => zoom(0.5, 0.5, 0.7, 1), "-": () => zoom(0.5, 0.5, 1 / 0.7, 1), 0: () => look(all.t0, all.t1, 0, 1),
    "/": () => ui.search.focus(), "?": toggleKeys, c: () => cycleColours() };
  if (!actions[e.key]) return;
  e.preventDefault();
  actions[e.key]();
}

// ---- search -------------------------------------------------------------------------------------------------------

// "17" or "job 17": that id; "user u3" or "u3": what the user has; else a part of a name.
function matcher(text) {
  const words = text.trim().toLowerCase(), job = words.match(/^job\s+(.+)$/), user = words.match(/^user\s+(.+)$/);
  return (run, i) => {
    const id = String(run.id[i]).toLowerCase(), own = userOf(run, i), name = nameOfJob(run, i);
    if (job) return id === job[1];
    if (user) return own !== null && own.toLowerCase() === user[1];
    return id === words || own !== null && own.toLowerCase() === words || name !== undefined && name.toLowerCase().includes(words);
  };
}

function foundRow(run, i) {
  const started = i < run.started, start = run.start[i];
  const cells = [...(runs.length > 1 ? [run.raw.title] : []), run.id[i], userOf(run, i) || "", grouped(run.size[i]),
    clockText(run.submit[i]),
    ...(started ? [clockText(start), spanText(start - run.submit[i]), spanText(run.finish[i] - start)] : ["not started", "", ""])];
  return el("tr", { class: "found", onclick: () => showJob(run, i) }, ...cells.map((x) => el("td", {}, String(x))));
}

function showJob(run, i) {
  const started = i < run.started, t0 = run.submit[i], t1 = started ? run.finish[i] : run.end, margin = Math.max(1, (t1 - t0) * 0.5);
  let lo = Infinity, hi = 0;
  for (let k = run.first[i]; k < run.first[i] + run.ranges[i]; k++) {
    lo = Math.min(lo, run.units[2 * k]);
    hi = Math.max(hi, run.units[2 * k] + run.units[2 * k + 1]);
  }
  const rows = hi > 0 ? [lo / run.total, hi / run.total] : [0, 1], pad = Math.max(0.02, (rows[1] - rows[0]) * 0.5);
  look(t0 - margin, t1 + margin, Math.max(0, rows[0] - pad), Math.min(1, rows[1] + pad));
}

function search() {
  const text = ui.search.value.trim(), test = text ? matcher(text) : null, rows = [];
  let count = 0;
  for (const run of runs) {
    run.matches = test ? new Set() : null;
    for (let i = 0; test && i < run.n; i++)
      if (test(run, i)) {
        run.matches.add(i);
        if (count++ < FOUND) rows.push(foundRow(run, i));
      }
    paintJobs(run, ui.by);
  }
  const heads = [...(runs.length > 1 ? ["run"] : []), "job", "user", runs[0].raw.type, "submitted", "started", "waited", "ran"];
  ui.found.replaceChildren();
  const heading = counted(count, "job") + (count > FOUND ? ", the first " + FOUND + ":" : "");
  if (test) ui.found.append(el("h2", {}, heading));
  if (count) ui.found.append(el("table", {}, el("tr", { class: "soft" }, ...heads.map((x) => el("th", {}, x))), ...rows));
  remember();
  redraw();
}

// ---- the page -----------------------------------------------------------------------------------------------------

function legendItem(colour, text) {
  return el("span", { class: "item" }, swatch(colour), text);
}

// Far out there are more jobs than pixels.
function scaleItem() {
  return el("span", { class: "item soft" }, "from afar: in use 1 % ", ...heatSwatches(), " 100 %");
}

// The users with the most units times seconds, so that colours by user have names.
function topUsers() {
  const users = new Map();
  for (const run of runs) for (const row of run.raw.spread.users) users.set(row.user, (users.get(row.user) || 0) + row.area);
  return [...users].sort((a, b) => b[1] - a[1]).slice(0, 12).map(([user]) => user);
}

const LEGENDS = {
  wait: () => ["1 min", "10 min", "1 h", "4 h", "1 d"].map((text, k) => legendItem(waitColour(WAITS[k][0]), "waited up to " + text))
    .concat(legendItem(waitColour(1e9), "longer")),
  state: () => [...new Set(runs.flatMap((run) => run.states))].map((s) => legendItem(STATE_COLOURS[s] || theme.none, s)),
  user: () => topUsers().map((user) => legendItem(colourOf(user), "user " + user)),
  difference: () => ["less than 1 h", "less than 1 d", "more"].flatMap((text, k) =>
    [legendItem(BETTER[k], "earlier by " + text), legendItem(WORSE[k], "later by " + text)])
    .concat(legendItem(theme.none, "as in " + runs[0].raw.title)),
  job: () => [el("span", { class: "soft" }, "a colour a job"), scaleItem()],
};

function showLegend() { ui.legend.replaceChildren(legendItem(theme.free, "free"), ...LEGENDS[ui.by]()); }

function changeColours(by) {
  ui.by = [...ui.colour.options].some((o) => o.value === by) ? by : "job";
  ui.colour.value = ui.by;
  for (const run of runs) paintJobs(run, ui.by);
  showLegend();
  remember();
  redraw();
}

function toolbar() {
  ui.search = searchField({ size: 26, placeholder: "job 17, user u3 or a name" }, 200, search);
  ui.colour = colourChoice(["job", "user", "wait", "state", ...(runs.length > 1 ? ["difference"] : [])], changeColours);
  ui.range = el("span", { class: "soft range" });
  ui.legend = el("span", { class: "bar" });
  const button = (text, title, act) => el("button", { title, onclick: act }, text);
  return el("div", { class: "bar tools" }, ui.search, el("label", {}, "colours by ", ui.colour),
    button("+", "closer", () => zoom(0.5, 0.5, 0.6, 1)), button("\u2212", "further away", () => zoom(0.5, 0.5, 1 / 0.6, 1)),
    button("whole", "everything (key 0)", () => look(all.t0, all.t1, 0, 1)), ui.range);
}

function runHeading(run) {
  const j = run.raw.jobs, parts = [grouped(j.total) + " jobs, " + grouped(run.total) + " " + run.raw.type];
  if (run.raw.subtitle) parts.unshift(run.raw.subtitle);
  if (run.n > run.started) parts.push(grouped(run.n - run.started) + " not started");
  if (j.left) parts.push("the " + grouped(j.left) + " smallest are not drawn, but counted");
  return el("h2", {}, runs.length > 1 ? swatch(runColour(run.number)) : null, run.raw.title,
    el("span", { class: "soft" }, "  " + parts.join(" \u00b7 ")));
}

function addCharts(to, names) {
  for (const name of names) {
    const chart = makeChart(name, runs, view);
    ui.charts.push(chart);
    to.append(el("section", {}, el("h2", {}, name), chart.canvas));
    listen(chart.canvas, false, (t) => [clockText(t), ...chart.at(t)]);
  }
}

function addGantts(main) {
  for (const run of runs) {
    const gantt = makeGantt(run, view, ui);
    ui.gantts.push(gantt);
    main.append(el("section", {}, runHeading(run), gantt.canvas));
    listen(gantt.canvas, true, ganttLines(gantt));
    unfold(gantt);
  }
  main.append(el("section", {}, ui.legend));
}

const KEYS = [["drag", "move"], ["wheel, after a click on a chart", "zoom in time; with Shift in rows"], ["double click", "zoom in"],
  ["click on the name of a rack or node", "show it alone; once more: everything"], ["\u2190 \u2192", "earlier, later"],
  ["Shift with \u2191 \u2193", "rows up, down"], ["+ \u2212", "zoom in time"], ["0", "everything"], ["c", "the next kind of colours"],
  ["/", "search; Escape leaves it"], ["?", "this list"]];

function keysList() {
  ui.keys = el("details", { id: "keys" }, el("summary", {}, "Keys and pointer"),
    el("table", {}, ...KEYS.map(([key, what]) => el("tr", {}, el("td", {}, key), el("td", { class: "soft" }, what)))));
  return ui.keys;
}

// The first screen: sentences, charts next to the metrics, Gantt charts; below it how waits are spread, and who waited. All that
// is drawn over time is in one column, so that a time is at one place in all charts.
function build() {
  const main = el("main"), names = [...new Set(runs.flatMap((run) => [...run.series.keys()]))], table = metricsTable();
  const first = ["utilisation", "queue", data.waits].filter((name) => names.includes(name)), charts = el("div", { class: "charts" });
  const more = el("div", { class: "charts" });
  document.body.append(el("header", {}, el("h1", {}, data.title), toolbar()), main);
  document.body.dataset.runs = runs.length;
  main.append(el("p", { id: "sentences" }, data.sentences.join(" ")), ui.found = el("section", { id: "found" }),
    el("div", { class: "first" + (runs.length > 3 ? " many" : "") }, charts, table && el("section", { class: "panel aside" }, table), more));
  addCharts(charts, first);
  addGantts(more);
  addCharts(more, names.filter((name) => !first.includes(name)));
  addPanels(main, more);
  main.append(keysList());
}

// Does what the address says: #t0=0&t1=3600&q=user u3&by=wait
function follow() {
  const h = readHash(), number = (key) => (h[key] === undefined || Number.isNaN(Number(h[key])) ? all[key] : Number(h[key]));
  changeColours(h.by || "job");
  ui.search.value = h.q || "";
  search();
  look(number("t0"), number("t1"), number("r0"), number("r1"));
}

build();
addEventListener("resize", redraw);
addEventListener("beforeprint", draw);
addEventListener("hashchange", follow);
addEventListener("keydown", key);
follow();
ui.ready = true;
draw();
document.body.dataset.ready = performance.now().toFixed(0);
