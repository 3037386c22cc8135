# flux.sh BUILD - how many jobs a second pass through an instance of Flux with fake resources, and what the scheduler spends on them:
# weir beside the schedulers that Flux has. SCHEDULERS="NAME..." chooses; CASES likewise:
#   cores   1,000 jobs of one core on 1,000 nodes of 48 cores
#   nodes   1,000 jobs of one node on 10,000 nodes;   large: the same on 100,000
#   deep    10,000 jobs of one core on 1,000 nodes, all sent to the scheduler at once
#   late    a job that can start at once, while 10,000 wait: from its submission to its resources
BUILD=$1
if [ ! -e "$BUILD/flux/sched-weir.so" ] || ! command -v flux > /dev/null; then
  echo "no Flux here (pkg-config and PATH): nothing to measure"
  exit 0
fi
export FLUX_MODULE_PATH_PREPEND=$BUILD/flux FLUX_EXEC_PATH_PREPEND=$BUILD/flux FLUX_MODPROBE_PATH_APPEND=$BUILD/flux
SCRIPT=$(mktemp)
export SCRIPT
trap 'rm -f "$SCRIPT"' EXIT
cat > "$SCRIPT" <<'EOT'
scheduler=$1 case=$2 jobs=$3
shift 3
broker=$(flux getattr broker.pid)
# A scheduler in Python is a process of its own.
other=$(ps -eo pid,ppid,args | awk -v b="$broker" -v s="$scheduler" '$2 == b && index($0, "module-python-exec") && index($0, s) { print $1 }')
cpu() {
  if [ "$scheduler" = sched-weir ]; then
    flux weir stats | sed 's/.*"cpu_user": *\([0-9.]*\).*"cpu_system": *\([0-9.]*\).*/\1 \2/' | awk '{ print $1 + $2 }'
  else
    sed 's/.*) //' "/proc/$other/stat" | awk '{ print ($12 + $13) / 100 }'
  fi
}
memory() { awk '/VmRSS/ { n += $2 } END { printf "%d MB", n / 1024 }' "/proc/$broker/status" ${other:+/proc/$other/status}; }
now() { date +%s.%N; }
fake() { lasts=$1; shift; flux submit --setattr=system.exec.test.run_duration="$lasts" "$@" true; }
before=$(cpu) from=$(now)
if [ "$case" = late ]; then
  fake 1000s -N999 --exclusive -t2h > /dev/null
  fake 0.001s --quiet --cc=1-"$jobs" -N1000 --exclusive -t1m
  for i in 1 2 3 4 5 6 7 8 9 10; do
    id=$(fake 0.001s --urgency=31 -n1 -t10s)
    flux job wait-event -t 100 "$id" clean > /dev/null
    flux job eventlog -f json "$id"
  done | sed -n 's/.*"timestamp":\([0-9.]*\),"name":"\(submit\|alloc\)".*/\2 \1/p' | awk '
    $1 == "submit" { t = $2 } $1 == "alloc" { d = $2 - t; sum += d; if (d > most) most = d; n++ }
    END { printf "%d jobs, %.1f ms on average, %.1f at most", n, 1000 * sum / n, 1000 * most }'
  echo "  $scheduler, $(memory), cpu $(echo "$(cpu) - $before" | bc) s"
  flux cancel --all --quiet
  flux queue idle --quiet
  exit
fi
fake 0.001s --quiet --cc=1-"$jobs" "$@"
flux queue drain
took=$(echo "$(now) - $from" | bc)
echo "$scheduler: $(echo "$jobs / $took" | bc -l | cut -c1-6) jobs/s, cpu $(echo "1000 * ($(cpu) - $before) / $jobs" | bc -l | cut -c1-5) ms a job, $(memory)" \
  "$(flux weir stats 2> /dev/null | sed 's/.*"longest_slice": *\([0-9.]*\).*/, longest slice \1 s/')"
EOT
# run CASE NODES JOBS OPTIONS OF THE JOBS...
run() {
  case=$1 nodes=$2 jobs=$3
  shift 3
  case " ${CASES:-$case} " in *" $case "*) ;; *) return ;; esac
  echo "$case: $jobs jobs on $nodes nodes"
  for scheduler in ${SCHEDULERS:-sched-simple sched-weir}; do
    timeout "${LIMIT:-900}" flux start --conf=modules.alternatives.sched="$scheduler" --conf=fake-resources.nnodes="$nodes" \
      --conf=fake-resources.cores-per-node=48 --conf=modules."$scheduler".args='["queue-depth='"${DEPTH:-unlimited}"'"]' \
      sh "$SCRIPT" "$scheduler" "$case" "$jobs" "$@" || echo "$scheduler: gave up"
  done
}
run cores 1000 1000 -n1
run nodes 10000 1000 -N1 --exclusive
run deep 1000 10000 -n1
run late 1000 10000
run large 100000 1000 -N1 --exclusive
