#!/bin/bash
# A crowd that is too large for one machine starts simultaneously on several nodes of a Slurm cluster: each task runs
# its share of the members.
#
#     sbatch --wait slurm-crowd.sh crowd.scn results --set port=7000
#     tcpprobe merge results/*.json --junit junit.xml
#
# The results folder must be on a file system that all nodes share, and the clocks of the nodes must be synchronized by
# NTP. Further options are passed to `tcpprobe run`, such as `--allow-target 10.0.0.9:7000` for a server on another
# machine.
#SBATCH --job-name=tcpprobe-crowd
#SBATCH --nodes=3
#SBATCH --ntasks-per-node=1
set -u
scenario=${1:?the scenario}
results=${2:?the folder of the results}
shift 2
mkdir -p "$results"

# The time at which all tasks begin their first case. It leaves the tasks enough time to start.
start=$(($(date +%s) + 5))
# A failed share does not end the other shares, because each share reports its own results.
# shellcheck disable=SC2016 # the shell of each task expands them
srun --kill-on-bad-exit=0 bash -c 'exec tcpprobe run "$1" --crowd-share auto --start-at "$2" \
    --results "$3/$SLURM_PROCID.json" --keep none "${@:4}"' tcpprobe "$scenario" "$start" "$results" "$@"
