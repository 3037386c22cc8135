-- The module weir.core: JSON, files, processes, clocks.
local shell = require "spec.support.shell"
local core = require "weir.core"

describe("JSON", function()
  it("goes there and back", function()
    for _, text in ipairs { '{"a":[1,2.5,"x",true,false,null],"b":{}}', "[]", "[[],{}]", '"text"', "17" } do
      assert.equal(text, core.json_encode(assert(core.json_decode(text))))
    end
    assert.equal(core.null, core.json_decode "null")
    assert.equal("[]", core.json_encode(core.array {}))
    assert.equal('{\n  "a": 1\n}', core.json_encode({ a = 1 }, { indent = 2 }))
    assert.equal("null", tostring(core.null))
  end)

  local NO_JSON = { print, 0 / 0, math.huge, -math.huge, { [1] = 1, x = 2 }, { [1.5] = 1 }, "\xff", { ["\xff"] = 1 }, "a\xe2\x82",
    "\xc0\x80", "\xed\xa0\x80", "\xf4\x90\x80\x80", "\xe0\x80\x80", "\xe2\x28\xa1", { [1] = 1, [3] = 3 }, io.stdout }
  NO_JSON[#NO_JSON + 1] = {}
  NO_JSON[#NO_JSON].circle = NO_JSON[#NO_JSON]

  it("is refused", function()
    local value, why, code = core.json_decode '{"a":\n}'
    assert.same({ code = "parse" }, { value = value, code = code })
    assert.is_string(why)
    for _, wrong in ipairs(NO_JSON) do
      assert.has_error(function() core.json_encode(wrong) end)
    end
    assert.is_nil((core.json_decode(("["):rep(100000))))
  end)

  -- {value, expected line}
  local LINES = { { nil, "null" }, { core.null, "null" }, { 1, "1" }, { 1.0, "1.0" }, { 1e20, "1e20" }, { -0.5, "-0.5" },
    { 2^-30, "9.313225746154785e-10" }, { 0.79875, "0.79875" }, { 0.1 + 0.2, "0.30000000000000004" },
    { "\"\\\b\f\n\r\t", '"\\"\\\\\\b\\f\\n\\r\\t"' }, { "\0\1\31", '"\\u0000\\u0001\\u001F"' },
    { "\u{e9}\u{20ac}\u{1f600}\u{10ffff}", '"\u{e9}\u{20ac}\u{1f600}\u{10ffff}"' }, { {}, "{}" }, { core.array {}, "[]" },
    { { 1, { a = true } }, '[1,{"a":true}]' }, { ("x"):rep(10000), '"' .. ("x"):rep(10000) .. '"' } }
  for _, row in ipairs(LINES) do
    it("is one line: " .. row[2]:sub(1, 30), function()
      assert.equal(row[2] .. "\n", core.json_line(row[1]))
      assert.equal(row[2], core.json_encode(row[1]))
      assert.same(row[1] == nil and core.null or row[1], core.json_decode(core.json_line(row[1])))
    end)
  end

  it("of one line refuses the same", function()
    for i, wrong in ipairs(NO_JSON) do
      assert.error_matches(function() core.json_line(wrong) end, "^cannot be written as JSON: ", nil, nil, "value " .. i)
    end
    assert.error_matches(function() core.json_line(("x"):rep(9000) .. "\xff") end, "UTF%-8")
  end)
end)

describe("the system", function()
  local CLOSED = 100000 -- a closed descriptor
  local path

  before_each(function()
    path = os.tmpname()
    os.remove(path)
  end)
  after_each(function() os.remove(path) end)

  -- {title, function, arguments, code}
  local REFUSED = {
    { "a file that is not there has no mode", "file_mode", { "/nowhere/at/all" }, "unknown" },
    { "nor one below a file", "file_mode", { "/dev/null/x" }, "unknown" },
    { "a private file has to be new", "write_private", { "/dev/null", "x" }, "io" },
    { "nothing is written where there is no directory", "write_private", { "/nowhere/at/all", "x" }, "io" },
    { "who is behind what is no socket", "peer", { CLOSED }, "io" },
    { "what is no socket was not handed over", "inherited", { CLOSED }, "io" },
    { "a service manager has an absolute path", "notify", { "run/notify", "READY=1" }, "io" },
    { "or a name of two bytes at least", "notify", { "@", "READY=1" }, "io" },
    { "nor has a longer one than a socket can", "notify", { "/" .. ("x"):rep(200), "READY=1" }, "io" },
    { "and listens there", "notify", { "/nowhere/at/all", "READY=1" }, "io" },
    { "or at an abstract name", "notify", { "@nobody listens at " .. os.time(), "READY=1" }, "io" },
  }
  for _, row in ipairs(REFUSED) do
    it(row[2] .. ": " .. row[1], function()
      local value, why, code = core[row[2]](table.unpack(row[3]))
      assert.same({ code = row[4] }, { value = value, code = code })
      assert.is_string(why)
    end)
  end

  it("makes a directory and those above it, as often as it is asked to", function()
    for _, below in ipairs { "/a", "/a//b/c/", "/a/b/c", "" } do
      assert.is_true(core.make_directory(path .. below))
      assert.is_not_nil(io.open(path .. below .. "/."))
    end
    shell.path(path, "file", "")
    for _, row in ipairs { { path .. "/file", "File exists" }, { path .. "/file/x", "Not a directory" },
      { "", "No such file or directory" } } do
      assert.same({ "nil", row[1] .. ": the directory cannot be made: " .. row[2], "io" },
        { tostring((core.make_directory(row[1]))), select(2, core.make_directory(row[1])) })
    end
    assert.error_matches(function() core.make_directory "a\0b" end, "byte 0")
    os.execute("rm -r " .. path)
  end)

  it("has a limit of vertices from its environment", function()
    for _, row in ipairs { { "100", false }, { "1000", true }, { "many", true }, { "", true } } do
      local pipe = assert(io.popen(("WEIR_VERTICES=%s '%s' show -r 'cluster:1 node:200' --totals 2>&1"):format(row[1], shell.bin)))
      local said = pipe:read "a"
      assert.equal(row[2], pipe:close() or false, said)
      assert.equal(not row[2], said:find("more than 100 vertices", 1, true) ~= nil, said)
    end
  end)

  it("ends what looks at a graph when a time is over, however short", function()
    local e = assert(core.engine { resources = core.synthetic "cluster:1 node:4" })
    local code, n = nil, 0
    core.limited(1e-9, function()
      while not code and n < 1000000 do
        code, n = select(3, e:match("slot=1/node", { mode = "preview" })), n + 1
      end
    end)
    assert.equal("interrupted", code)
    assert(e:match("slot=1/node", { mode = "preview" }))
  end)

  it("locks a file for one process, which ends with the process, and which says who has it", function()
    assert.same({ nil, "io" }, { core.lock_file("/nowhere/at/all", "x"), select(3, core.lock_file("/nowhere/at/all", "x")) })
    local fd = assert(core.lock_file(path, "me\n"))
    assert.equal(tonumber("600", 8), core.file_mode(path))
    core.unlock_file(fd, path)
    assert.same({ nil, "unknown" }, { core.file_mode(path), select(3, core.file_mode(path)) })
  end)

  it("opens a file that is its own, and nothing through a link", function()
    local own = assert(core.open_own(path))
    assert(own:write "text")
    assert(own:close())
    assert.equal("text", shell.slurp(path))
    local link = path .. ".link"
    assert(os.execute(("ln -s %s %s"):format(path, link)))
    local none, why, code = core.open_own(link)
    assert(os.remove(link))
    assert.same({ nil, "io" }, { none, code })
    assert.matches(link, why, 1, true)
  end)

  it("has a mask for files, a limit of open ones, a time since the start, and memory that it gives back", function()
    local mask = core.umask(63)
    assert.equal(63, core.umask(mask))
    assert.error_matches(function() core.umask(512) end, "permissions")
    assert.is_true(core.open_files(0) >= 3)
    assert.error_matches(function() core.open_files(-1) end, "count of files")
    assert.is_true(core.uptime() > 0 and core.uptime() <= core.uptime())
    assert.is_nil(core.release_memory())
  end)

  it("writes a file that only its owner may read", function()
    assert.is_true(core.write_private(path, "a secret"))
    assert.equal(tonumber("600", 8), core.file_mode(path))
    local file <close> = assert(io.open(path))
    assert.equal("a secret", file:read "a")
  end)

  it("has secrets of any length, each another", function()
    assert.matches("^%x+$", core.secret())
    assert.same({ 64, 2, 512 }, { #core.secret(), #core.secret(1), #core.secret(256) })
    assert.not_equal(core.secret(), core.secret())
    for _, wrong in ipairs { 0, 257, -1 } do assert.error_matches(function() core.secret(wrong) end, "1 to 256") end
  end)

  it("knows who is in a group", function()
    assert.is_true(core.in_group(0, 0, "root"), "by the group it runs with")
    assert.is_true(core.in_group(0, 4711, "root"), "by the lists")
    assert.is_false(core.in_group(4000000000, 4711, "root"), "who is not known")
    assert.is_false(core.in_group(0, 0, "no such group"))
    assert.same({ "root", 0 }, { core.user(0) })
    assert.same({ nil, 4000000000 }, { core.user(4000000000) })
  end)
end)
