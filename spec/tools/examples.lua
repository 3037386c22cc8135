-- examples.lua HEADER OUT: makes a C file of the examples in the comments of core/weir.h: one function a section.
-- A section begins with a rule, "/* ---- TITLE ---- */"; its example is indented by four columns below "Example:" and ends with
-- the paragraph. A section without an example, or with two, is an error.
local header, target = assert(arg[1]), assert(arg[2])

local FUNCTION = [[
static void example_%d(weir_graph *g, weir_vertex v, weir_request *r, weir_err err, int rc)
{
    (void)g, (void)v, (void)r, (void)err, (void)rc;
#line %d "%s"
%s
    CHECK(err.code == WEIR_OK, "%s: the example ends with \"%%s\"", err.text);
}
]]

local sections, problems = {}, {}
local n, lines, first = 0, nil, nil
for line in io.lines(header) do
  n = n + 1
  local title = line:match "^/%* %-%-%-%- (.-) %-+ %*/$"
  if title then
    sections[#sections + 1] = { title = title }
  elseif line == " * Example:" then
    local section = sections[#sections]
    if section.text then problems[#problems + 1] = ("%s:%d: a second example of a section"):format(header, n) end
    lines, first = {}, n + 1
  elseif lines then
    local code = line:match "^ %*     (.+)$"
    lines[#lines + 1] = code and "    " .. code
    if not code then
      sections[#sections].text, sections[#sections].line = table.concat(lines, "\n"), first
      lines = nil
    end
  end
end

local out, calls = {}, {}
for i, section in ipairs(sections) do
  if not section.text then
    problems[#problems + 1] = ('%s: the section "%s" has no example'):format(header, section.title)
  else
    out[#out + 1] = FUNCTION:format(i, section.line, header, section.text, section.title)
    calls[#calls + 1] = ('    {"%s", example_%d},'):format(section.title, i)
  end
end
if problems[1] then
  io.stderr:write(table.concat(problems, "\n"), "\n")
  os.exit(1)
end
local file <close> = assert(io.open(target, "w"))
file:write(table.concat(out, "\n"), "\nstatic const struct example examples[] = {\n", table.concat(calls, "\n"), "\n};\n")
