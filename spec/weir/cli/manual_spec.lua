-- The manual as HTML (make doc): its links, its pages, its search box, and its width. readme_spec runs its examples, examples_spec and
-- topics_spec those of commands and of grammars.

local browser = require "spec.support.browser"
local cli = require "weir.cli"
local missing = require "spec.support.missing"
local shell = require "spec.support.shell"
local topics = require "weir.cli.topics"

local ROOT = "build/doc"

local function lines_of(command)
  local list, pipe <close> = {}, assert(io.popen(command))
  for line in pipe:lines() do list[#list + 1] = line end
  return list
end

local made = shell.exists(ROOT .. "/index.html")
local it_of_manual = missing.it_with(made, "no " .. ROOT .. "/index.html: make doc", it, pending)
local it_in_browser = missing.it_with(made and browser.found, missing.program("chromium", "chromium"), it, pending)

describe("the manual", function()
  local paths, pages = made and lines_of(("find %s -name '*.html'"):format(ROOT)) or {}, {}
  for _, path in ipairs(paths) do pages[path] = shell.slurp(path) end

  it_of_manual("has links that lead to pages and headings", function()
    local wrong = {}
    for path, page in pairs(pages) do
      local folder = path:match "^(.*/)"
      for target in page:gmatch ' [hs]r[ec]f?="([^"]*)"' do
        local file, anchor = target:match "^([^#]*)#?(.*)$"
        if not target:find "^https?:" then
          local to = (file == "" and path or folder .. file):gsub("[^/]+/%.%./", "")
          local text = pages[to] or shell.exists(to) and ""
          if not text then wrong[#wrong + 1] = path .. ": " .. target end
          if text and text ~= "" and anchor ~= "" and not text:find(('id="%s"'):format(anchor), 1, true) then
            wrong[#wrong + 1] = path .. ": no heading " .. target
          end
        end
      end
    end
    table.sort(wrong)
    assert.same({}, wrong)
  end)

  it_of_manual("has a page for each command, grammar and policy", function()
    local absent = {}
    local function expect(path) absent[#absent + 1] = not pages[ROOT .. "/" .. path] and path or nil end
    for _, name in ipairs(cli.commands) do expect(("man/weir-%s.html"):format(name)) end
    for _, name in ipairs(topics.names) do expect(("man/weir-%s.html"):format(name)) end
    for _, path in ipairs(lines_of "ls policies/*.lua") do expect(("policies/%s.html"):format(path:match "([^/]+)%.lua$")) end
    for _, path in ipairs(lines_of "ls policies/queue/*.lua") do expect(("policies/queue-%s.html"):format(path:match "([^/]+)%.lua$")) end
    for _, path in ipairs(lines_of "cd doc && find * -mindepth 1 -name '*.md'") do expect((path:gsub("%.md$", ".html"))) end
    assert.same({}, absent)
  end)

  it_of_manual("has a page for each section of weir.h", function()
    local page, absent = pages[ROOT .. "/reference/weir-h.html"], {}
    for title in shell.slurp("core/weir.h"):gmatch "\n/%* %-%-%-%- (.-) %-%-%-" do
      if not page:lower():find(">" .. title:lower() .. "</h2>", 1, true) then absent[#absent + 1] = title end
    end
    assert.same({}, absent)
  end)

  -- Every page in a frame of 400 pixels; and what the search box finds.
  local SCRIPT = [[
    const wide = [], frames = document.querySelectorAll("iframe");
    function search(words) {
      const page = frames[0].contentDocument, box = page.getElementById("search");
      box.value = words;
      box.dispatchEvent(new Event("input"));
      return [...page.querySelectorAll("#results a")].map((a) => a.getAttribute("href"));
    }
    window.addEventListener("load", () => {
      for (const frame of frames) {
        const root = frame.contentDocument.documentElement;
        if (root.scrollWidth > 400) wide.push(frame.getAttribute("src") + " " + root.scrollWidth);
      }
      const found = search("first placement policy")[0] + "|" + search("WEIR_EBUSY busy").length + "|" + search("xyzzy").length;
      document.body.textContent = "wide: " + wide.join(" ") + " found: " + found;
    });]]

  it_in_browser("fits on 400 pixels, and can be searched without a server", function()
    local here, frames = lines_of "pwd"[1], {}
    table.sort(paths)
    for i, path in ipairs(paths) do
      frames[i] = ('<iframe src="file://%s/%s" style="width: 400px; height: 600px; border: 0"></iframe>'):format(here, path)
    end
    table.sort(frames, function(a, b) return (a:find "doc/index" or 1e9) < (b:find "doc/index" or 1e9) end)
    local text = browser.load("<!DOCTYPE html><html><body>" .. table.concat(frames) .. "</body></html>", nil, SCRIPT)
    assert.matches("wide:  found: tutorials/first%-policy.html[^|]*|%d+|0", text)
  end)
end)
