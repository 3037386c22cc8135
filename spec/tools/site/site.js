// The search box of the manual: every word of the query has to occur in a part of a page; parts whose title has them come first.
const box = document.getElementById("search"), results = document.getElementById("results");
const article = document.querySelector("article"), root = document.body.dataset.root;

function score([page, title, , text], words) {
  const head = (page + " " + title).toLowerCase(), body = text.toLowerCase();
  let sum = 0;
  for (const word of words) {
    const at = head.includes(word) ? 10 : body.includes(word) ? 1 : 0;
    if (!at) return 0;
    sum += at + (title.toLowerCase() === word ? 20 : 0);
  }
  return sum;
}

function excerpt(text, word) {
  const at = Math.max(0, text.toLowerCase().indexOf(word) - 60);
  return (at > 0 ? "... " : "") + text.slice(at, at + 160);
}

function row(entry, words) {
  const link = document.createElement("a"), title = document.createElement("b"), text = document.createElement("small");
  link.href = root + entry[2];
  title.textContent = entry[0] === entry[1] ? entry[0] : entry[0] + ": " + entry[1];
  text.textContent = excerpt(entry[3], words[0]);
  link.append(title, text);
  return link;
}

function search() {
  const words = box.value.toLowerCase().split(/\s+/).filter(Boolean);
  results.hidden = words.length === 0;
  article.hidden = words.length > 0;
  if (words.length === 0) return;
  const found = INDEX.map((entry) => [score(entry, words), entry]).filter(([n]) => n > 0).sort((a, b) => b[0] - a[0]).slice(0, 30);
  results.replaceChildren(...found.map(([, entry]) => row(entry, words)));
  if (found.length === 0) results.textContent = "Nothing found for \"" + box.value + "\".";
}

box.addEventListener("input", search);
results.addEventListener("click", () => { box.value = ""; search(); });
document.getElementById("menu").addEventListener("click", () => document.querySelector("nav").classList.toggle("open"));
document.addEventListener("keydown", (event) => {
  if (event.key === "/" && document.activeElement !== box) { event.preventDefault(); box.focus(); }
  if (event.key === "Escape") { box.value = ""; search(); }
});
