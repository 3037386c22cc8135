# Asks sched-fluxion-resource.match_multi for the jobspec of a file, once for each number. Prints the
# numbers of the jobs that were answered, and how the stream ended.
import errno
import json
import sys

import flux
import flux.constants

handle = flux.Flux()
spec = json.load(open(sys.argv[1]))
ids = [int(word) for word in sys.argv[2:]]
jobs = [{"jobid": number, "jobspec": spec} for number in ids]
future = handle.rpc("sched-fluxion-resource.match_multi", {"cmd": "allocate", "jobs": jobs}, flags=flux.constants.FLUX_RPC_STREAMING)
while True:
    try:
        print(future.get()["jobid"], end=" ")
    except OSError as error:
        print(errno.errorcode[error.errno])
        break
    future.reset()
