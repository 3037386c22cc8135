# With few requests at a time, and jobs whose time is changed while they run.
. "$HERE/lib.sh"
flux module reload sched-weir queue-depth=4 queue=easy
nodes=$(count all)
long=$(fake_id 100s -N"$nodes" --exclusive -t1h)
fake 0.05s --cc=1-30 -n1 -t1m
await '[ "$(state '"$long"')" = RUN ] && [ "$(number pending)" = 4 ]'
flux update "$long" duration=2m || fail "a duration cannot be changed"
await 'flux jobs -no "{annotations.sched.t_estimate}" | grep -q .'
flux cancel "$long"
flux queue drain
[ "$(flux jobs -f completed -c 0 -no '{id}' | wc -l)" = 30 ] || fail "not all that waited ran"
finish
