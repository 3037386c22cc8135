# Queues of Flux, each with the nodes that it requires, one with a queue policy of its own.
. "$HERE/lib.sh"
nodes=$(count all)
flux config load <<EOT
[queues.batch]
requires = ["batch"]
[queues.debug]
requires = ["debug"]
[policy.jobspec.defaults.system]
queue = "batch"
[sched-weir.queues.debug]
queue = "easy"
EOT
flux R decode < /dev/null > /dev/null 2>&1
flux kvs put resource.R="$(flux kvs get resource.R | flux R set-property batch:0-$((nodes - 21)) debug:$((nodes - 20))-$((nodes - 1)))"
flux module remove sched-weir
flux module reload resource noverify monitor-force-up
flux module load sched-weir
flux queue start --all
flux weir policy show | grep -q 'easy for debug' || fail "debug has a policy of its own"
wide=$(fake_id 100s -q batch -N$((nodes - 20)) --exclusive -t10m)
blocked=$(fake_id 0.1s -q batch -N2 --exclusive -t10m)
debug=$(fake_id 0.1s -q debug -N20 -n20 -t10s)
flux job wait-event -t 30 "$debug" clean > /dev/null || fail "a queue waits for another"
flux job info "$debug" R | grep -q "\"rank\": *\"$((nodes - 20))-$((nodes - 1))\"" || fail "debug got $(flux job info "$debug" R)"
[ "$(state "$blocked")" = SCHED ] || fail "there is nothing free in batch"
[ "$(apart)" = 1 ] || fail "one job should run"
flux cancel "$wide"
flux job wait-event -t 30 "$blocked" clean > /dev/null || fail "batch does not go on"
finish
