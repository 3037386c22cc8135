# Many jobs of all sorts on a large machine of fakes; some are cancelled, some can never run.
. "$HERE/lib.sh"
total=$(cores all)
fake 0.3s --cc=1-120 -n1 -t1m
fake 0.5s --cc=1-20 -N7 -n7 -t1m
fake 0.4s --cc=1-12 -N40 --exclusive -t1m
fake 0.2s --cc=1-60 -n3 -c2 -t2m
never=$(fake_id 1s -N1000000 -t1m)
apart > /dev/null
long=$(fake_id 100s -N3 -n3 -t10m)
await '[ "$(state '$long')" = RUN ]'
apart > /dev/null
flux cancel "$long"
[ "$(flux job wait-event -t 30 -f json "$never" exception | grep -c unsatisfiable)" = 1 ] || fail "a job that can never run was taken"
while [ "$(flux jobs -f pending -c 0 -no '{id}' | wc -l)" -gt 0 ]; do apart > /dev/null; done
flux queue drain
[ "$(flux jobs -f completed -c 0 -no '{id}' | wc -l)" = 212 ] || fail "not all jobs were completed: $(flux jobs -a -c 0 -no '{result}' | sort | uniq -c)"
[ "$(cores free)" = "$total" ] || fail "$(cores free) of $total cores are free in the end"
finish
