// common.js - what the scripts of all pages share: elements, colours, times, the address behind #.

const data = JSON.parse(document.getElementById("data").textContent);

// An element. Texts are always texts: nothing in a page is made from markup.
function el(tag, attributes, ...children) {
  const e = document.createElement(tag);
  for (const [key, value] of Object.entries(attributes || {})) {
    if (key.startsWith("on")) e.addEventListener(key.slice(2), value);
    else if (value !== undefined && value !== false) e.setAttribute(key, value === true ? "" : value);
  }
  e.append(...children.filter((c) => c !== undefined && c !== null));
  return e;
}

function clamp(x, lo, hi) { return x < lo ? lo : x > hi ? hi : x; }

// The first place in a sorted list whose value is not below x (above x, with `after`).
function place(list, x, after) {
  let lo = 0, hi = list.length;
  while (lo < hi) {
    const mid = (lo + hi) >> 1;
    if (after ? list[mid] <= x : list[mid] < x) lo = mid + 1;
    else hi = mid;
  }
  return lo;
}

// ---- colours ------------------------------------------------------------------------------------------------------

const dark = matchMedia("(prefers-color-scheme: dark)").matches;
const theme = data.themes[dark ? "dark" : "light"];

// Of jobs, and of one more and one more of something. Texts as numbers have some colour of their own, too.
function colourOf(id) {
  let n = Number(id);
  if (!Number.isInteger(n) || n < 0) {
    n = 0;
    for (const c of String(id)) n = (n * 31 + c.codePointAt(0)) % 1000003;
  }
  return data.hues[n % 12][Math.floor(n / 12) % 3];
}

function heatOf(fraction) {
  return theme.heats[clamp(Math.round(fraction * 10), 1, 10) - 1];
}

function isDark(colour) {
  const n = parseInt(colour.slice(1), 16);
  return (n >> 16) * 0.299 + (n >> 8 & 255) * 0.587 + (n & 255) * 0.114 < 137;
}

// ---- numbers and times --------------------------------------------------------------------------------------------

function grouped(n) {
  const [whole, rest] = String(n).split(".");
  return whole.replace(/\B(?=(\d{3})+$)/g, ",") + (rest ? "." + rest : "");
}

// "1 job", "24,016 jobs".
function counted(n, word) { return grouped(n) + " " + (n === 1 ? word : word + (word.endsWith("ch") ? "es" : "s")); }

// Only nothing is 0 %, only all is 100 %.
function percent(fraction) {
  if (fraction <= 0) return "0 %";
  if (fraction >= 1) return "100 %";
  return clamp(Math.round(fraction * 1000) / 10, 0.1, 99.9) + " %";
}

function two(n) { return n < 10 ? "0" + n : String(n); }

const WALL = 1e9; // as in texts.lua

// A point in time, in seconds: "90 s" where all times of the page are below an hour, else "12 d 03:04:05", with as much as a
// step of `step` seconds shows; a date where the clock is that of the wall.
const times = { extent: Infinity };
function timeText(t, step) {
  if (t >= WALL) {
    const d = new Date(t * 1000), day = [d.getFullYear(), two(d.getMonth() + 1), two(d.getDate())].join("-");
    return day + " " + [d.getHours(), d.getMinutes(), d.getSeconds()].map(two).join(":");
  }
  if (t < 0) return "-" + timeText(-t, step);
  const s = Math.floor(t), days = Math.floor(s / 86400);
  if (times.extent < 3600) return +t.toFixed(6) + " s";
  if (step >= 86400) return days + " d";
  const clock = two(Math.floor(s % 86400 / 3600)) + ":" + two(Math.floor(s % 3600 / 60));
  return (days ? days + " d " : "") + clock + (step >= 60 ? "" : ":" + two(s % 60));
}

// A length of time: "2.5 h".
function spanText(t) {
  if (t < 0) return "-" + spanText(-t);
  for (const [size, unit] of [[86400, "d"], [3600, "h"], [60, "min"]])
    if (t >= 2 * size) return grouped(+(t / size).toFixed(1)) + " " + unit;
  return +t.toFixed(t < 10 ? 2 : 0) + " s";
}

const STEPS = [1, 2, 5, 10, 20, 30, 60, 120, 300, 600, 1200, 1800, 3600, 7200, 10800, 21600, 43200, 86400];

// A round step with at most `count` of them in `span`.
function timeStep(span, count) {
  const smallest = span / Math.max(1, count);
  if (smallest < 1) return roundStep(smallest);
  return STEPS.find((s) => s >= smallest) || 86400 * roundStep(smallest / 86400);
}

function roundStep(smallest) {
  const unit = 10 ** Math.floor(Math.log10(smallest));
  return unit * [1, 2, 5, 10].find((k) => unit * k >= smallest * 0.999999);
}

// ---- the address behind # -----------------------------------------------------------------------------------------

function readHash() { return Object.fromEntries(new URLSearchParams(location.hash.slice(1))); }

let hashTimer = 0;
function writeHash(values) {
  clearTimeout(hashTimer);
  hashTimer = setTimeout(() => {
    const p = new URLSearchParams();
    for (const [key, value] of Object.entries(values)) if (value !== undefined && value !== "") p.set(key, value);
    try { history.replaceState(null, "", "#" + p); } catch (e) { /* some browsers refuse that for files */ }
  }, 200);
}

// ---- parts of both pages ------------------------------------------------------------------------------------------

// A square of a colour, as in legends.
function swatch(colour, name) { return el("span", { class: name || "swatch", style: "background:" + colour }); }

// The ten colours of shares in use, from a tenth to all.
function heatSwatches() { return [1, 2, 3, 4, 5, 6, 7, 8, 9, 10].map((i) => swatch(heatOf(i / 10), "heat")); }

// A field of search; run() is called when nothing was typed for some milliseconds.
function searchField(attributes, delay, run) {
  let timer = 0;
  return el("input", { type: "search", "aria-label": "search", ...attributes, oninput: () => {
    clearTimeout(timer);
    timer = setTimeout(run, delay);
  } });
}

// The choice of colours; change(word) is called with the word chosen.
function colourChoice(words, change) {
  const select = el("select", { "aria-label": "colours", onchange: () => change(select.value) }, ...words.map((w) => el("option", {}, w)));
  return select;
}

// ---- canvases -----------------------------------------------------------------------------------------------------

// Makes a canvas as sharp as the screen; returns its context, measured in CSS pixels.
function fitCanvas(canvas) {
  const ratio = window.devicePixelRatio || 1, w = canvas.clientWidth, h = canvas.clientHeight;
  if (canvas.width !== Math.round(w * ratio) || canvas.height !== Math.round(h * ratio)) {
    canvas.width = Math.round(w * ratio);
    canvas.height = Math.round(h * ratio);
  }
  const c = canvas.getContext("2d");
  c.setTransform(ratio, 0, 0, ratio, 0, 0);
  return c;
}

const FONT = "system-ui, -apple-system, \"Segoe UI\", Roboto, \"Helvetica Neue\", Arial, sans-serif";

// Draws once before the next frame, however often it is asked to.
function lazily(draw) {
  let asked = false;
  return () => {
    if (asked) return;
    asked = true;
    requestAnimationFrame(() => {
      asked = false;
      draw();
    });
  };
}

// A box of lines that follows the pointer.
const tip = {
  box: null,
  show(lines, x, y) {
    if (!this.box) document.body.append(this.box = el("div", { id: "tip", role: "tooltip" }));
    this.box.replaceChildren(...lines.map((line, i) => el("div", i ? {} : { class: "first" }, line)));
    this.box.style.display = "block";
    const w = this.box.offsetWidth, h = this.box.offsetHeight;
    this.box.style.left = Math.max(0, x + 16 + w > innerWidth ? x - w - 10 : x + 16) + "px";
    this.box.style.top = Math.max(0, y + 16 + h > innerHeight ? y - h - 10 : y + 16) + "px";
  },
  hide() { if (this.box) this.box.style.display = "none"; },
};
