# A broker is killed: what ran there ends, what is left goes on. What was discovered, not configured, is taken from the scheduler then.
. "$HERE/lib.sh"
last=$(($(flux getattr size) - 1))
await '[ "$(count free)" = '$((last + 1))' ]'
everywhere=$(flux submit -N$((last + 1)) -n$((last + 1)) -t10m sleep 300)
await '[ "$(state '"$everywhere"')" = RUN ]'
kill -9 "$(flux exec -r $last flux getattr broker.pid)"
flux job wait-event -t 60 "$everywhere" clean > /dev/null || fail "a job on a broker that was killed goes on"
await '[ "$(count all)" = '"$last"' ]'
rest=$(flux submit -N$last -n$last -t1m true)
flux job wait-event -t 60 "$rest" clean > /dev/null || fail "what is left is not used"
[ "$(result "$rest")" = COMPLETED ] || fail "a job on what is left is $(result "$rest")"
all=$(flux submit -N$((last + 1)) -n$((last + 1)) -t1m true)
flux job wait-event -t 30 "$all" exception | grep -q unsatisfiable || fail "a job that can never run was taken"
finish
