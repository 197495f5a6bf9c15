#!/bin/bash
# A suite in eight shards on a Slurm cluster: each task of the array runs its share of the cases, and writes its results.
#
#     job=$(sbatch --parsable slurm-array.sh Scenarios/conformance results --transport bsd)
#     sbatch --dependency=afterany:"$job" --wrap 'tcpprobe merge results/*.json --junit junit.xml'
#
# The results folder must be on a file system that all nodes share. Further options are passed to `tcpprobe run`.
#SBATCH --job-name=tcpprobe
#SBATCH --array=0-7
#SBATCH --cpus-per-task=2
#SBATCH --requeue
set -u
suite=${1:?the folder of the scenarios}
results=${2:?the folder of the results}
shift 2
mkdir -p "$results"
task=$SLURM_ARRAY_TASK_ID

# tcpprobe reads the number of the share and of the attempt from Slurm's variables. A later attempt replaces the results of an earlier one.
tcpprobe run "$suite" "$@" --allow-empty -j "${SLURM_CPUS_PER_TASK:-1}" \
    --results "$results/$task.json" --keep failed --out "$results/captures-$task"
status=$?

# Status 3: the machine interfered, and the run is inconclusive. The task is then retried up to twice. A failure (status
# 1) is a result, and is not retried.
if ((status == 3 && ${SLURM_RESTART_COUNT:-0} < 2)); then
    scontrol requeue "${SLURM_ARRAY_JOB_ID}_$task"
    sleep 60 # Slurm ends this task before it restarts it
fi
exit "$status"
