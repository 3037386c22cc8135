// clock.js - points in time on the page of a report: dates (UTC) where the runs tell them, else times since the first submission.

const runs = data.runs.map((raw, number) => ({ raw, number }));
const epoch = runs.length && runs.every((run) => run.raw.epoch !== undefined) ? runs[0].raw.epoch : null;
const MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
const MONTH = 30.44 * 86400;

function dateOf(t) { return new Date((t + epoch) * 1000); }

// A point in time, exact to the second.
function clockText(t) {
  if (epoch === null) return timeText(t - data.base);
  return dateOf(t).toISOString().slice(0, 19).replace("T", " ");
}

// A point in time as short as a span of `span` seconds allows.
function shortClock(t, span) {
  if (epoch === null) return timeText(t - data.base, span > 20 * 86400 ? 86400 : span > 7200 ? 60 : 1);
  const text = clockText(t);
  return span > 20 * 86400 ? text.slice(0, 10) : span > 7200 ? text.slice(0, 16) : text;
}

// The text of a tick: the largest part of the date that changes there.
function dateTick(t, step) {
  const d = dateOf(t), day = d.getUTCDate(), clock = two(d.getUTCHours()) + ":" + two(d.getUTCMinutes());
  if (step >= MONTH) return d.getUTCMonth() === 0 ? String(d.getUTCFullYear()) : MONTHS[d.getUTCMonth()];
  if (d.getUTCHours() + d.getUTCMinutes() + d.getUTCSeconds() === 0)
    return MONTHS[d.getUTCMonth()] + " " + day + (d.getUTCMonth() === 0 && day === 1 ? ", " + d.getUTCFullYear() : "");
  return step >= 60 ? clock : clock + ":" + two(d.getUTCSeconds());
}

// The first days of months from t0 to t1, every `months` months.
function monthTicks(t0, t1, months) {
  const list = [], first = dateOf(t0);
  for (let m = Math.ceil((first.getUTCFullYear() * 12 + first.getUTCMonth()) / months) * months; ; m += months) {
    const t = Date.UTC(Math.floor(m / 12), m % 12, 1) / 1000 - epoch;
    if (t > t1) return list;
    if (t >= t0) list.push(t);
  }
}

// The ticks of an axis from t0 to t1 with at most `count` of them: {t, text} each.
function clockTicks(t0, t1, count) {
  const ticks = [];
  if (epoch !== null && (t1 - t0) / count > 14 * 86400) {
    const months = [1, 2, 3, 6, 12, 24, 60, 120].find((m) => m * MONTH * count >= t1 - t0) || 600;
    return monthTicks(t0, t1, months).map((t) => ({ t, text: dateTick(t, MONTH) }));
  }
  const step = timeStep(t1 - t0, count), origin = epoch === null ? data.base : -epoch;
  for (let t = Math.ceil((t0 - origin) / step) * step; t <= t1 - origin + 1e-9; t += step)
    ticks.push({ t: t + origin, text: epoch === null ? timeText(+t.toFixed(9), step) : dateTick(t + origin, step) });
  return ticks;
}
