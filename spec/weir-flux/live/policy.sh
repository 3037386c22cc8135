# Policies are changed while jobs run and wait, by command and by configuration; what does not load changes nothing.
. "$HERE/lib.sh"
nodes=$(count all)
flux weir policy show | grep -q 'queue fcfs' || fail "fcfs is what it begins with"
flux weir policy use queue=nonsense 2> /dev/null && fail "a policy that is not there was taken"
flux weir policy use policy=nonsense 2> /dev/null && fail "a policy that is not there was taken"
long=$(fake_id 100s -N1 --exclusive -t10m)
wide=$(fake_id 0.1s -N"$nodes" --exclusive -t1m)
short=$(fake_id 0.1s -N1 -n1 -t1m)
await '[ "$(number pending)" = 2 ]'
[ "$(state "$short")" = SCHED ] || fail "fcfs let somebody overtake"
flux weir policy use queue=easy policy=high > /dev/null || fail "easy was not taken"
flux job wait-event -t 30 "$short" clean > /dev/null || fail "easy does not backfill"
await '[ -n "$(flux jobs -no "{annotations.sched.t_estimate}" '"$wide"')" ]'
flux job info "$short" R | grep -q "\"rank\": *\"$((nodes - 1))\"" || fail "high took $(flux job info "$short" R)"
printf '[sched-weir]\nqueue = "conservative"\n' | flux config load || fail "the configuration was not taken"
flux weir policy show | grep -q 'queue' || fail "nothing is in use"
printf '[sched-weir]\nslice = "nonsense"\n' | flux config load 2> /dev/null && fail "a wrong configuration was taken"
first=$(fake_id 0.1s -N"$nodes" --exclusive -t1m)
flux job urgency "$first" 31
flux cancel "$long"
flux job wait-event -t 30 "$wide" clean > /dev/null
started() { flux jobs -no '{t_run}' "$1"; }
[ "$(printf '%s\n' "$(started "$first")" "$(started "$wide")" | sort -n | head -1)" = "$(started "$first")" ] || fail "an urgent job came later"
flux weir dump | grep -q '"books":' || fail "no dump"
# Ids of jobs as the terminal of who asks can show them.
running=$(fake_id 100s -N1 -t10m)
await '[ "$(state '"$running"')" = RUN ]'
LC_ALL=C.UTF-8 flux weir why "$running" | grep -q '^ƒ' || fail "$(LC_ALL=C.UTF-8 flux weir why "$running")"
LC_ALL=C flux weir why "$running" | grep -q '^f' || fail "$(LC_ALL=C flux weir why "$running")"
LC_ALL=C.UTF-8 FLUX_F58_FORCE_ASCII=1 flux weir why "$running" | grep -q '^f' || fail "ASCII is not forced"
flux cancel "$running"
finish
