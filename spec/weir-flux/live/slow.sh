# A placement policy that takes some 200 ms a match: meanwhile the module answers, cancels, frees and unloads, and nothing is lost.
. "$HERE/lib.sh"
cat > "$TMP/slow.lua" <<'EOT'
return { name = "slow", order = { "id" },
  evaluate = function(v)
    if v.type ~= "node" or v.id > 0 then return -v.id, true end
    local x = 0
    for i = 1, 8000000 + select(2, v:below "core") do x = x + i % 7 end -- what is free changes, so no score is remembered
    return x >= 0 and 0, true
  end }
EOT
cd "$TMP" || exit 1
flux weir policy use policy=./slow.lua > /dev/null || fail "a relative path was not taken"
flux weir policy show | grep -q "policy $TMP/slow.lua" || fail "$(flux weir policy show)"
flux module stats --clear sched-weir
fake 100s --cc=1-30 -N1 -n1 -t10m
await '[ "$(flux weir stats | sed -n "s/.*\"worker\": *\"\(work\)\".*/\1/p")" = work ]'
# Within a match the module answers at once.
flux python "$HERE/slow.py" || fail "the module is kept by a match"
ids=$(flux jobs -f pending -c 3 -no '{id}')
[ -n "$ids" ] || fail "a match took less than it should"
flux cancel $ids
for id in $ids; do flux job wait-event -t 2 "$id" clean > /dev/null || fail "$id is not cancelled while a match runs"; done
id=$(flux jobs -f running -c 1 -no '{id}')
flux cancel "$id"
flux job wait-event -t 5 "$id" clean > /dev/null || fail "$id does not end while a match runs"
apart > /dev/null
# Requests that are withdrawn and made again while the worker may have found something for them: each gets one answer.
fake 100s --cc=1-4 -N1 -n1 -t10m
for round in 1 2 3 4 5; do
  for id in $(flux jobs -f pending -c 4 -no '{id}'); do
    flux job urgency "$id" hold > /dev/null 2>&1
    flux job urgency "$id" default > /dev/null 2>&1
  done
done
apart > /dev/null
before=$(date +%s%N)
flux module remove sched-weir || fail "cannot be unloaded while a match runs"
took=$((($(date +%s%N) - before) / 1000000))
[ "$took" -lt 2000 ] || fail "unloading took $took ms"
flux module load sched-weir
await '[ "$(number running)" = 30 ]'
[ "$(apart)" = 30 ] || fail "30 jobs should run"
[ "$(cores allocated)" = 30 ] || fail "$(cores allocated) cores are allocated to 30 jobs of one core"
for id in $(flux jobs -f running -c 0 -no '{id}'); do
  [ "$(flux job eventlog "$id" | grep -c ' alloc')" = 1 ] || fail "$id has resources more than once"
done
flux cancel --all
finish
