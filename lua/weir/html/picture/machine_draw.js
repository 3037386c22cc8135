// machine_draw.js - draws what can be seen of the machine. A box is opened as soon as what is in it is large enough.

const OPEN = 3.2, OPEN_LARGE = 1.6; // pixels of the smallest side of what is in a box that is opened
const view = { x: 0, y: 0, k: 1, colour: "use", canvas: null, c: null, w: 0, h: 0, selected: null, matches: [], job: null };

// What a colour stands for: {fill, shares, heat} of a cell.
const patterns = new Map();

// Lines over what is not up.
function patternOf(state) {
  if (!patterns.has(state)) {
    const tile = el("canvas", { width: 6, height: 6 }), c = tile.getContext("2d");
    c.strokeStyle = state === "failing" ? data.states_colours.failing : theme.text;
    c.globalAlpha = 0.6;
    c.lineWidth = 1.1;
    c.beginPath();
    const lines = { unknown: [[1, 3, 4, 3]], null: [[0, 3, 6, 3]] }[state] || [[-1, 1, 1, -1], [0, 6, 6, 0], [5, 7, 7, 5]];
    if (state === "down") lines.push([-1, 5, 1, 7], [0, 0, 6, 6], [5, -1, 7, 1]);
    for (const [a, b, x, y] of lines) {
      c.moveTo(a, b);
      c.lineTo(x, y);
    }
    c.stroke();
    patterns.set(state, view.c.createPattern(tile, "repeat"));
  }
  return patterns.get(state);
}

// ---- what a cell shows --------------------------------------------------------------------------------------------

function jobColour(booking) {
  return view.job !== null && booking.job !== view.job ? theme.none : colourOf(booking.job);
}

// The one value of a property for a cell: its own, that of what is above, or what all below agree on.
function cellValue(map, v) {
  const own = propertyOf(map, v);
  if (own !== undefined) return own;
  let value;
  const runs = data.properties[properties.indexOf(map)].runs;
  map.firsts = map.firsts || runs.filter((_, i) => i % 3 === 0);
  for (let i = place(map.firsts, v.p); i < map.firsts.length && map.firsts[i] < v.p + v.run.each; i++) {
    const x = map.values[runs[i * 3 + 2]];
    if (value !== undefined && value !== x) return null;
    value = x;
  }
  return value;
}

function valueColour(map, v) {
  const value = cellValue(map, v);
  if (value === undefined) return theme.free;
  return value === null ? theme.none : colourOf(map.order.get(value));
}

const types = [...new Set(machine.kinds.map((kind) => kind.type))];

// The colour of a free cell: gpus, memory and storage are told from cores.
function freeColour(kind) { return theme[data.frees[kind.type]] || theme.free; }

function flatColour(v, state) {
  if (view.colour === "state") return data.states_colours[state];
  if (view.colour === "type") return colourOf(types.indexOf(v.kind.type));
  const map = properties.find((m) => m.word === view.colour);
  return map ? valueColour(map, v) : theme.free;
}

function fillShares(v, x, y, w, h) {
  const c = view.c, shares = sharesOf(v);
  if (shares.list.length && v.shape.totals.has("node")) {
    c.fillStyle = view.job === null ? heatOf(shares.used) : shares.list.some((s) => s.booking.job === view.job) ? colourOf(view.job)
      : theme.none;
    c.fillRect(x, y, w, h);
    return;
  }
  let at = 0;
  for (const { booking, part } of shares.list) {
    const wide = Math.min(w - at, Math.max(part > 0 ? 1 : 0, part * w));
    c.fillStyle = jobColour(booking);
    c.globalAlpha = booking.reserved ? 0.7 : 1;
    c.fillRect(x + at, y, wide, h);
    at += wide;
  }
  c.globalAlpha = 1;
}

function reservedMark(x, y, w, h) {
  const c = view.c, side = Math.min(w, h) * 0.4;
  c.fillStyle = theme.page;
  c.beginPath();
  c.moveTo(x + w - side, y);
  c.lineTo(x + w, y);
  c.lineTo(x + w, y + side);
  c.fill();
}

// Whether something below a vertex has a state of its own.
function stateBelow(v) {
  const i = place(data.stateFirsts, v.p + 1);
  return i < data.stateFirsts.length && data.stateFirsts[i] < v.p + v.run.each ? data.state_names[data.states[i * 3 + 2]] : null;
}

function isLined(state) { return state !== "up" && state !== "degraded" && view.colour !== "state"; }

function stateMarks(v, state, x, y, w, h) {
  const c = view.c;
  if (isLined(state) && w >= 3) {
    c.fillStyle = patternOf(state);
    c.fillRect(x, y, w, h);
  }
  const below = v.run.each > 1 && state === "up" ? stateBelow(v) : null;
  if (!below) return;
  const side = Math.min(w, h) * 0.45;
  c.fillStyle = data.states_colours[below];
  c.beginPath();
  c.moveTo(x, y + h - side);
  c.lineTo(x, y + h);
  c.lineTo(x + side, y + h);
  c.fill();
}

const models = properties.find((map) => map.word === "property:model");

// What a cell says of itself besides its name: the model of a device, or the size of a pool.
function detailOf(v) {
  const model = models && v.run.each === 1 ? models.of(v.p) : undefined;
  if (model !== undefined) return models.values[model];
  return v.run.each === 1 && (v.kind.size !== 1 || v.kind.unit) ? grouped(v.kind.size) + (v.kind.unit ? " " + v.kind.unit : "") : null;
}

function cellLabel(v, fill, x, y, w, h) {
  const c = view.c;
  if (w < 26 || h < 11) return;
  const size = clamp(Math.min(h * 0.32, w / 4.2), 9, 13), holder = view.colour === "use" && h >= 2.6 * size ? fill.holder : null;
  const detail = holder ? "job " + holder.job : h >= 2.6 * size ? detailOf(v) : null;
  c.font = size + "px " + FONT;
  c.textAlign = "center";
  c.textBaseline = "middle";
  c.fillStyle = fill.colour && isDark(fill.colour) ? "#fff" : fill.colour ? "#1f2328" : theme.text;
  const fits = (text) => c.measureText(text).width < w - 3, second = detail !== null && fits(detail) ? detail : null;
  const write = (text, at) => {
    if (!fits(text)) return;
    if (fill.lines) c.strokeText(text, x + w / 2, at);
    c.fillText(text, x + w / 2, at);
  };
  c.strokeStyle = fill.colour || freeColour(v.kind);
  c.lineWidth = 4;
  c.lineJoin = "round";
  const middle = y + h / 2 - (second ? size * 0.55 : 0);
  write(nameOf(v), middle);
  if (second) write(second, middle + size * 1.15);
}

function drawCell(v, x, y, w, h, context) {
  const c = view.c, fill = { colour: null, holder: context.holder, lines: isLined(context.state) };
  if (w > 6) {
    x += 0.5;
    y += 0.5;
    w -= 1;
    h -= 1;
  }
  if (view.colour !== "use") fill.colour = flatColour(v, context.state);
  else if (context.holder) fill.colour = jobColour(context.holder);
  c.fillStyle = fill.colour || freeColour(v.kind);
  c.fillRect(x, y, w, h);
  if (view.colour === "use" && !context.holder) fillShares(v, x, y, w, h);
  if (view.colour === "use" && context.holder && context.holder.reserved && w > 5) reservedMark(x, y, w, h);
  stateMarks(v, context.state, x, y, w, h);
  cellLabel(v, fill, x, y, w, h);
}

// ---- blocks -------------------------------------------------------------------------------------------------------

// A large box is opened earlier: a machine without racks has nothing between it and its nodes.
function isOpen(box, k) { return box.parts !== null && box.least * k >= (box.w * k > 300 ? OPEN_LARGE : OPEN); }

const caches = properties.find((map) => map.word === "property:caches");

// The name of a block, with the caches of a socket behind it.
function headOf(v) {
  const own = caches ? caches.of(v.p) : undefined;
  return nameOf(v) + (own === undefined ? "" : "   " + caches.values[own]);
}

function drawBlock(v, box, x, y, k) {
  const c = view.c, w = box.w * k, h = box.h * k, head = box.head * k;
  c.fillStyle = theme.block;
  c.fillRect(x, y, w, h);
  if (w > 12) {
    c.strokeStyle = theme.edge;
    c.lineWidth = 1;
    c.strokeRect(x + 0.5, y + 0.5, w - 1, h - 1);
  }
  if (!isHeaded(box, k)) return;
  c.font = clamp(head * 0.72, 8, 15) + "px " + FONT;
  c.textAlign = "left";
  c.textBaseline = "middle";
  c.fillStyle = theme.soft;
  c.save();
  c.beginPath();
  c.rect(x, y - 2, w - 2, head + 3);
  c.clip();
  c.fillText(headOf(v), Math.max(x + box.pad * k + 2, Math.min(4, x + w - 60)), y + head / 2);
  c.restore();
}

// The columns and rows of a grid that are on the screen: [first, last] of each.
function seen(start, side, count, limit) {
  return [clamp(Math.floor(-start / side), 0, count), clamp(Math.ceil((limit - start) / side), 0, count)];
}

function drawContent(v, box, x, y, k, context) {
  for (const part of box.parts) {
    const px = x + (box.pad + part.x) * k, py = y + (box.head + part.y) * k;
    const dx = (part.w + part.gap) * k, dy = (part.h + part.gap) * k;
    const [c0, c1] = seen(px, dx, part.cols, view.w), [r0, r1] = seen(py, dy, Math.ceil(part.count / part.cols), view.h);
    for (let row = r0; row < r1; row++)
      for (let col = c0; col < c1; col++) {
        const n = row * part.cols + col;
        if (n < part.count) drawVertex(vertexOf(part.run, part.first + n, v ? v.p + 1 : 0, v), px + col * dx, py + row * dy, k, context);
      }
  }
}

function contextOf(v, above) {
  const own = ownState(v.p), context = { holder: above.holder, state: own === undefined ? above.state : data.state_names[own] };
  if (!context.holder) eachSpan(v.p, v.p + 1, (s) => { if (s.exclusive) context.holder = s.booking; });
  return context;
}

function drawVertex(v, x, y, k, above) {
  const box = boxOf(v.run), context = contextOf(v, above);
  if (!isOpen(box, k)) return drawCell(v, x, y, box.w * k, box.h * k, context);
  drawBlock(v, box, x, y, k);
  drawContent(v, box, x, y, k, { ...context, named: above.named || !isHeaded(box, k) });
  if (!isHeaded(box, k) && !above.named) drawNameOver(v, x, y, box.w * k, box.h * k);
}

// Whether a block has a line with its name.
function isHeaded(box, k) { return box.head * k >= 8 && box.w * k >= 22; }

// The name of a block that is too low for a line of its own, such as a rack of a large machine, over what is in it.
function drawNameOver(v, x, y, w, h) {
  const c = view.c, text = nameOf(v), short = String(v.run.id + v.i * v.run.step);
  c.font = "9px " + FONT;
  const name = [text, short].find((word) => c.measureText(word).width <= w - 4);
  if (h < 12 || name === undefined) return;
  c.textAlign = "center";
  c.textBaseline = "middle";
  c.lineJoin = "round";
  c.lineWidth = 3;
  c.strokeStyle = theme.page;
  c.fillStyle = theme.text;
  c.strokeText(name, x + w / 2, y + h / 2);
  c.fillText(name, x + w / 2, y + h / 2);
}

function outline(p, colour, width) {
  const c = view.c, r = rectOf(vertexAt(p));
  const w = Math.max(r.w * view.k, 5), h = Math.max(r.h * view.k, 5);
  c.strokeStyle = colour;
  c.lineWidth = width;
  c.strokeRect((r.x - view.x) * view.k - 1, (r.y - view.y) * view.k - 1, w + 2, h + 2);
}

function draw() {
  view.c = fitCanvas(view.canvas);
  view.w = view.canvas.clientWidth;
  view.h = view.canvas.clientHeight;
  const c = view.c, began = performance.now();
  c.fillStyle = theme.page;
  c.fillRect(0, 0, view.w, view.h);
  drawContent(null, machine.top.box, -view.x * view.k, -view.y * view.k, view.k, { holder: null, state: "up" });
  for (const p of view.matches.slice(0, 2000)) outline(p, theme.mark, 2);
  if (view.selected) outline(view.selected.p, theme.text, 2);
  view.canvas.dataset.ms = (performance.now() - began).toFixed(1);
}
const redraw = lazily(draw);

// ---- the pointer --------------------------------------------------------------------------------------------------

// The vertex that is drawn at a place of the canvas: the innermost one; null: none.
function pick(px, py) {
  let v = null, box = machine.top.box, x = view.x + px / view.k, y = view.y + py / view.k;
  for (;;) {
    const child = childAt(v, box, x, y);
    if (!child) return v;
    x -= child.x;
    y -= child.y;
    v = child.v;
    box = boxOf(v.run);
    if (!isOpen(box, view.k)) return v;
  }
}

function childAt(v, box, x, y) {
  for (const part of box.parts) {
    const fx = x - box.pad - part.x, fy = y - box.head - part.y, dx = part.w + part.gap, dy = part.h + part.gap;
    const col = Math.floor(fx / dx), row = Math.floor(fy / dy), n = row * part.cols + col;
    if (col < 0 || col >= part.cols || row < 0 || n >= part.count || fx - col * dx > part.w || fy - row * dy > part.h) continue;
    return { v: vertexOf(part.run, part.first + n, v ? v.p + 1 : 0, v), x: box.pad + part.x + col * dx, y: box.head + part.y + row * dy };
  }
  return null;
}

// ---- moving -------------------------------------------------------------------------------------------------------

function fit(rect, margin) {
  const w = view.canvas.clientWidth, h = view.canvas.clientHeight;
  view.k = Math.min(w / rect.w, h / rect.h) * (1 - margin);
  view.x = rect.x - (w / view.k - rect.w) / 2;
  view.y = rect.y - (h / view.k - rect.h) / 2;
}

function zoomAt(px, py, factor) {
  const least = Math.min(view.canvas.clientWidth / machine.top.box.w, view.canvas.clientHeight / machine.top.box.h) * 0.5;
  const k = clamp(view.k * factor, least, 400);
  view.x += px / view.k - px / k;
  view.y += py / view.k - py / k;
  view.k = k;
  view.moved = true;
}
