# What is drained gets no jobs, but keeps those it has; what comes back is used.
. "$HERE/lib.sh"
nodes=$(count all)
some=$(flux getattr size) # ranks without a broker cannot be drained
ranks=$([ "$some" = 1 ] && echo 0 || echo 0-$((some - 1)))
running=$(fake_id 100s -N"$nodes" -n"$nodes" -t10m)
await '[ "$(state '$running')" = RUN ]'
flux resource drain "$ranks" check
await '[ "$(count down)" = '$some' ]'
[ "$(state "$running")" = RUN ] || fail "a job was lost by a drain"
all=$(fake_id 0.1s -N"$nodes" --exclusive -t1m)
rest=$(fake_id 0.1s -N$((nodes - some)) -n$((nodes - some)) -t1m)
flux job wait-event -t 30 "$rest" alloc > /dev/null && fail "the queue is in order, and nobody overtakes"
flux cancel "$all"
flux job wait-event -t 30 "$rest" clean > /dev/null || fail "what is not drained is not used"
flux job info "$rest" R | grep -q "\"rank\": *\"$some-" || fail "a drained node was used: $(flux job info "$rest" R)"
flux cancel "$running"
flux job wait-event -t 30 "$running" clean > /dev/null
all=$(fake_id 0.1s -N"$nodes" --exclusive -t1m)
await 'flux jobs -no "{annotations.sched.reason_pending}" '"$all"' | grep -q needed'
flux weir why "$all" | grep -q '(down)' || fail "flux weir why: $(flux weir why "$all")"
flux resource undrain "$ranks"
flux job wait-event -t 30 "$all" clean > /dev/null || fail "what is undrained is not used"
finish
