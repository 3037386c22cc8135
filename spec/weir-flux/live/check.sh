# check.sh BUILD - starts instances of Flux with sched-weir and runs the checks of this folder in them. Without Flux there is
# nothing to check. CHECKS=NAME... chooses; SIZES=N... the numbers of brokers; LIMIT=SECONDS that one may take (300).
BUILD=$1
HERE=$(cd "$(dirname "$0")" && pwd)
WEIR=$BUILD/weir
export HERE WEIR
if [ ! -e "$BUILD/flux/sched-weir.so" ] || ! command -v flux > /dev/null; then
  echo "no Flux here (pkg-config and PATH): nothing to check"
  exit 0
fi
export FLUX_MODULE_PATH_PREPEND=$BUILD/flux FLUX_EXEC_PATH_PREPEND=$BUILD/flux FLUX_MODPROBE_PATH_APPEND=$BUILD/flux

failed=0
# run NAME BROKERS OPTIONS...
run() {
  name=$1 size=$2
  shift 2
  case " ${CHECKS:-$name} " in *" $name "*) ;; *) return ;; esac
  case " ${SIZES:-$size} " in *" $size "*) ;; *) return ;; esac
  log=$BUILD/flux/check-$name-$size.log
  if timeout "${LIMIT:-300}" flux start --test-size="$size" --test-exit-timeout=2m --conf=modules.alternatives.sched=sched-weir "$@" sh "$HERE/$name.sh" > "$log" 2>&1; then
    echo "ok      $name, $size brokers"
  else
    echo "FAILED  $name, $size brokers; $log"
    failed=1
  fi
}

large="--conf=resource.noverify=true --conf=fake-resources.nnodes=2000 --conf=fake-resources.cores-per-node=48"
small="--conf=resource.noverify=true --conf=fake-resources.nnodes=100 --conf=fake-resources.cores-per-node=8"
for size in 1 4 16; do
  run load $size $large
  run drain $size $small
  run reload $size $small
done
run policy 1 $small
run try 1 $small
run shadow 1 $small
run trust 1 $small --conf=sched-weir.queue=esy --conf=sched-weir.polcy=low
run limited 1 $small
run queues 1 $small
run slow 1 $small
run preempt 1 $small
run cut 1 $large
# A part of a real trace, where there is one: TRACE=FILE HOURS=N. A whole day: CHECKS=day HOURS=24 LIMIT=1500.
export TRACE="${TRACE:-${WEIR_DATA:-../shared/data}/traces/KTH-SP2-1996-2.predictsim-filtered.swf.gz}"
if [ -e "$TRACE" ]; then
  run day 1 --conf=resource.noverify=true --conf=fake-resources.nnodes=100 --conf=fake-resources.cores-per-node=1 --conf=sched-weir.queue=easy
fi
run kill 4 --test-exit-mode=leader -Stbon.topo=kary:0
run nest 4
if [ -e "$(pkg-config --variable=fluxmoddir flux-core)/sched-fluxion-resource.so" ]; then
  run fluxion 1 $small
  run cross 4
  run switch 1 $small --conf=modules.alternatives.sched=sched-fluxion-qmanager --conf=modules.alternatives.feasibility=sched-fluxion-feasibility \
    --conf=sched-fluxion-resource.prune-filters=ALL:core --conf=sched-fluxion-qmanager.queue-policy=fcfs
fi
exit $failed
