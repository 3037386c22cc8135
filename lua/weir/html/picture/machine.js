// machine.js - the page of a machine: colours, time, search, what is selected.

data.stateFirsts = data.states.filter((_, i) => i % 3 === 0);
const SHOWN = 200; // jobs and matches in lists

// Numbers by size, before other words.
function compareWords(a, b) {
  const x = Number(a), y = Number(b), xn = a !== "" && !Number.isNaN(x), yn = b !== "" && !Number.isNaN(y);
  if (xn && yn && x !== y) return x - y;
  if (xn !== yn) return xn ? -1 : 1;
  return a < b ? -1 : a > b ? 1 : 0;
}
for (const map of properties) map.order = new Map([...map.values].sort(compareWords).map((value, i) => [value, i]));

const events = [...new Set(bookings.flatMap((b) => [b.start, b.end]).concat(data.now))].filter((t) => t < Infinity).sort((a, b) => a - b);
const first = events[0], last = events[events.length - 1];
times.extent = last;
const ui = {}, whole = { x: 0, y: 0, w: Math.max(sheet.w, 0.1), h: Math.max(sheet.h, 0.1) };

// ---- what is selected ---------------------------------------------------------------------------------------------

function unitText(kind, n) { return grouped(n) + (kind.unit ? " " + kind.unit : ""); }

// The unit that all of a type share.
const units = new Map();
for (const { type, unit } of machine.kinds) units.set(type, units.has(type) && units.get(type) !== unit ? "" : unit);

// The name of a holder; a stage has minus its number.
function bookerText(job) { return job < 0 ? "stage " + -job : "job " + job; }

function jobLine(booking, fraction) {
  const end = booking.end === Infinity ? "no end" : "to " + timeText(booking.end);
  return bookerText(booking.job) + (booking.reserved ? ", reserved" : "") + (fraction === null ? "" : ", " + percent(fraction)) + ", from "
    + timeText(booking.start) + " " + end;
}

function belowText(v) {
  return [...v.shape.totals].map(([type, n]) => grouped(n) + " " + (units.get(type) ? units.get(type) + " " : "") + type).join(", ");
}

// What there is to say about a vertex, line by line.
function describe(v) {
  const state = stateOf(v), lines = [pathOf(v), v.kind.type + ", " + state + (v.rank >= 0 ? ", rank " + v.rank : "")];
  lines.push(unitText(v.kind, freeOf(v)) + " of " + unitText(v.kind, v.kind.size) + " free");
  if (v.run.each > 1) lines.push("in it: " + belowText(v));
  for (const map of properties) {
    const value = propertyOf(map, v);
    if (value !== undefined) lines.push(map.key + (value === "" ? "" : ": " + value));
  }
  const holder = holderOf(v);
  if (holder) return lines.concat(jobLine(holder, null));
  const shares = sharesOf(v);
  if (v.run.each > 1) lines.push(percent(shares.used) + " in use");
  for (const { booking, fraction } of shares.list.slice(0, 8)) lines.push(jobLine(booking, fraction));
  if (shares.list.length > 8) lines.push("and " + (shares.list.length - 8) + " more jobs");
  return lines;
}

function select(v) {
  view.selected = v;
  showSelected();
  redraw();
}

function showSelected() {
  ui.selected.replaceChildren();
  if (!view.selected) return;
  const lines = describe(view.selected);
  ui.selected.append(el("h2", {}, "selected"), ...lines.map((line, i) => el("div", i ? {} : { class: "path" }, line)));
}

// ---- legend and totals --------------------------------------------------------------------------------------------

function legendRow(colour, text) {
  return el("div", {}, swatch(colour), text);
}

function scale() { return el("div", { class: "scale" }, "1 % ", ...heatSwatches(), " all of several nodes"); }

function useLegend() {
  const rows = [legendRow(theme.free, "free"), ...types.filter((type) => data.frees[type]).map((type) =>
    legendRow(theme[data.frees[type]], "free " + type))];
  if (machine.top.totals.has("node")) rows.push(scale());
  if (bookings.length) rows.push(el("div", { class: "soft" }, "other colours: jobs, see below"));
  if (bookings.some((b) => b.reserved)) rows.push(el("div", { class: "soft" }, "a corner cut off: reserved, not begun"));
  return rows.concat(stateRows(linesRow));
}

function stateRows(row) {
  const met = new Set(data.states.filter((_, i) => i % 3 === 2));
  return [...met].sort().map((s) => row(data.states_colours[data.state_names[s]], data.state_names[s]));
}

// A state as it is drawn over other colours: lines on the vertex, a corner where it is further inside.
function linesRow(colour, state) {
  const sample = el("canvas", { class: "swatch", width: 12, height: 12 }), c = sample.getContext("2d");
  c.fillStyle = theme.free;
  c.fillRect(0, 0, 12, 12);
  c.fillStyle = state === "degraded" ? theme.free : patternOf(state);
  c.fillRect(0, 0, 12, 12);
  if (state === "degraded") degradedMark(c, 0, 0, 12, 12);
  return el("div", {}, sample, state + " (corner: something in it)", swatch(colour, "swatch after"));
}

function valueRows(map) {
  const rows = [...map.order].slice(0, 40).map(([value, i]) => legendRow(colourOf(i), map.key + (value === "" ? "" : ": " + value)));
  if (map.order.size > 40) rows.push(el("div", { class: "soft" }, "and " + (map.order.size - 40) + " more values"));
  return [legendRow(theme.free, "none"), legendRow(theme.none, "several values"), ...rows];
}

function showLegend() {
  const map = properties.find((m) => m.word === view.colour);
  const rows = map ? valueRows(map)
    : view.colour === "state" ? [legendRow(data.states_colours.up, "up"), ...stateRows(legendRow)]
    : view.colour === "type" ? types.map((type, i) => legendRow(colourOf(i), type)) : useLegend();
  ui.legend.replaceChildren(el("h2", {}, "colours"), ...rows);
}

function showTotals() {
  const used = usedUnits(), groups = groupsInUse(), rows = [];
  for (const [type, total] of machine.top.totals) {
    const { some, sum } = groups.get(type) || { some: used.get(type) || 0, sum: used.get(type) || 0 };
    rows.push(el("tr", {}, el("td", {}, type), el("td", { class: "number" }, grouped(total)), el("td", { class: "number" }, grouped(some)),
      el("td", { class: "number" }, total > 0 ? percent(sum / total) : "")));
  }
  ui.totals.replaceChildren(el("h2", {}, "in use at " + timeText(use.time)), el("table", {}, el("tr", { class: "soft" },
    ...["", "total", "in use", ""].map((text) => el("th", {}, text))), ...rows));
}

// ---- jobs ---------------------------------------------------------------------------------------------------------

function jobRow(b) {
  const chosen = view.job === b.job;
  return el("button", { class: "job" + (chosen ? " chosen" : ""), onclick: () => chooseJob(chosen ? null : b.job) },
    swatch(colourOf(b.job)), jobLine(b, null));
}

function showJobs() {
  const all = [...new Set(use.list.map((s) => s.booking))].sort((a, b) => a.job - b.job), chosen = all.filter((b) => b.job === view.job);
  const list = chosen.concat(all.filter((b) => b.job !== view.job)).slice(0, SHOWN);
  const stages = all.filter((b) => b.job < 0).length, jobs = all.length - stages;
  const heading = counted(jobs, "job") + (stages ? ", " + counted(stages, "stage") : "");
  ui.jobs.replaceChildren(el("h2", {}, heading + " at " + timeText(use.time)), ...list.map(jobRow));
  if (all.length > list.length) ui.jobs.append(el("div", { class: "soft" }, "and " + grouped(all.length - list.length) + " more"));
}

function chooseJob(job) {
  view.job = job;
  const b = job === null ? null : bookings.find((x) => x.job === job);
  if (b && !(b.start <= use.time && use.time < b.end)) changeTime(b.start);
  showJobs();
  remember();
  redraw();
}

// ---- time ---------------------------------------------------------------------------------------------------------

function changeTime(t) {
  t = clamp(t, first, last);
  if (t === use.time) return;
  setTime(t);
  if (ui.slider) {
    ui.slider.value = String(t);
    ui.clock.textContent = timeText(t) + (t === data.now ? " (now)" : "");
  }
  showTotals();
  showJobs();
  showSelected();
  remember();
  redraw();
}

function stepTime(way) {
  const i = way > 0 ? place(events, use.time, true) : place(events, use.time) - 1;
  if (i >= 0 && i < events.length) changeTime(events[i]);
  return i < events.length;
}

function play() {
  if (ui.playing) {
    clearInterval(ui.playing);
    ui.playing = 0;
  } else {
    if (use.time >= last) changeTime(first);
    const began = performance.now(), from = use.time;
    ui.playing = setInterval(() => {
      changeTime(from + (performance.now() - began) / 15000 * (last - first));
      if (use.time >= last) play();
    }, 60);
  }
  ui.play.textContent = ui.playing ? "pause" : "play";
}

function timeBar() {
  if (last === first) return el("div", { class: "soft" }, "at " + timeText(first));
  ui.slider = el("input", { type: "range", min: first, max: last, step: "any", "aria-label": "time",
    oninput: () => changeTime(Number(ui.slider.value)) });
  ui.clock = el("span", { class: "clock" });
  ui.play = el("button", { onclick: play }, "play");
  return el("div", { class: "bar time" }, el("button", { title: "the change before", onclick: () => stepTime(-1) }, "<"), ui.slider,
    el("button", { title: "the next change", onclick: () => stepTime(1) }, ">"), ui.play, ui.clock);
}

// ---- search -------------------------------------------------------------------------------------------------------

// Vertices whose name or path has the words, those whose name is just that first; "job 5" is a job, "stage 2" a stage.
function search(text) {
  const words = text.trim().toLowerCase(), exact = [], others = [];
  const job = words.match(/^(job|stage)\s*(\d+)$/);
  if (job) return { job: Number(job[2]) * (job[1] === "stage" ? -1 : 1), list: [] };
  if (words === "") return { job: null, list: [] };
  if (words.includes("/")) {
    const v = vertexByPath(text.trim());
    if (v) return { job: null, list: [v.p] };
  }
  const visit = (v, path) => {
    const name = nameOf(v).toLowerCase(), whole = words.includes("/") ? path + "/" + name : name;
    if (name === words) exact.push(v.p);
    else if (whole.includes(words) && others.length < 100000) others.push(v.p);
    if (v.run.each > 1) eachChild(v, (child) => { visit(child, words.includes("/") ? whole : ""); });
  };
  eachChild(null, (v) => { visit(v, data.prefix.toLowerCase()); });
  return { job: null, list: exact.length ? exact : others };
}

function runSearch() {
  const found = search(ui.search.value);
  view.matches = found.list;
  if (found.job !== null) chooseJob(found.job);
  else if (view.job !== null) chooseJob(null);
  const buttons = found.list.slice(0, SHOWN).map((p) => {
    const v = vertexAt(p);
    return el("button", { class: "job", onclick: () => show(v) }, pathOf(v));
  });
  ui.found.replaceChildren();
  if (ui.search.value.trim() && found.job === null)
    ui.found.append(el("h2", {}, counted(found.list.length, "match")), ...buttons);
  if (found.list.length > SHOWN) ui.found.append(el("div", { class: "soft" }, "and more"));
  if (found.list.length === 1) show(vertexAt(found.list[0]));
  remember();
  redraw();
}

// Zooms so that a vertex and what is around it are seen.
function show(v) {
  const outer = rectOf(v.up && v.up.up && v.run.each === 1 ? v.up : v);
  fit(outer, 0.3);
  view.moved = true;
  select(v);
  remember();
}

// ---- the page -----------------------------------------------------------------------------------------------------

function remember() {
  if (!ui.ready) return;
  writeHash({ t: use.time === data.now ? undefined : use.time, colour: view.colour === "use" ? undefined : view.colour,
    q: ui.search.value || undefined, at: view.selected ? pathOf(view.selected) : undefined });
}

function changeColour(word) {
  view.colour = [...ui.colour.options].some((o) => o.value === word) ? word : "use";
  ui.colour.value = view.colour;
  showLegend();
  remember();
  redraw();
}

const KEYS = [["drag, or \u2190 \u2191 \u2192 \u2193", "move"], ["wheel, or + \u2212", "zoom"], ["click", "select a vertex; Escape: none"],
  ["double click", "zoom to a vertex"], [", and .", "the change before, the change after"], ["?", "this list"]];

function keysList() {
  return el("details", { id: "keys" }, el("summary", {}, "Keys and pointer"),
    el("table", {}, ...KEYS.map(([key, what]) => el("tr", {}, el("td", {}, key), el("td", { class: "soft" }, what)))));
}

function toggleKeys() {
  ui.keys.open = !ui.keys.open;
  if (ui.keys.open) ui.keys.scrollIntoView({ block: "end" });
}

function build() {
  ui.search = searchField({ placeholder: "name, /path or job 5" }, 250, runSearch);
  ui.colour = colourChoice(["use", "state", "type", ...properties.map((m) => m.word)], changeColour);
  const side = ["selected", "found", "legend", "totals", "jobs"].map((name) => (ui[name] = el("section", { id: name })));
  view.canvas = el("canvas", { id: "machine", tabindex: 0, "aria-label": "the machine" });
  document.body.append(el("header", {}, el("div", { class: "bar" }, el("h1", {}, data.title), ui.search, el("label", {}, "colours by ", ui.colour),
    el("button", { onclick: () => {
      fit(whole, 0.02);
      view.moved = false;
      select(null);
      remember();
    } }, "whole machine")), timeBar()),
    el("main", {}, view.canvas, el("aside", {}, ...side, ui.keys = keysList())));
}

function listen() {
  const canvas = view.canvas;
  let from = null;
  canvas.addEventListener("wheel", (e) => {
    e.preventDefault();
    zoomAt(e.offsetX, e.offsetY, Math.exp(-e.deltaY * (e.deltaMode ? 0.05 : 0.0015)));
    redraw();
  }, { passive: false });
  canvas.addEventListener("pointerdown", (e) => { from = { x: e.offsetX, y: e.offsetY, vx: view.x, vy: view.y, moved: false };
    canvas.setPointerCapture(e.pointerId); });
  canvas.addEventListener("pointerup", (e) => {
    if (from && !from.moved) select(pick(e.offsetX, e.offsetY));
    from = null;
    remember();
  });
  canvas.addEventListener("pointermove", (e) => {
    if (from) drag(e, from);
    else point(e);
  });
  canvas.addEventListener("pointerleave", () => tip.hide());
  canvas.addEventListener("dblclick", (e) => { const v = pick(e.offsetX, e.offsetY); if (v) show(v); });
  canvas.addEventListener("keydown", key);
  addEventListener("resize", () => {
    if (!view.moved) fit(whole, 0.02);
    redraw();
  });
  addEventListener("hashchange", follow);
}

function drag(e, from) {
  const dx = e.offsetX - from.x, dy = e.offsetY - from.y;
  view.moved = from.moved = from.moved || Math.abs(dx) + Math.abs(dy) > 4;
  view.x = from.vx - dx / view.k;
  view.y = from.vy - dy / view.k;
  tip.hide();
  redraw();
}

function point(e) {
  const v = pick(e.offsetX, e.offsetY);
  if (v) tip.show(describe(v), e.clientX, e.clientY);
  else tip.hide();
}

function key(e) {
  const step = 60 / view.k, w = view.canvas.clientWidth / 2, h = view.canvas.clientHeight / 2;
  const actions = { ArrowLeft: () => { view.x -= step; }, ArrowRight: () => { view.x += step; }, ArrowUp: () => { view.y -= step; },
    ArrowDown: () => { view.y += step; }, "+": () => zoomAt(w, h, 1.3), "-": () => zoomAt(w, h, 1 / 1.3), ",": () => stepTime(-1),
    ".": () => stepTime(1), "?": toggleKeys, Escape: () => select(null) };
  if (!actions[e.key]) return;
  e.preventDefault();
  actions[e.key]();
  redraw();
}

// Does what the address says: #t=100&q=node3&colour=state&at=/cluster0/rack1
function follow() {
  const h = readHash();
  changeTime(h.t === undefined ? data.now : Number(h.t) || 0);
  changeColour(h.colour || data.colour);
  ui.search.value = h.q || "";
  runSearch();
  const v = h.at ? vertexByPath(h.at) : null;
  if (v) show(v);
  else if (view.selected) select(null);
}

function start() {
  build();
  fit(whole, 0.02);
  view.c = fitCanvas(view.canvas);
  listen();
  showLegend();
  follow();
  ui.ready = true;
  draw();
  document.body.dataset.ready = performance.now().toFixed(0);
}
start();
