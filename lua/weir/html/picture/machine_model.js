// machine_model.js - the machine: which vertex has which number, what is below it, and who has what of it at a time.
// The data are those of scene.lua.

const NONE = -1;

// A run of siblings: `count` of them, each with all below it, `each` numbers apart. Runs know their first number within the parent
// and how many siblings stand before.
function readRuns(flat) {
  const runs = [];
  for (let i = 0; i < flat.length; i += 6)
    runs.push({ kind: flat[i], id: flat[i + 1], step: flat[i + 2], count: flat[i + 3], shape: flat[i + 4], rank: flat[i + 5],
      each: 0, first: 0, before: 0 });
  return runs;
}

const machine = {
  kinds: data.kinds.map(([type, basename, size, unit]) => ({ type, basename, size, unit })),
  shapes: data.shapes.map((flat) => ({ runs: readRuns(flat), size: 0, totals: new Map() })),
  top: { runs: readRuns(data.roots), size: 0, totals: new Map() },
  names: new Map(),
};

// Shapes come after those that are in them, so one pass settles them all.
function settle(shape) {
  let before = 0;
  for (const run of shape.runs) {
    const inner = machine.shapes[run.shape], kind = machine.kinds[run.kind];
    run.each = 1 + inner.size;
    run.first = shape.size;
    run.before = before;
    before += run.count;
    shape.size += run.each * run.count;
    shape.totals.set(kind.type, (shape.totals.get(kind.type) || 0) + kind.size * run.count);
    for (const [type, units] of inner.totals) shape.totals.set(type, (shape.totals.get(type) || 0) + units * run.count);
  }
}
machine.shapes.forEach(settle);
settle(machine.top);

for (let i = 0; i < data.names.length; i += 2) machine.names.set(data.names[i], data.names[i + 1]);

// ---- vertices -----------------------------------------------------------------------------------------------------

// The i-th vertex of a run whose parent's content begins at the number `base`.
function vertexOf(run, i, base, up) {
  return { p: base + run.first + i * run.each, run, i, kind: machine.kinds[run.kind], shape: machine.shapes[run.shape], up,
    rank: run.rank >= 0 ? run.rank + i : up ? up.rank : NONE };
}

// The vertex with a number, and all above it.
function vertexAt(p) {
  let shape = machine.top, base = 0, v = null;
  while (!v || v.p !== p) {
    let lo = 0, hi = shape.runs.length - 1;
    while (lo < hi) {
      const mid = (lo + hi + 1) >> 1;
      if (base + shape.runs[mid].first <= p) lo = mid;
      else hi = mid - 1;
    }
    const run = shape.runs[lo];
    v = vertexOf(run, Math.floor((p - base - run.first) / run.each), base, v);
    base = v.p + 1;
    shape = v.shape;
  }
  return v;
}

function nameOf(v) {
  const name = machine.names.get(v.p);
  return name === undefined ? v.kind.basename + (v.run.id + v.i * v.run.step) : name;
}

function pathOf(v) { return (v.up ? pathOf(v.up) : data.prefix) + "/" + nameOf(v); }

// Calls visit(v) for the children of v (the roots, for null), until it returns true.
function eachChild(v, visit) {
  const base = v ? v.p + 1 : 0;
  for (const run of (v ? v.shape : machine.top).runs)
    for (let i = 0; i < run.count; i++) if (visit(vertexOf(run, i, base, v))) return true;
  return false;
}

function vertexByPath(path) {
  if (data.prefix && path.startsWith(data.prefix + "/")) path = path.slice(data.prefix.length);
  let v = null;
  for (const name of path.replace(/^\w+:/, "").split("/").filter(Boolean)) {
    let found = null;
    eachChild(v, (child) => nameOf(child) === name && (found = child));
    if (!found) return null;
    v = found;
  }
  return v;
}

// What is known of numbers in runs of {first, how many, value}: a function from a number to its value, or undefined.
function lookupOf(flat, width) {
  const firsts = [];
  for (let i = 0; i < flat.length; i += width) firsts.push(flat[i]);
  return (p) => {
    const i = place(firsts, p, true) - 1;
    return i >= 0 && p < firsts[i] + flat[i * width + 1] ? flat[i * width + 2] : undefined;
  };
}

const ownState = lookupOf(data.states, 3);
const properties = data.properties.map((map) =>
  ({ word: map.word, key: map.word.replace(/^\w+:/, ""), values: map.values, of: lookupOf(map.runs, 3) }));

// The state of a vertex: its own, unless that is "up"; else that of what it is in.
function stateOf(v) {
  for (; v; v = v.up) {
    const s = ownState(v.p);
    if (s !== undefined) return data.state_names[s];
  }
  return "up";
}

function propertyOf(map, v) {
  for (; v; v = v.up) {
    const i = map.of(v.p);
    if (i !== undefined) return map.values[i];
  }
  return undefined;
}

// ---- who has what, when -------------------------------------------------------------------------------------------

const bookings = data.bookings.map(([job, start, end, reserved]) =>
  ({ job, start, end: end < 0 ? Infinity : end, reserved: reserved === 1 }));

// All spans, in the order of their first vertices, which are `each` numbers apart: {p, n, booking, amount, exclusive, kind, shape}.
const spans = [];
for (let i = 0; i < data.spans.length; i += 7)
  spans.push({ p: data.spans[i], n: data.spans[i + 1], booking: bookings[data.spans[i + 2]], amount: data.spans[i + 3],
    exclusive: data.spans[i + 4] === 1, kind: machine.kinds[data.spans[i + 5]], shape: machine.shapes[data.spans[i + 6]],
    each: 1 + machine.shapes[data.spans[i + 6]].size });

// The spans of one time, in order; reach[i] is how far the first i+1 of them go.
const use = { time: NaN, list: [], firsts: [], reach: [], cache: new Map() };

function setTime(t) {
  if (use.time === t) return;
  use.time = t;
  use.list = spans.filter((s) => s.booking.start <= t && t < s.booking.end);
  use.firsts = use.list.map((s) => s.p);
  let far = 0;
  use.reach = use.list.map((s) => (far = Math.max(far, s.p + (s.n - 1) * s.each + 1)));
  use.cache.clear();
}

// Calls visit(span, how many of its vertices) for the spans of the time that are on [a, b).
function eachSpan(a, b, visit) {
  const end = place(use.firsts, b);
  for (let i = place(use.reach, a, true); i < end; i++) {
    const s = use.list[i], n = Math.min(s.n, Math.ceil((b - s.p) / s.each)) - Math.max(0, Math.ceil((a - s.p) / s.each));
    if (n > 0) visit(s, n);
  }
}

// The booking that has v, or something above it, as a whole.
function holderOf(v) {
  for (; v; v = v.up) {
    let found = null;
    eachSpan(v.p, v.p + 1, (s) => { if (s.exclusive) found = s.booking; });
    if (found) return found;
  }
  return null;
}

function addUnits(map, type, units) { map.set(type, (map.get(type) || 0) + units); }

// Units by type that are in use at and below a vertex, by booking: Map of booking to Map of type to units.
function unitsOf(a, b) {
  const out = new Map();
  eachSpan(a, b, (s, n) => {
    let map = out.get(s.booking);
    if (!map) out.set(s.booking, map = new Map());
    addUnits(map, s.kind.type, s.amount * n);
    if (s.exclusive) for (const [type, units] of s.shape.totals) addUnits(map, type, units * n);
  });
  return out;
}

function totalOf(v, type) { return (v.shape.totals.get(type) || 0) + (v.kind.type === type ? v.kind.size : 0); }

// {used: the fraction in use, list: {booking, fraction} each}; a job's fraction is the largest of its fractions by type.
function sharesOf(v) {
  const known = use.cache.get(v.p);
  if (known) return known;
  const shares = { used: 0, list: [] }, sums = new Map();
  for (const [booking, map] of unitsOf(v.p, v.p + v.run.each)) {
    let fraction = 0;
    for (const [type, units] of map) {
      const total = totalOf(v, type);
      if (total > 0) fraction = Math.max(fraction, units / total);
      addUnits(sums, type, units);
    }
    shares.list.push({ booking, fraction });
  }
  for (const [type, units] of sums) shares.used = Math.max(shares.used, totalOf(v, type) > 0 ? units / totalOf(v, type) : 0);
  shares.list.sort((a, b) => a.booking.job - b.booking.job);
  use.cache.set(v.p, shares);
  return shares;
}

// Units of a vertex itself that are free: none where it is not up, or held from above.
function freeOf(v) {
  const state = stateOf(v);
  if (state !== "up" && state !== "degraded" || holderOf(v)) return 0;
  let taken = 0;
  eachSpan(v.p, v.p + 1, (s) => { taken += s.amount; });
  return Math.max(0, v.kind.size - taken);
}

// Units of a type that are in use everywhere.
function usedUnits() {
  const sums = new Map();
  for (const map of unitsOf(0, data.count).values()) for (const [type, units] of map) addUnits(sums, type, units);
  return sums;
}

// Types whose vertices are counted one by one and have others in them.
const grouping = new Set();
for (const { runs } of [...machine.shapes, machine.top])
  for (const run of runs)
    if (machine.shapes[run.shape].runs.length && machine.kinds[run.kind].size === 1) grouping.add(machine.kinds[run.kind].type);

// By grouping type: {some: vertices with something in use at or below them, sum: of the fractions in use}.
function groupsInUse() {
  const out = new Map();
  const add = (type, n, used) => {
    const entry = out.get(type) || { some: 0, sum: 0 };
    out.set(type, { some: entry.some + n, sum: entry.sum + used });
  };
  const visit = (v) => {
    const used = v.shape.runs.length ? sharesOf(v).used : 0;
    if (!used) return;
    if (grouping.has(v.kind.type)) add(v.kind.type, 1, Math.min(1, used));
    if (!holderOf(v)) eachChild(v, (child) => { visit(child); });
    else for (const [type, n] of v.shape.totals) if (grouping.has(type)) add(type, n, n);
  };
  eachChild(null, (root) => { visit(root); });
  return out;
}
