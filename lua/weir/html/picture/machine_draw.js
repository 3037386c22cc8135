// machine_draw.js - draws what can be seen of the machine. A box is opened as soon as what is in it is large enough.

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

// The colour of a free cell: gpus, memory and storage differ from cores.
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
  for (const { booking, fraction } of shares.list) {
    const wide = Math.min(w - at, Math.max(fraction > 0 ? 1 : 0, fraction * w));
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

// A frame, as what is degraded can be used.
function degradedMark(c, x, y, w, h) {
  c.strokeStyle = data.degraded;
  c.lineWidth = Math.min(2, w / 6);
  c.strokeRect(x + 1, y + 1, w - 2, h - 2);
}

function stateMarks(v, state, x, y, w, h) {
  const c = view.c;
  if (isLined(state) && w >= 3) {
    c.fillStyle = patternOf(state);
    c.fillRect(x, y, w, h);
  } else if (state === "degraded" && view.colour !== "state" && w > 4) {
    degradedMark(c, x, y, w, h);
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

function ownText(word, v) {
  const map = properties.find((x) => x.word === word), i = map ? map.of(v.p) : undefined;
  return i === undefined ? null : map.values[i] || null;
}

// The lines of a cell besides its name: the model of a device or the size of a pool; the address of a device and of its
// bridge to the host; the cache of a core.
function detailsOf(v, note) {
  if (v.run.each > 1) return [];
  const device = data.frees[v.kind.type], address = device && ownText("property:pci", v);
  const size = v.kind.size !== 1 || v.kind.unit ? grouped(v.kind.size) + (v.kind.unit ? " " + v.kind.unit : "") : null;
  const bridges = address ? ownText("property:bridges", v) : null;
  return [device && ownText("property:model", v) || size, address ? "PCI " + address : note, bridges && "bridge " + bridges.split(" ")[0]]
    .filter(Boolean);
}

function idOf(v) { return v.run.id >= 0 && !machine.names.has(v.p) ? String(v.run.id + v.i * v.run.step) : null; }

const LETTERS_MIN = 7, LETTERS_MAX = 13;

// The name of a cell in the middle, or its id where the name is too wide, and lines below as far as there is room.
function cellLabel(v, fill, note, x, y, w, h) {
  const c = view.c, size = clamp(Math.min(h * 0.32, w / 4.2), LETTERS_MIN, LETTERS_MAX), small = Math.max(LETTERS_MIN, size - 1);
  if (h < size + 2 || w < 9) return;
  const use = (px) => { c.font = px + "px " + FONT; }, fits = (text) => text !== null && c.measureText(text).width <= w - 2;
  const room = Math.max(0, Math.floor((h - size - 8) / (small + 3)));
  use(small);
  const lines = (room ? [fill.holder && view.colour === "use" ? bookerText(fill.holder.job) : null, ...detailsOf(v, note)] : [])
    .filter(fits).slice(0, room);
  c.textAlign = "center";
  c.textBaseline = "middle";
  c.fillStyle = fill.colour && isDark(fill.colour) ? "#fff" : fill.colour ? "#1f2328" : theme.text;
  c.strokeStyle = fill.colour || freeColour(v.kind);
  c.lineWidth = 4;
  c.lineJoin = "round";
  const write = (text, at) => {
    if (fill.lines) c.strokeText(text, x + w / 2, at);
    c.fillText(text, x + w / 2, at);
  };
  const top = y + h / 2 - lines.length * (small + 3) / 2;
  lines.forEach((line, i) => write(line, top + (i + 1) * (small + 3)));
  use(size);
  const name = [nameOf(v), idOf(v)].find(fits);
  if (name !== undefined) write(name, top);
}

function drawCell(v, x, y, w, h, context, note) {
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
  cellLabel(v, fill, note, x, y, w, h);
}

// ---- blocks -------------------------------------------------------------------------------------------------------

// Whether a box `w` units wide is opened, from so many pixels of the smallest side of what is in it on. A large box is opened
// earlier: a machine without racks has nothing between it and its nodes.
function isOpen(layout, w, k) {
  return layout !== null && layout.smallest * k >= (w * k > data.layout.large ? data.layout.open_large : data.layout.open);
}

function drawBlock(v, layout, x, y, w, h, k) {
  const c = view.c, head = layout.head * k;
  c.fillStyle = theme.block;
  c.fillRect(x, y, w, h);
  if (w > 12) {
    c.strokeStyle = theme.edge;
    c.lineWidth = 1;
    c.strokeRect(x + 0.5, y + 0.5, w - 1, h - 1);
  }
  if (!isHeaded(layout, w, k)) return;
  c.font = clamp(head * 0.75, 8, 15) + "px " + FONT;
  c.textAlign = "left";
  c.textBaseline = "middle";
  c.fillStyle = theme.soft;
  c.save();
  c.beginPath();
  c.rect(x, y - 2, w - 2, head + 3);
  c.clip();
  const caches = layout.frames.length === 0 && v.kind.type === "socket" ? ownText("property:caches", v) : null;
  c.fillText(nameOf(v) + (caches ? "   " + caches : ""), Math.max(x + layout.pad * k + 2, Math.min(4, x + w - 60)), y + head / 2 + 1);
  c.restore();
}

// A text cut to a width; null where too little would be left.
function cut(c, text, width) {
  if (c.measureText(text).width <= width) return text;
  let n = text.length - 1;
  while (n > 2 && c.measureText(text.slice(0, n) + "\u2026").width > width) n--;
  return n > 2 ? text.slice(0, n) + "\u2026" : null;
}

// Frames around the cells that share a cache, and adapters of the network, which are no pools.
function drawExtras(v, layout, x, y, k) {
  const c = view.c, place = (r) => [x + (layout.pad + r.x) * k, y + (layout.head + r.y) * k, r.w * k, r.h * k];
  const edge = (fx, fy, w, h, dash) => {
    c.strokeStyle = theme.soft;
    c.globalAlpha = 0.6;
    c.lineWidth = 1;
    c.setLineDash(dash);
    c.strokeRect(fx + 0.5, fy + 0.5, w - 1, h - 1);
    c.setLineDash([]);
    c.globalAlpha = 1;
    c.fillStyle = theme.soft;
  };
  c.textBaseline = "middle";
  for (const frame of layout.frames.length && ownText("property:caches", v) ? layout.frames : []) {
    const [fx, fy, w, h] = place(frame), size = Math.min(13, k * 0.24);
    if (w < 4) continue;
    edge(fx, fy, w, h, []);
    c.font = size + "px " + FONT;
    c.textAlign = "left";
    if (size >= LETTERS_MIN) c.fillText(frame.text, fx + 4, fy + size * 0.75);
  }
  const nics = layout.notes.length ? (ownText("property:nics", v) || "").split(";").map((text) => text.trim()).filter(Boolean) : [];
  layout.notes.slice(0, nics.length).forEach((note, i) => {
    const [nx, ny, w, h] = place(note), size = clamp(h * 0.3, LETTERS_MIN, 12);
    if (w <= 20 || h <= 8) return;
    edge(nx, ny, w, h, [4, 2]);
    c.font = size + "px " + FONT;
    c.textAlign = "center";
    const [, name, address] = nics[i].match(/^(.*?)\s+([\da-f]+:[\da-f]+:[\da-f]+\.[\da-f]+)$/i) || [null, nics[i], null];
    const where = address && h >= 2 * size + 6 && c.measureText("PCI " + address).width <= w - 4 ? "PCI " + address : null;
    const lines = [cut(c, "nic " + name, w - 4), where].filter(Boolean);
    lines.forEach((line, n) => c.fillText(line, nx + w / 2, ny + h / 2 + (n - (lines.length - 1) / 2) * (size + 3)));
  });
}

// The columns and rows of a grid that are on the screen: [first, last] of each.
function seen(start, side, count, limit) {
  return [clamp(Math.floor(-start / side), 0, count), clamp(Math.ceil((limit - start) / side), 0, count)];
}

function drawContent(v, layout, x, y, k, context) {
  for (const grid of layout.grids) {
    const px = x + (layout.pad + grid.x) * k, py = y + (layout.head + grid.y) * k;
    const dx = (grid.w + grid.gap) * k, dy = (grid.h + grid.gap) * k;
    const [c0, c1] = seen(px, dx, grid.cols, view.w), [r0, r1] = seen(py, dy, Math.ceil(grid.count / grid.cols), view.h);
    for (let row = r0; row < r1; row++)
      for (let col = c0; col < c1; col++) {
        const n = row * grid.cols + col;
        if (n < grid.count) drawVertex(childOf(v, grid.first + n), grid, px + col * dx, py + row * dy, k, context);
      }
  }
  if (v) drawExtras(v, layout, x, y, k);
}

function contextOf(v, above) {
  const own = ownState(v.p), context = { holder: above.holder, state: own === undefined ? above.state : data.state_names[own] };
  if (!context.holder) eachSpan(v.p, v.p + 1, (s) => { if (s.exclusive) context.holder = s.booking; });
  return context;
}

function drawVertex(v, grid, x, y, k, above) {
  const layout = layoutOf(v), context = contextOf(v, above), w = grid.w * k, h = grid.h * k;
  if (!isOpen(layout, grid.w, k)) {
    drawCell(v, x, y, w, h, context, grid.note);
    return;
  }
  const headed = isHeaded(layout, w, k);
  drawBlock(v, layout, x, y, w, h, k);
  drawContent(v, layout, x, y, k, { ...context, named: true });
  if (!headed && !above.named) drawNameOver(v, x, y, w, h);
}

// Whether a block has a line with its name.
function isHeaded(layout, w, k) { return layout.head * k >= data.layout.head && w >= data.layout.head_width; }

// The name of a block that is too low for a line of its own, such as a rack of a large machine, over what is in it.
function drawNameOver(v, x, y, w, h) {
  const c = view.c, text = nameOf(v), short = idOf(v) || text;
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
  const all = { holder: null, state: "up" };
  drawContent(root, sheet, -view.x * view.k, -view.y * view.k, view.k, root ? contextOf(root, all) : all);
  for (const p of view.matches.slice(0, 2000)) outline(p, theme.mark, 2);
  if (view.selected) outline(view.selected.p, theme.text, 2);
  view.canvas.dataset.ms = (performance.now() - began).toFixed(1);
}
const redraw = lazily(draw);

// ---- the pointer --------------------------------------------------------------------------------------------------

// The vertex that is drawn at a place of the canvas: the innermost one; null: none.
function pick(px, py) {
  let v = root, layout = sheet, x = view.x + px / view.k, y = view.y + py / view.k;
  if (x < 0 || y < 0 || x > sheet.w || y > sheet.h) return null;
  for (;;) {
    const child = childAt(v, layout, x, y);
    if (!child) return v;
    x -= child.x;
    y -= child.y;
    v = child.v;
    layout = layoutOf(v);
    if (!isOpen(layout, child.w, view.k)) return v;
  }
}

function childAt(v, layout, x, y) {
  for (const grid of layout.grids) {
    const fx = x - layout.pad - grid.x, fy = y - layout.head - grid.y, dx = grid.w + grid.gap, dy = grid.h + grid.gap;
    const col = Math.floor(fx / dx), row = Math.floor(fy / dy), n = row * grid.cols + col;
    if (col < 0 || col >= grid.cols || row < 0 || n >= grid.count || fx - col * dx > grid.w || fy - row * dy > grid.h) continue;
    return { v: childOf(v, grid.first + n), w: grid.w, x: layout.pad + grid.x + col * dx, y: layout.head + grid.y + row * dy };
  }
  return null;
}

// ---- moving -------------------------------------------------------------------------------------------------------

function fit(rect, margin) {
  const w = view.canvas.clientWidth, h = view.canvas.clientHeight;
  view.k = Math.min(w / rect.w, h / rect.h, data.layout.most / (1 - margin)) * (1 - margin);
  view.x = rect.x - (w / view.k - rect.w) / 2;
  view.y = rect.y - (h / view.k - rect.h) / 2;
}

function zoomAt(px, py, factor) {
  const smallest = Math.min(view.canvas.clientWidth / sheet.w, view.canvas.clientHeight / sheet.h) * 0.5;
  const k = clamp(view.k * factor, smallest, 400);
  view.x += px / view.k - px / k;
  view.y += py / view.k - py / k;
  view.k = k;
  view.moved = true;
}
