// machine_layout.js - where everything is, in units of the smallest boxes. What is alike is laid out once, for its shape.

// A box has room for its name, but not more than names need when the whole machine is on the screen.
const leaves = Math.max(1, leavesOf(machine.top)), HEAD_MOST = 0.045 * Math.sqrt(leaves);

const HEAD = 0.21, PAD = 0.03, GAP = 0.07; // of the smaller side of what is in a box, or of what stands side by side

// Places the runs of a shape in rows at most `width` wide. Parts: grids of {run, first, cols, count, x, y, w, h, gap}.
function flow(runs, width) {
  const parts = [], at = { x: 0, y: 0, row: 0, type: null };
  let right = 0;
  const newline = () => {
    at.y += at.row;
    at.x = at.row = 0;
  };
  for (const run of runs) {
    const box = boxOf(run), gap = GAP * Math.min(box.w, box.h), type = machine.kinds[run.kind].type;
    const cols = Math.max(1, Math.floor((width + gap + 1e-9) / (box.w + gap)));
    if (type !== at.type) newline();
    at.type = type;
    for (let left = run.count; left > 0;) {
      if (at.x > 0 && at.x + box.w > width + 1e-9) newline();
      const whole = at.x === 0 && left >= cols;
      const n = whole ? left - left % cols : Math.min(left, Math.max(1, Math.floor((width - at.x + gap + 1e-9) / (box.w + gap))));
      const across = whole ? cols : n;
      parts.push({ run, first: run.count - left, cols: across, count: n, x: at.x, y: at.y, w: box.w, h: box.h, gap });
      right = Math.max(right, at.x + across * (box.w + gap) - gap);
      at.row = Math.max(at.row, Math.ceil(n / across) * (box.h + gap));
      at.x += across * (box.w + gap);
      if (whole) newline();
      left -= n;
    }
  }
  const last = parts.length ? parts[parts.length - 1].gap : 0;
  newline();
  return { parts, w: right, h: at.y - last };
}

// The flow whose proportions are best, and that wastes least.
function bestFlow(runs, aspect) {
  let area = 0, best = null, least = Infinity;
  for (const run of runs) {
    const box = boxOf(run);
    area += (1 + GAP) ** 2 * box.w * box.h * run.count;
  }
  for (let i = -6; i <= 6; i++) {
    const f = flow(runs, Math.sqrt(area * aspect) * 1.09 ** i), off = Math.abs(Math.log(f.w / f.h / aspect));
    const cost = f.w * f.h / area * (1 + 0.35 * off);
    if (cost < least) [best, least] = [f, cost];
  }
  return best;
}

function boxOf(run) {
  const kind = machine.kinds[run.kind], shape = machine.shapes[run.shape];
  if (shape.runs.length === 0) return { w: kind.size > 1 || data.frees[kind.type] ? 2 : 1, h: 1, parts: null };
  if (!shape.box) shape.box = frame(bestFlow(shape.runs, 1.35));
  return shape.box;
}

// A box around a flow, with room for its name.
function frame(f) {
  const side = Math.min(f.w, f.h), head = Math.min(HEAD * side, HEAD_MOST);
  let least = Infinity;
  for (const part of f.parts) least = Math.min(least, part.w, part.h);
  const pad = Math.min(PAD * side, head / 2);
  return { parts: f.parts, w: f.w + 2 * pad, h: f.h + head + pad, head, pad, least };
}

function layOut(aspect) {
  const f = bestFlow(machine.top.runs, aspect);
  machine.top.box = { parts: f.parts, w: f.w, h: f.h, head: 0, pad: 0, least: 0 };
}

// Where the i-th of a run begins in the box that it is in.
function spotOf(box, run, i) {
  const part = box.parts.find((x) => x.run === run && i >= x.first && i < x.first + x.count);
  const n = i - part.first;
  return { x: box.pad + part.x + n % part.cols * (part.w + part.gap),
    y: box.head + part.y + Math.floor(n / part.cols) * (part.h + part.gap), w: part.w, h: part.h };
}

// The box of a vertex on the page: {x, y, w, h}.
function rectOf(v) {
  const spot = spotOf(v.up ? boxOf(v.up.run) : machine.top.box, v.run, v.i);
  if (!v.up) return spot;
  const outer = rectOf(v.up);
  return { x: outer.x + spot.x, y: outer.y + spot.y, w: spot.w, h: spot.h };
}
