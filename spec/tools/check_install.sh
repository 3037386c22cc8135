#!/bin/sh
# Installs weir into an empty root and runs everything from there, with no word of the source tree: sh check_install.sh ROOT
set -eu

root=$1
work=$root.work
make=${MAKE:-make}
passed=0

fail() {
    echo "check-install: $*" >&2
    exit 1
}

# What is run knows the root only.
inside() {
    env -i PATH="$root/usr/bin:/usr/bin:/bin" HOME="$work" LD_LIBRARY_PATH="$root/usr/lib" \
        LUA_PATH="$root/usr/share/lua/5.4/?.lua;$root/usr/share/lua/5.4/?/init.lua;;" LUA_CPATH="$root/usr/lib/lua/5.4/?.so;;" \
        PKG_CONFIG_PATH="$root/usr/lib/pkgconfig" PKG_CONFIG_SYSROOT_DIR="$root" PKG_CONFIG_ALLOW_SYSTEM_LIBS=1 "$@"
}

# expect WHAT TEXT COMMAND...: the command goes well, and its output has that text.
expect() {
    what=$1 text=$2
    shift 2
    said=$(cd "$work" && inside "$@" 2>&1) || fail "$what: $said"
    case $said in
    *"$text"*) passed=$((passed + 1)) ;;
    *) fail "$what: \"$text\" is not in: $said" ;;
    esac
}

rm -rf "$root" "$work"
mkdir -p "$work"
"$make" --no-print-directory -s install DESTDIR="$root" PREFIX=/usr LIBDIR=/usr/lib >/dev/null

# Text files that tell where they were made would not work elsewhere.
if grep -rIl -e "$PWD" "$root" | grep -q .; then fail "these name the source tree: $(grep -rIl -e "$PWD" "$root")"; fi

# A PREFIX that is given is all that install writes to, also beside a Flux elsewhere.
flux=$work/flux
mkdir -p "$flux"
for package in flux-core flux-schedutil; do
    printf '%s\n' prefix=/elsewhere 'fluxmoddir=${prefix}/lib/flux/modules' 'fluxcmddir=${prefix}/libexec/flux/cmd' \
        'fluxdatadir=${prefix}/share/flux' Name: Description: Version:1 | sed 's/:$/: x/; s/:1/: 1/' >"$flux/$package.pc"
done
outside=$(PKG_CONFIG_PATH=$flux "$make" --no-print-directory -n install DESTDIR= PREFIX=/given 2>/dev/null | grep -c /elsewhere/ || true)
[ "$outside" = 0 ] || fail "make install PREFIX=/given writes elsewhere"
PKG_CONFIG_PATH=$flux "$make" --no-print-directory -n install DESTDIR= PREFIX=/given 2>/dev/null |
    grep -q "/given/lib/flux/modules/sched-weir.so" || fail "make install PREFIX=/given leaves out the module of Flux"
passed=$((passed + 2))

# ---- the command ----
machine="cluster:1 rack:2 node:2 core:4"
version=$(sed -n 's/^.define WEIR_VERSION "\(.*\)"/\1/p' core/weir.h)
expect "weir --version" "weir $version" weir --version
for command in $(inside weir --help | sed -n '/^weir help/q; s/^  \([a-z]*\)  .*/\1/p'); do
    expect "weir $command --help" "sage: " weir "$command" --help
done
expect match "node[0-1]  each whole" weir match -r "$machine" slot=2/node
expect explain "fits now" weir explain -r "$machine" -j slot=3/node slot=1/node
expect show "core" weir show -r "$machine" --totals
expect find "/cluster0/rack1/node2" weir find -r "$machine" "type=node and id=2"
expect list "free" weir list "$machine"
expect "show --svg" "<svg" weir show -r "$machine" --svg
expect "show --html" "<html" weir show -r "$machine" --html
expect convert "" weir convert "$machine" machine.json
expect "convert, to a database" "" weir convert machine.json machine.db
expect "a database" "node" weir show -r machine.db
expect "a repl" '"up"' weir repl -r machine.json -c 'g"/cluster0".state'
expect "policy list" "best_fit" weir policy list
for policy in policies/*.lua; do
    name=$(basename "$policy" .lua)
    expect "the policy $name" "$name: ok" weir policy check "$name"
done
expect "policy new" "mine.lua" weir policy new mine
expect "the spec of a new policy" "0 failures" weir run /usr/bin/busted mine_spec.lua
expect "this machine" "core" weir show -r local --totals
expect query "INFO: " sh -c 'echo "help quit" | weir query -L machine.json -f jgf -d; weir query --help; echo INFO: '

cat > "$work/scenario.lua" <<'END'
describe("a scenario", function()
  it("passes", function() assert.equal(4, #weir.synthetic("cluster:1 node:4"):find "type=node") end)
end)
END
cat > "$work/trace.swf" <<'END'
; MaxProcs: 4
1 0 0 10 2 -1 -1 2 20 -1 1 1 1 -1 1 -1 -1 -1
2 1 0 10 4 -1 -1 4 20 -1 1 1 1 -1 1 -1 -1 -1
3 2 0 5 2 -1 -1 2 6 -1 1 1 1 -1 1 -1 -1 -1
END
commands=$(inside weir --help)
case $commands in
*"  test "*) sed -i '1i local weir = require "weir"' "$work/scenario.lua"; expect "test" "1 success" weir test -o plainTerminal scenario.lua ;;
esac
case $commands in
*"  replay "*)
    for queue in policies/queue/*.lua; do
        expect "replay with $queue" "jobs" weir replay -r "cluster:1 core:4" -q "$(basename "$queue" .lua)" trace.swf
    done
    ;;
esac

# ---- the module, in a stock Lua ----
expect "require weir" "$version	4	busy" lua5.4 -e 'local weir = require "weir"
  local e = assert(weir.engine { resources = "cluster:1 node:4 core:2", policy = "spread" })
  assert(e:match "slot=1/node")
  print(weir.version or require("weir.core").version, #e:resources():find "type=node", (select(3, e:match "slot=4/node")))'
for module in $(cd "$root/usr/share/lua/5.4" && find weir -name '*.lua' ! -path '*/rdl/*' ! -name test_busted.lua | sort); do
    name=$(echo "${module%.lua}" | tr / . | sed 's/\.init$//')
    expect "require $name" "" lua5.4 -e "require '$name'"
done

# ---- the library ----
cp spec/c/example.c "$work/example.c"
expect "the C example" "" sh -c 'cc -std=c11 -Wall -Werror -o shared example.c $(pkg-config --cflags --libs weir)'
expect "the C example, shared" "job 1 has /cluster0/node1" ./shared
expect "the C example, static" "" sh -c 'cc -std=c11 -o static example.c $(pkg-config --cflags weir) \
  "$(pkg-config --variable=libdir weir)/libweir.a" $(pkg-config --static --libs-only-l weir | sed "s/-lweir//")'
expect "the C example, static" "job 1 has /cluster0/node1" ./static
expect "the header in C++" "" sh -c 'printf "#include <weir.h>\nint main() { return weir_status_name(0) == nullptr; }\n" > a.cc
  if command -v g++ >/dev/null; then g++ -Wall -Werror -o plus a.cc $(pkg-config --cflags --libs weir) && ./plus; fi'

# ---- the pages ----
if command -v man >/dev/null; then
    for page in "$root"/usr/share/man/man[17]/weir*; do
        said=$(MANROFFSEQ='' MANWIDTH=80 man --warnings -E UTF-8 -l -Tutf8 "$page" 2>&1 >/dev/null) || true
        [ -z "$said" ] || fail "$page: $said"
    done
fi
expect "the contract of policies" "# The contract between weir and its policies" head -n 1 "$root/usr/share/weir/doc/policy.md"
if command -v cmark-gfm mandoc >/dev/null; then
    expect "the manual" "<title>The weir manual" grep -o "<title>The weir manual" "$root/usr/share/weir/doc/index.html"
    expect "a picture of the manual" "<svg" grep -o "<svg" "$root/usr/share/weir/doc/policies/low.svg"
fi
expect "the unit" "ExecStart=/usr/bin/weir serve --config /etc/weir/serve.lua" cat "$root/usr/lib/systemd/system/weir.service"
expect "the example of its options" "/etc/weir/machine.json: cannot open" \
  sh -c "sed /state/d '$root/usr/share/weir/serve.lua' > serve.lua; weir serve --config serve.lua 2>&1 || true"
expect "the completion" "explain" bash -c ". $root/usr/share/bash-completion/completions/weir
  COMP_WORDS=(weir ex) COMP_CWORD=1; _weir; echo \${COMPREPLY[@]}"
expect "the completion of options" "--resources" bash -c ". $root/usr/share/bash-completion/completions/weir
  COMP_WORDS=(weir match --r) COMP_CWORD=2; _weir; echo \${COMPREPLY[@]}"
expect "the completion of policies" "best_fit" bash -c ". $root/usr/share/bash-completion/completions/weir
  COMP_WORDS=(weir match -p be) COMP_CWORD=3; _weir; echo \${COMPREPLY[@]}"

# ---- and away ----
"$make" --no-print-directory -s uninstall DESTDIR="$root" PREFIX=/usr LIBDIR=/usr/lib
left=$(find "$root" ! -type d)
[ -z "$left" ] || fail "uninstall leaves $left"
rm -rf "$root" "$work"
echo "check-install: $passed checks passed"
