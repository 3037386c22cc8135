# Asks the module until its worker was found busy ten times, and until a call of a whole match has ended. What the reactor takes is told by its own clock of processor time, as
# the machine may be busy too; of the answers, half have to come at once.
import sys
import time

import flux

handle = flux.Flux()
pings, answers, busy, numbers = [], [], 0, {"longest_call": 0}
LONG = 0.1  # seconds: a match takes longer
until = time.monotonic() + 60


def ask(topic, payload, into):
    start = time.monotonic()
    answer = handle.rpc(topic, payload).get()
    into.append(time.monotonic() - start)
    return answer


while (busy < 10 or numbers["longest_call"] < LONG) and time.monotonic() < until:
    ask("sched-weir.ping", {"seq": 0, "pad": ""}, pings)
    numbers = ask("sched-weir.stats-get", None, answers)
    if numbers["worker_busy"] > 0.005:
        busy += 1
    time.sleep(0.02)
for name, times in ("ping", pings), ("stats", answers):
    times.sort()
    print("%s: median %.1f ms, longest %.1f ms" % (name, times[len(times) // 2] * 1e3, times[-1] * 1e3))
print("the longest slice: %.1f ms, %.1f of them cpu, of %s; the longest call: %.1f ms, of %s; busy %d times" % (
    numbers["longest_slice"] * 1e3, numbers["longest_slice_cpu"] * 1e3, numbers["longest_slice_of"],
    numbers["longest_call"] * 1e3, numbers["longest_call_of"], busy))
ok = busy >= 10 and numbers["longest_call"] >= LONG and numbers["longest_slice_cpu"] < 0.05 and all(
    times[len(times) // 2] < 0.05 for times in (pings, answers))
sys.exit(0 if ok else 1)
