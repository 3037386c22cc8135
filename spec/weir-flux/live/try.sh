# What waiting jobs would do under other policies is told, and nothing is changed.
. "$HERE/lib.sh"
nodes=$(count all)
flux weir policy use queue=fcfs policy=low > /dev/null || fail "fcfs was not taken"
long=$(fake_id 100s -N1 --exclusive -t10m)
wide=$(fake_id 0.1s -N"$nodes" --exclusive -t1m)
short=$(fake_id 0.1s -N1 -n1 -t1m)
await '[ "$(number pending)" = 2 ]'
flux weir try queue=easy > "$TMP/told" || fail "try failed: $(cat "$TMP/told")"
grep -q '^2 jobs wait. With queue=easy, 1 would start now; 1 earlier' "$TMP/told" || fail "$(cat "$TMP/told")"
printf 'return { schedule = function(q) for j in q:pending() do q:start(j) end end }\n' > "$TMP/mine.lua"
flux weir try queue="$TMP/mine.lua" | grep -q '1 would start now' || fail "a file was not tried"
flux weir try queue=nonsense 2> /dev/null && fail "a policy that is not there was tried"
flux weir policy show | grep -q 'queue fcfs' || fail "the policy was changed"
[ "$(state "$short")" = SCHED ] || fail "a job was started"
flux cancel "$long"
finish
