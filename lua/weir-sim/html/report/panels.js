// panels.js - below the charts: how waits and slowdowns are spread, by size, by user, who waited longest, and what differs from
// the first run job by job.

function numberCell(text, more) { return el("td", { class: "number", ...more }, text); }

function panel(title, ...children) { return el("section", { class: "panel" }, el("h2", {}, title), ...children); }

// ---- classes ------------------------------------------------------------------------------------------------------

function classNames(limits, text) {
  return limits.map((limit, k) => (k === 0 ? "up to " : "\u2264 ") + text(limit)).concat("more");
}

// A bar a class and run, as long as the part of the jobs that the class has.
function barsOf(titles, pick) {
  const parts = runs.map((run) => pick(run).map((n) => n / Math.max(1, run.raw.spread.jobs)));
  const most = Math.max(1e-9, ...parts.flat()), rows = [];
  titles.forEach((title, k) => {
    const bars = runs.map((run, i) => el("div", { class: "bars", title: runs[i].raw.title + ": " + grouped(pick(run)[k]) + " jobs" },
      el("div", { style: "width:" + (100 * parts[i][k] / most).toFixed(2) + "%;background:" + runColour(run.number) })));
    const texts = runs.map((_, i) => el("div", {}, parts[i][k] > 0 ? percent(parts[i][k]) : ""));
    rows.push(el("tr", {}, numberCell(title), el("td", { class: "wide" }, ...bars), el("td", { class: "number soft" }, ...texts)));
  });
  return el("table", { class: "classes" }, ...rows);
}

// ---- tables -------------------------------------------------------------------------------------------------------

function slowdownText(x) { return x >= 100 ? grouped(Math.round(x)) : x.toPrecision(3); }

// A value of a run beside that of the first run: less is better.
function compared(text, value, base) {
  const moved = base === undefined || value === base ? "" : value < base ? " good" : " bad";
  return el("div", { class: "moved-value" + moved }, text);
}

// How the jobs of a row are spread over the classes: a field a class, the darker the more of the jobs are in it.
function stripOf(run, names, counts, jobs) {
  const fields = counts.map((n, k) => {
    const field = el("i", { title: names[k] + ": " + percent(n / jobs) + " of " + counted(jobs, "job") });
    if (n > 0) field.style.cssText = "background:" + runColour(run.number) + ";opacity:" + (0.1 + 0.9 * Math.sqrt(n / jobs)).toFixed(3);
    return el("span", {}, field);
  });
  return el("div", { class: "strip" }, ...fields);
}

// Rows of groups of jobs: {key, and the row of each run, if any}. A line a run: the mean, and how the jobs are spread.
function groupTable(head, list, shareOf) {
  const waits = classNames(data.limits.waits, spanText), slowdowns = classNames(data.limits.slowdowns, String);
  const rows = list.map(({ key, rows: found }) => {
    const first = found.find((row) => row), base = found[0];
    const lines = (line) => found.map((row, i) => (row ? line(row, i) : el("div", {}, "\u00a0")));
    const cells = (text, name) => lines((row, i) => compared(text(row[name]), row[name], i && base ? base[name] : undefined));
    const spread = (names, name) => lines((row, i) => stripOf(runs[i], names, row[name], row.jobs));
    return el("tr", {}, numberCell(key), numberCell(grouped(first.jobs)), numberCell(percent(shareOf(first))),
      el("td", { class: "number" }, ...cells(spanText, "wait")), el("td", {}, ...spread(waits, "waits")),
      el("td", { class: "number" }, ...cells(slowdownText, "slowdown")), el("td", {}, ...spread(slowdowns, "slowdowns")));
  });
  const ends = (from, to) => el("th", {}, el("div", { class: "ends" }, el("span", {}, from), el("span", {}, to)));
  const titles = [head, "jobs", "share of use", "mean wait"].map((x) => el("th", { class: "number" }, x));
  return el("table", { class: "rows groups" }, el("tr", { class: "soft" }, ...titles, ends("no wait", "> " + waits[waits.length - 2].slice(2)),
    el("th", { class: "number" }, "slowdown"), ends("1", "> " + slowdowns[slowdowns.length - 2].slice(2))), ...rows);
}

// The groups of all runs by key, in the order of the first run.
function groupsOf(pick, keyOf) {
  const map = new Map();
  runs.forEach((run, i) => {
    for (const row of pick(run.raw.spread)) {
      const key = keyOf(row);
      if (!map.has(key)) map.set(key, { key, rows: runs.map(() => null) });
      map.get(key).rows[i] = row;
    }
  });
  return [...map.values()];
}

function sizeKey(row) { return row.from === row.to ? grouped(row.to) : grouped(row.from) + "\u2013" + grouped(row.to); }

// ---- single jobs --------------------------------------------------------------------------------------------------

function openJob(run, id) {
  const i = run.id.findIndex((x) => String(x) === String(id));
  if (i >= 0) showJob(run, i);
}

function worstTable(run) {
  const heads = ["job", "user", run.raw.type, "submitted", "waited", "ran", "slowdown"];
  const rows = run.raw.spread.worst.map((job) => el("tr", { class: "found", onclick: () => openJob(run, job.id) },
    ...[String(job.id), job.user || "", grouped(job.size), shortClock(job.submit, finish - begin), spanText(job.wait),
      spanText(job.finish - job.start), slowdownText(job.slowdown)]
      .map((text) => numberCell(text))));
  return el("table", { class: "rows" }, el("tr", { class: "soft" }, ...heads.map((x) => el("th", { class: "number" }, x))), ...rows);
}

function movedTable(run, list, better) {
  const heads = ["job", "user", run.raw.type, "submitted", "waited", "waits now", better ? "gained" : "lost"];
  const rows = list.map((job) => el("tr", { class: "found", onclick: () => openJob(run, job.id) },
    ...[String(job.id), job.user || "", grouped(job.size || 0), shortClock(job.submit, finish - begin), spanText(job.before),
      spanText(job.after)].map((text) => numberCell(text)),
    numberCell(spanText(Math.abs(job.moved)), { class: "number moved-value " + (better ? "good" : "bad") })));
  return el("table", { class: "rows" }, el("tr", { class: "soft" }, ...heads.map((x) => el("th", { class: "number" }, x))), ...rows);
}

// ---- differences over time ----------------------------------------------------------------------------------------

const DECADES = [60, 3600, 86400, 10 * 86400];

// How far from the middle a change of a wait stands, from 0 to 1: a logarithm, as some move by seconds and some by weeks.
function farOf(move, most) { return Math.log1p(Math.abs(move) / 60) / Math.log1p(most / 60); }

// A dot a job: when it was submitted, and by how much it started earlier (above the middle) or later (below) than in the first.
function makeDifference(run, view) {
  const canvas = el("canvas", { class: "difference", "aria-label": "differences of " + run.raw.title, tabindex: 0 });
  let most = 60;
  for (const move of run.moves) if (Math.abs(move) > most) most = Math.abs(move);
  const chart = { canvas, name: "difference", draw() {
    const c = fitCanvas(canvas), w = canvas.clientWidth, h = canvas.clientHeight, half = (h - AXIS) / 2;
    c.clearRect(0, 0, w, h);
    drawTimes(c, view, w, h);
    c.textAlign = "right";
    c.textBaseline = "middle";
    for (const [sign, word] of [[-1, "earlier"], [1, "later"]])
      for (const step of DECADES.filter((s) => s < most)) {
        const y = half + sign * farOf(step, most) * (half - 8);
        c.fillStyle = theme.grid;
        c.fillRect(GUTTER, y, w - GUTTER, 1);
        c.fillStyle = theme.soft;
        c.fillText({ 60: "1 min", 3600: "1 h", 86400: "1 d" }[step] || "10 d", GUTTER - 6, y);
        if (step === 60) c.fillText(word, GUTTER - 44, y);
      }
    c.globalAlpha = 0.6;
    for (let i = 0; i < run.n; i++) {
      const move = run.moves[i], x = GUTTER + (run.submit[i] - view.t0) / (view.t1 - view.t0) * (w - GUTTER);
      if (Number.isNaN(move) || move === 0 || x < GUTTER || x > w) continue;
      c.fillStyle = move < 0 ? BETTER[1] : WORSE[1];
      c.fillRect(x - 1, half + Math.sign(move) * farOf(move, most) * (half - 8) - 1, 2, 2);
    }
    c.globalAlpha = 1;
  } };
  return chart;
}

function addDifference(charts, panels, run, number) {
  const d = data.differences[number], chart = makeDifference(run, view);
  ui.charts.push(chart);
  const counts = el("span", { class: "soft" }, "  of " + grouped(d.jobs) + " jobs in both, ",
    el("span", { class: "moved-value good" }, grouped(d.earlier) + " start earlier"), ", ",
    el("span", { class: "moved-value bad" }, grouped(d.later) + " later"), ", " + grouped(d.same) + " at the same time");
  charts.append(el("section", {},
    el("h2", {}, swatch(runColour(run.number)), run.raw.title + " against " + runs[0].raw.title, counts), chart.canvas));
  listen(chart.canvas, false, (t) => [clockText(t)]);
  if (d.better.length) panels.append(panel(run.raw.title + ": what gained most", movedTable(run, d.better, true)));
  if (d.worse.length) panels.append(panel(run.raw.title + ": what lost most", movedTable(run, d.worse, false)));
}

function addPanels(main, charts) {
  const panels = el("div", { class: "panels" }), spread = (name) => (run) => run.raw.spread[name];
  main.append(panels);
  runs.slice(1).forEach((run, i) => comparable(run) && addDifference(charts, panels, run, i + 1));
  if (runs.every((run) => run.raw.spread.jobs === 0)) return;
  const area = (runs.find((run) => run.raw.spread.area > 0) || runs[0]).raw.spread.area, share = (row) => row.area / Math.max(1e-9, area);
  panels.append(panel("Waits: share of the jobs", barsOf(classNames(data.limits.waits, spanText), spread("waits"))),
    panel("Bounded slowdowns: share of the jobs", barsOf(classNames(data.limits.slowdowns, String), spread("slowdowns"))),
    panel("By size, in " + runs[0].raw.type, groupTable(runs[0].raw.type, groupsOf((s) => s.sizes, sizeKey), share)));
  if (runs[0].raw.spread.users.length)
    panels.append(panel("By user: those with the most use of " + grouped(runs[0].raw.spread.nusers),
      groupTable("user", groupsOf((s) => s.users, (row) => row.user), share)));
  for (const run of runs) if (run.raw.spread.worst.length) {
    panels.append(panel((runs.length > 1 ? run.raw.title + ": the" : "The") + " longest waits", worstTable(run)));
  }
}
