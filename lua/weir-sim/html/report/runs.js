// runs.js - the runs of a report: jobs as columns, in the order of their starts, and what follows from them.

function column(list) { return Float64Array.from(list, (x) => (x === null ? NaN : x)); }

// A run as the other scripts see it. Jobs that did not start come last; those that did not end last until `end`.
function readRun(run) {
  const { raw } = run, j = raw.jobs, n = j.id.length;
  Object.assign(run, { n, total: raw.total, id: j.id, submit: column(j.submit), start: column(j.start),
    finish: column(j.finish), size: column(j.size), first: j.first, ranges: j.ranges, user: j.user, users: j.users, state: j.state,
    states: j.states, units: Int32Array.from(j.units), colours: new Uint32Array(n), matches: null });
  run.started = run.start.findIndex(Number.isNaN);
  if (run.started < 0) run.started = n;
  run.begin = n ? run.submit.reduce((a, b) => Math.min(a, b)) : 0;
  run.end = run.begin;
  for (let i = 0; i < n; i++)
    for (const t of [run.submit[i], run.start[i], run.finish[i]]) if (t > run.end) run.end = t;
  for (let i = 0; i < run.started; i++) if (Number.isNaN(run.finish[i])) run.finish[i] = run.end;
  run.reach = new Float64Array(run.started);
  for (let i = 0, far = -Infinity; i < run.started; i++) run.reach[i] = far = Math.max(far, run.finish[i]);
  run.series = seriesOf(run);
  run.levels = levelsOf(run);
  run.moves = null;
  return run;
}

function nameOfJob(run, i) { return run.raw.jobs.names && run.raw.jobs.names[i]; }
function userOf(run, i) { return run.user[i] < 0 ? null : run.users[run.user[i]]; }
function stateOfJob(run, i) { return run.state[i] < 0 ? null : run.states[run.state[i]]; }

// ---- series -------------------------------------------------------------------------------------------------------

// The steps of a sum of changes {t, by}: times and values.
function stepsOf(changes) {
  const order = Float64Array.from(changes.keys()).sort((a, b) => changes[a].t - changes[b].t), times = [], values = [];
  let sum = 0;
  for (const i of order) {
    sum += changes[i].by;
    if (times.length && times[times.length - 1] === changes[i].t) values[values.length - 1] = sum;
    else {
      times.push(changes[i].t);
      values.push(sum);
    }
  }
  return { times, values };
}

function utilisationOf(run) {
  const changes = [];
  for (let i = 0; i < run.started; i++)
    changes.push({ t: run.start[i], by: run.size[i] / run.total }, { t: run.finish[i], by: -run.size[i] / run.total });
  return stepsOf(changes);
}

function queueOf(run) {
  const changes = [];
  for (let i = 0; i < run.n; i++) {
    changes.push({ t: run.submit[i], by: 1 });
    if (i < run.started) changes.push({ t: run.start[i], by: -1 });
  }
  return stepsOf(changes);
}

// By name: {times, values}.
function seriesOf(run) {
  const map = new Map(run.raw.series.map((s) => [s.name, {
    unit: s.unit, times: s.points.filter((_, i) => i % 2 === 0), values: s.points.filter((_, i) => i % 2 === 1) }]));
  const first = new Map();
  first.set("utilisation", map.get("utilisation") || utilisationOf(run));
  first.set("queue", map.get("queue") || queueOf(run));
  if (map.has(data.waits)) first.set(data.waits, map.get(data.waits));
  for (const [name, s] of map) first.set(name, s);
  return first;
}

// ---- what is on the screen ----------------------------------------------------------------------------------------

// Calls visit(i) for the jobs that run at some time in [t0, t1).
function eachJob(run, t0, t1, visit) {
  const end = place(run.start.subarray(0, run.started), t1);
  for (let i = place(run.reach, t0, true); i < end; i++) if (run.finish[i] > t0) visit(i);
}

// The job that has a unit at a time; -1: none.
function jobAt(run, t, unit) {
  let found = -1;
  eachJob(run, t, t + 1e-9, (i) => {
    if (run.start[i] > t) return;
    for (let k = run.first[i]; k < run.first[i] + run.ranges[i]; k++)
      if (unit >= run.units[2 * k] && unit < run.units[2 * k] + run.units[2 * k + 1]) found = i;
  });
  return found;
}

function describeJob(run, i) {
  const lines = ["job " + run.id[i] + (nameOfJob(run, i) ? "  " + nameOfJob(run, i) : "")], started = i < run.started;
  if (userOf(run, i) !== null) lines.push("user " + userOf(run, i));
  lines.push(grouped(run.size[i]) + " " + run.raw.type + (stateOfJob(run, i) ? ", " + stateOfJob(run, i) : ""));
  lines.push("submitted " + clockText(run.submit[i]));
  if (!started) return lines.concat("not started");
  lines.push("started " + clockText(run.start[i]) + ", after " + spanText(run.start[i] - run.submit[i]));
  lines.push("ended " + clockText(run.finish[i]) + ", ran " + spanText(run.finish[i] - run.start[i]));
  const estimate = run.raw.jobs.estimate[i];
  if (estimate !== null) lines.push("estimate " + spanText(estimate));
  return lines;
}

// ---- two runs -----------------------------------------------------------------------------------------------------

// By how much each job waited longer than in the run `base`, in seconds; NaN where one of the two did not start it.
function movesOf(base, run) {
  const known = new Map(), moves = new Float64Array(run.n).fill(NaN);
  for (let i = 0; i < base.started; i++) known.set(base.id[i], i);
  for (let i = 0; i < run.started; i++) {
    const k = known.get(run.id[i]);
    if (k !== undefined) moves[i] = (run.start[i] - run.submit[i]) - (base.start[k] - base.submit[k]);
  }
  return moves;
}
