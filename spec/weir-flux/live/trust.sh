# Nothing that is said of a policy ends the instance or keeps jobs waiting in silence. This instance was started with a queue policy
# and an option that there are not.
. "$HERE/lib.sh"
runs() {
  id=$(fake_id 0.05s -n1 -t1m)
  flux job wait-event -t 30 "$id" clean > /dev/null || fail "no job starts: $1; $(flux weir policy show)"
}
shows() { flux weir policy show | grep -q "$1" || fail "policy show does not tell \"$1\": $(flux weir policy show)"; }
logs() { flux dmesg | grep sched-weir | grep -q "$1" || fail "the log does not tell \"$1\""; }
cd "$TMP" || exit 1
echo 'return {' > syntax.lua
echo 'return { schedule = function() while true do end end }' > endless.lua
echo 'return { schedule = function() error "not now" end }' > hook.lua
echo 'return { schedule = function() end }' > idle.lua
echo 'return { init = function() error "no graph" end, order = { "id" } }' > init.lua
echo 'return { evaluate = function() error "no score" end }' > evaluate.lua

runs "after a start with a policy that is not there"
shows 'queue fcfs; it replaces one that failed: .*esy'
logs 'polcy.*it is left out'

# Refused where it was said: an argument of a load, policy use, a configuration.
for wrong in queue=nosuch policy=nosuch polcy=low queue="$TMP/syntax.lua" policy="$TMP/syntax.lua"; do
  flux module reload sched-weir "$wrong" 2> /dev/null && fail "the module was loaded with $wrong"
  flux module load sched-weir || fail "cannot be loaded after $wrong"
done
for wrong in queue=nosuch policy=nosuch queue=syntax.lua policy=init.lua policy=evaluate.lua; do
  flux weir policy use $wrong 2> /dev/null && fail "policy use took $wrong"
done
for wrong in 'queue = "nosuch"' 'policy = "nosuch"' "policy = \"$TMP/init.lua\"" "queue = \"$TMP/syntax.lua\"" 'polcy = "low"'; do
  printf '[sched-weir]\n%s\n' "$wrong" | flux config load 2> /dev/null && fail "the configuration was taken with $wrong"
done
runs "after refusals"

# What fails in use is replaced by what worked last.
echo '[sched-weir]' | flux config load || fail "the configuration was not taken"
flux weir policy use queue=easy > /dev/null || fail "easy was not taken"
runs "under easy"
flux weir policy use queue=hook.lua > /dev/null || fail "hook.lua opens"
runs "under a policy that fails"
shows 'queue easy; it replaces one that failed: .*not now'
flux weir policy use queue=endless.lua > /dev/null || fail "endless.lua opens"
id=$(fake_id 0.05s -n1 -t1m)
flux weir policy use queue=fcfs | grep -q 'queue fcfs' || fail "another policy is not taken amid the pass of one without end"
flux job wait-event -t 30 "$id" clean > /dev/null || fail "no job starts after a policy without end"
flux weir policy use queue=endless.lua > /dev/null
id=$(fake_id 0.05s -n1 -t1m)
flux job wait-event -t 100 "$id" clean > /dev/null || fail "a policy without end is not stopped"
shows 'queue fcfs; it replaces one that failed: .*budget'
flux weir policy use queue=idle.lua > /dev/null
id=$(fake_id 0.05s -n1 -t1m)
await 'flux weir policy show | grep -q "it starts nothing"'
await 'flux jobs -no "{annotations.sched.reason_pending}" '"$id"' | grep -q "starts nothing"'
flux module reload sched-weir policy="$TMP/evaluate.lua" || fail "a policy that fails on the machine only ends the load"
flux job wait-event -t 30 "$id" clean > /dev/null || fail "no job starts under the policy that replaces evaluate.lua"
shows 'policy first; it replaces one that failed: .*no score'

# A watched file.
echo 'return { schedule = function(q) for job in q:pending() do q:start(job) end end }' > mine.lua
flux module reload sched-weir watch=true queue="$TMP/mine.lua"
runs "under a watched policy"
cp syntax.lua mine.lua
await 'flux weir policy show | grep -q "has changed, and is not used"'
runs "after a watched file was spoiled"
# What was said last counts.
flux weir policy use queue=easy > /dev/null
printf '[sched-weir]\nqueue = "conservative"\n' | flux config load
shows 'queue conservative'
finish
