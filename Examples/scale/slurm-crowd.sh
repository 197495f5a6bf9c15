#!/bin/bash
# One crowd, larger than a machine allows, from several nodes of a Slurm cluster at one moment: each task starts its share of the members.
#
#     sbatch --wait slurm-crowd.sh crowd.scn results --set port=7000
#     tcpprobe merge results/*.json --junit junit.xml
#
# The folder of the results is on a file system that all nodes have, and their clocks are kept by NTP. Further options are those of `tcpprobe run`:
# `--allow-target 10.0.0.9:7000` for a server that is not on the same machine.
#SBATCH --job-name=tcpprobe-crowd
#SBATCH --nodes=3
#SBATCH --ntasks-per-node=1
set -u
scenario=${1:?the scenario}
results=${2:?the folder of the results}
shift 2
mkdir -p "$results"

# All tasks begin their first case at this moment; until then they have the time to start.
start=$(($(date +%s) + 5))
# One share that fails does not end the others: each tells what it has seen.
# shellcheck disable=SC2016 # the shell of each task expands them
srun --kill-on-bad-exit=0 bash -c 'exec tcpprobe run "$1" --crowd-share auto --start-at "$2" \
    --results "$3/$SLURM_PROCID.json" --keep none "${@:4}"' tcpprobe "$scenario" "$start" "$results" "$@"
