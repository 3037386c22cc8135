// machine_layout.js - the layout that layout.lua made: where everything is, in units of the smallest cells.

// A layout: {w, h, head, pad, smallest, grids, frames, notes}. A grid has `count` children of a vertex from the ordinal `first` on.
function readLayout([w, h, head, pad, smallest, grids, frames, notes]) {
  return { w, h, head, pad, smallest,
    grids: grids.map(([first, count, cols, number, note, x, y, gw, gh, gap]) => ({ first, count, cols, number, note, x, y, w: gw, h: gh, gap })),
    frames: frames.map(([text, x, y, fw, fh]) => ({ text, x, y, w: fw, h: fh })),
    notes: notes.map(([x, y, nw, nh]) => ({ x, y, w: nw, h: nh })) };
}

const layouts = data.layout.list.map(readLayout), sheet = readLayout(data.layout.page);

// The layout of what is in a vertex; null: a cell.
function layoutOf(v) {
  const number = data.layout.shapes[v.run.shape];
  return number < 0 ? null : layouts[number];
}

// The only root, where it is the sheet; else null.
const root = data.layout.single ? vertexOf(machine.top.runs[0], 0, 0, null) : null;

function isRoot(v) { return root !== null && v.p === 0; }

// Child number n of v, or root number n.
function childOf(v, n) {
  const runs = (v ? v.shape : machine.top).runs;
  let lo = 0, hi = runs.length - 1;
  while (lo < hi) {
    const mid = (lo + hi + 1) >> 1;
    if (runs[mid].before <= n) lo = mid;
    else hi = mid - 1;
  }
  return vertexOf(runs[lo], n - runs[lo].before, v ? v.p + 1 : 0, v);
}

// The box of a vertex on the sheet: {x, y, w, h}.
function rectOf(v) {
  if (isRoot(v)) return { x: 0, y: 0, w: sheet.w, h: sheet.h };
  const above = v.up && !isRoot(v.up), layout = above ? layoutOf(v.up) : sheet, n = v.run.before + v.i;
  const outer = above ? rectOf(v.up) : { x: 0, y: 0 };
  const grid = layout.grids.find((x) => n >= x.first && n < x.first + x.count), i = n - grid.first;
  return { x: outer.x + layout.pad + grid.x + i % grid.cols * (grid.w + grid.gap),
    y: outer.y + layout.head + grid.y + Math.floor(i / grid.cols) * (grid.h + grid.gap), w: grid.w, h: grid.h };
}
