# flux.sh BUILD - how many jobs a second pass through an instance of Flux with fake resources, and what the scheduler spends on them:
# weir beside the schedulers that Flux has. FLUXION=PREFIX says where Fluxion is installed, if not where flux-core is.
# SCHEDULERS="NAME..." chooses among them, those that are not there are skipped; CASES likewise, JOBS=N replaces the number of jobs:
#   cores      1,000 jobs of one core on 1,000 nodes of 48 cores
#   nodes      1,000 jobs of one node on 10,000 nodes;   large: the same on 100,000
#   depth10    10 jobs wait for all of 10,000 nodes, of which 9,000 are taken; ahead of them come by urgency, one after the other, 10 jobs
#              of one node (time from submission to resources), then 300 at once;   depth10000: the same, and 10,000 wait
#   backlog    10,000 jobs of one node on 10,000 nodes, all sent to the scheduler at once
# LIMIT=SECONDS ends a run (600).
# SITE=1 measures what a site would see instead, ROUNDS times (3), the schedulers in turn in each round, for at most TOTAL seconds (840):
#   one1000, one10000   200 jobs of one node on 1,000 and on 10,000 nodes;   mixed   210 jobs of 1 to 64 nodes with limits of 10 minutes
#   to 4 hours on 1,000 nodes;   nested   two batch jobs of two brokers each, whose instances have the same scheduler, run 40 jobs each;
#   queue10000   as depth10000 on 1,000 nodes, once, at the end
# Rows then have the times from submission to start, the middle one and the longest.
# A row has the time from submission to the last job's end as jobs a second; CPU per job of the scheduler (its threads or processes) and
# of all of the broker, scheduler included; CPU of the scheduler until a first job has run; memory of broker and scheduler in the end.
BUILD=$1
if [ ! -e "$BUILD/flux/sched-weir.so" ] || ! command -v flux > /dev/null; then
  echo "no Flux here (pkg-config and PATH): nothing to measure"
  exit 0
fi
export FLUX_EXEC_PATH_PREPEND="$BUILD/flux"
export FLUX_MODULE_PATH_PREPEND="$BUILD/flux${FLUXION:+:$FLUXION/lib/flux/modules}"
export FLUX_MODPROBE_PATH_APPEND="$BUILD/flux${FLUXION:+:$FLUXION/etc/flux/modprobe}"
SCRIPT=$(mktemp)
export SCRIPT
trap 'rm -f "$SCRIPT"' EXIT
cat > "$SCRIPT" <<'EOT'
scheduler=$1 case=$2 nodes=$3 jobs=$4 feasibility=$1
shift 4
case $scheduler in sched-fluxion*) feasibility=sched-fluxion-feasibility ;; esac
family=${scheduler%-qmanager}
broker=$(flux getattr broker.pid)
# A scheduler in Python is a process of its own, one in C some threads of the broker that have its name, cut to 15 letters.
other=$(ps -eo pid,ppid,args | awk -v b="$broker" -v s="$scheduler" '
  $2 == b && index($0, "module-python-exec") && index($0, s) { print $1 }')
ticks() { sed 's/.*) //' "$@" 2> /dev/null | awk '{ n += $12 + $13 } END { printf "%.2f", n / 100 }'; }
threads() {
  for task in /proc/"$broker"/task/*; do
    case $(cat "$task/comm") in "$family"*) echo "$task/stat" ;; esac
  done
}
own() { if [ "$other" ]; then ticks "/proc/$other/stat"; else ticks $(threads); fi; }
all() { ticks "/proc/$broker/stat" ${other:+/proc/$other/stat}; }
megabytes() { awk '/VmRSS/ { n += $2 } END { printf "%d", n / 1024 }' "/proc/$broker/status" ${other:+/proc/$other/status}; }
now() { date +%s.%N; }
fake() { lasts=$1; shift; flux submit --setattr=system.exec.test.run_duration="$lasts" "$@" true; }
calc() { awk "BEGIN { printf \"%.$1f\", $2 }"; }
waiting() { flux queue status -v | awk '/alloc requests pending/ { n += $1 } END { print n + 0 }'; }
# From here on the jobs that are measured run; report N says what they took.
start() { from=$(now) own0=$(own) all0=$(all); }
report() {
  to=$(now)
  spent=$(calc 2 "1000 * ($(own) - $own0) / $1") together=$(calc 2 "1000 * ($(all) - $all0) / $1")
  printf '  %-24s%8s jobs/s  CPU ms/job %8s scheduler %8s broker   loaded in %6s s  %6s MB' "$scheduler" \
    "$(calc 1 "$1 / ($to - $from)")" "$spent" "$together" "$loaded" "$(megabytes)"
}
# The times from submission to resources in eventlogs.
latency() {
  sed -n 's/.*"timestamp":\([0-9.]*\),"name":"\(submit\|alloc\)".*/\2 \1/p' | awk '
    $1 == "submit" { t = $2 } $1 == "alloc" { d = 1000 * ($2 - t); sum += d; if (d > most) most = d; if (!n++ || d < least) least = d }
    END { if (n) printf "  to resources %.1f ms (%.1f to %.1f)", sum / n, least, most; else printf "  to resources: not in time" }'
}
# The times from submission to start of all jobs that ran, the middle one and the longest.
starts() {
  flux jobs -a -c 0 -no '{t_submit} {t_run}' | awk 'NF == 2 && $2 > 0 { print 1000 * ($2 - $1) }' | sort -n | awk '
    { t[NR] = $1 } END { if (NR) printf "  to start %.0f ms, at most %.0f", t[int((NR + 1) / 2)], t[NR] }'
}
mixed() {
  for kind in "1 1h" "2 30m" "4 2h" "8 10m" "16 1h" "32 4h" "64 20m"; do
    set -- $kind
    fake 0.05s --quiet --cc=1-$((jobs / 7)) -N"$1" --exclusive -t"$2" &
  done
  wait
}
# Two batch jobs, whose instances run jobs in processes.
nested() {
  for i in 1 2; do
    flux batch --quiet -N2 --exclusive -t10m --output=none --conf=modules.alternatives.sched="$scheduler" \
      --conf=modules.alternatives.feasibility="$feasibility" \
      --wrap sh -c "flux submit --quiet --cc=1-$((jobs / 2)) -n1 true; flux queue drain"
  done
}
# A first job: Fluxion reads the machine when all of the instance is up already.
flux job wait-event -t 300 "$(fake 0.001s -n1)" clean > /dev/null
loaded=$(own)
case $case in
depth* | queue*)
  fake 10000s -N$((nodes - nodes / 10)) --exclusive -t4h > /dev/null
  start
  fake 0.001s --quiet --cc=1-"$jobs" -N"$nodes" --exclusive -t1m
  while [ "$(waiting)" -lt "$jobs" ]; do sleep 0.2; done
  sleep 3
  waited=$(calc 2 "1000 * ($(own) - $own0) / $jobs")
  for i in 1 2 3 4 5 6 7 8 9 10; do
    id=$(fake 0.001s --urgency=31 -N1 --exclusive -t10s)
    flux job wait-event -t 100 "$id" clean > /dev/null || break
    flux job eventlog -f json "$id"
  done > "$SCRIPT.events"
  start
  fake 0.001s --quiet --urgency=31 --cc=1-300 -N1 --exclusive -t10s --wait
  report 300
  latency < "$SCRIPT.events"
  echo "  a job that comes to wait $waited ms CPU"
  rm "$SCRIPT.events"
  flux cancel --all --quiet
  exit ;;
mixed) start && mixed ;;
nested) start && nested ;;
backlog) flux queue stop --quiet && fake 0.001s --quiet --cc=1-"$jobs" "$@" && start && flux queue start --quiet ;;
*) start && fake 0.001s --quiet --cc=1-"$jobs" "$@" ;;
esac
flux queue drain
report "$jobs"
case $case in one* | mixed | nested) starts ;; esac
flux weir stats 2> /dev/null | sed -n 's/.*"longest_slice": *\([0-9.]*\).*/  longest slice \1 s/p' | tr -d '\n'
echo
EOT
# present NAME: whether there is such a scheduler.
present() {
  for folder in $(flux env printenv FLUX_MODULE_PATH | tr : ' '); do
    if [ -e "$folder/$1.so" ] || [ -e "$folder/$1.py" ]; then return; fi
  done
  false
}
# instance SCHEDULER NODES COMMAND...: an instance of one broker with fake nodes; of four brokers where there are as many nodes.
instance() {
  scheduler=$1 nodes=$2 feasibility=$1 arguments='["queue-depth=unlimited"]'
  shift 2
  # What answers whether a job can ever run is a module of its own in Fluxion, which has no argument for the depth: it takes all.
  case $scheduler in sched-fluxion*) feasibility=sched-fluxion-feasibility arguments='[]' ;; esac
  if [ "$nodes" = 4 ]; then
    timeout -k 30 "${LIMIT:-600}" flux start --test-size=4 --conf=modules.alternatives.sched="$scheduler" \
      --conf=modules.alternatives.feasibility="$feasibility" --conf=modules."$scheduler".args="$arguments" "$@"
    return
  fi
  timeout -k 30 "${LIMIT:-600}" flux start --conf=modules.alternatives.sched="$scheduler" \
    --conf=modules.alternatives.feasibility="$feasibility" --conf=modules."$scheduler".args="$arguments" \
    --conf=fake-resources.nnodes="$nodes" --conf=fake-resources.cores-per-node=48 "$@"
}
# run CASE NODES JOBS OPTIONS OF THE JOBS...
run() {
  case=$1 nodes=$2 jobs=${JOBS:-$3}
  shift 3
  case " ${CASES:-$case} " in *" $case "*) ;; *) return ;; esac
  echo "$case: $jobs jobs on $nodes nodes"
  for name in ${SCHEDULERS:-sched-simple sched-backfill sched-fluxion-qmanager sched-weir}; do
    present "$name" || continue
    if [ "$deadline" ] && [ "$(date +%s)" -ge "$deadline" ]; then
      echo "  $name: left out, the time is over"
      continue
    fi
    instance "$name" "$nodes" sh "$SCRIPT" "$name" "$case" "$nodes" "$jobs" "$@" || echo "  $name: gave up"
  done
}
if [ "$SITE" ]; then
  : "${LIMIT:=90}"
  deadline=$(($(date +%s) + ${TOTAL:-840} - LIMIT))
  for round in $(seq "${ROUNDS:-3}"); do
    echo "round $round"
    run one1000 1000 200 -N1 --exclusive -t10m
    run one10000 10000 200 -N1 --exclusive -t10m
    run mixed 1000 210
    run nested 4 80
  done
  run queue10000 1000 10000
  exit
fi
run cores 1000 1000 -n1
run nodes 10000 1000 -N1 --exclusive
run depth10 10000 10
run depth10000 10000 10000
run backlog 10000 10000 -N1 --exclusive
run large 100000 1000 -N1 --exclusive
