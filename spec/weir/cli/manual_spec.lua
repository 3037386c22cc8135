-- The manual as one page: Markdown and man pages as HTML, every link and every part of it. readme_spec runs its examples,
-- examples_spec and topics_spec those of commands and of grammars.

local cli = require "weir.cli"
local shell = require "spec.support.shell"
local topics = require "weir.cli.topics"
local webpage = require "spec.tools.webpage"

describe("Markdown in the manual", function()
  -- {what, Markdown, HTML}
  for _, case in ipairs {
    { "a paragraph", "one\ntwo\n\nthree", "<p>one\ntwo</p>\n<p>three</p>\n" },
    { "a heading, with its anchor", "## What `v` is", '<h3 id="x-what-v-is">What <code>v</code> is</h3>\n' },
    { "headings of one name", "# a\n# a", '<h2 id="x-a">a</h2>\n<h2 id="x-a-2">a</h2>\n' },
    { "code, as it stands", "```sh\nweir <a> `b`  # c\n```", '<pre class="sh">weir &lt;a&gt; `b`  # c</pre>\n' },
    { "a heading in code", "```\n# a\n```", '<pre class="text"># a</pre>\n' },
    { "code in a line", "`a<b*c**` **d**", "<p><code>a&lt;b*c**</code> <b>d</b></p>\n" },
    { "a list with longer items", "- a\n  b\n- c", "<ul>\n<li>a b</li>\n<li>c</li>\n</ul>\n" },
    { "a table", "| a | b |\n| --- | --- |\n| `c \\| d` | e |",
      "<table>\n<tr><th>a</th><th>b</th></tr>\n<tr><td><code>c | d</code></td><td>e</td></tr>\n</table>\n" },
    { "a link to a file as its words", "see [this](doc/none.md)", "<p>see this</p>\n" },
  } do
    it("has " .. case[1], function() assert.equal(case[3], webpage.html(case[2], "markdown")) end)
  end
end)

describe("man pages in the manual", function()
  -- {what, man page, HTML}
  for _, case in ipairs {
    { "sections", ".SH EXIT STATUS\nof it", '<h3 id="x-exit-status">Exit status</h3>\n<p>of it\n</p>\n' },
    { "terms", ".TP\n\\fB\\-r\\fR, \\fIX\\fR\nwhat", "<dl><dt><b>-r</b>, <i>X</i></dt><dd>what\n</dd></dl>\n" },
    { "text as it stands", ".PP\n.nf\n  a  <b>\n.fi\n.PP\nc", "<pre>  a  &lt;b&gt;\n</pre>\n<p>c\n</p>\n" },
    { "escaped signs", "\\(aq\\(ha\\(ti\\(ga\\&.x \\%a\\:b \\e\\-", "<p>&#39;^~`.x ab \\-\n</p>\n" },
    { "no comments", '.\\" none\n.ad l\na', "<p>a\n</p>\n" },
    { "names of other pages", ".BR weir-serve (1),", "<p><b>weir-serve(1),</b> </p>\n" },
  } do
    it("have " .. case[1], function() assert.equal(case[3], webpage.html(case[2] .. "\n", "roff")) end)
  end
end)

describe("the manual", function()
  local page = webpage.page "build/doc"

  it("has what is built beside it", function() assert.equal(shell.slurp "build/doc/manual.html", page) end)

  it("has a heading of its own for each link", function()
    local ids, wrong = {}, {}
    for id in page:gmatch ' id="([^"]+)"' do
      if ids[id] then wrong[#wrong + 1] = "twice: " .. id end
      ids[id] = true
    end
    for target in page:gmatch 'href="#([^"]+)"' do
      if not ids[target] then wrong[#wrong + 1] = "nowhere: " .. target end
    end
    assert.same({}, wrong)
  end)

  it("closes what it opens", function()
    local open, wrong = {}, {}
    for closing, tag in page:gsub("<style>.-</style>", ""):gmatch "<(/?)(%w+)[^>]*>" do
      if closing == "" then
        if tag ~= "br" and tag ~= "meta" then open[#open + 1] = tag end
      elseif table.remove(open) ~= tag then
        wrong[#wrong + 1] = tag
      end
    end
    assert.same({ {}, {} }, { open, wrong })
  end)

  it("has every command and every grammar", function()
    local missing = {}
    for _, name in ipairs(cli.commands) do
      if not page:find(('id="%%l+%%-weir%%-%s"'):format(name)) then missing[#missing + 1] = name end
    end
    for _, name in ipairs(topics.names) do
      if not page:find(('id="weir-%s"'):format(name), 1, true) then missing[#missing + 1] = name end
    end
    assert.same({}, missing)
  end)
end)
