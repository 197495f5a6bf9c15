#!/bin/bash
# A suite in eight shards on a Slurm cluster: each task of the array runs its share of the cases, and writes its results.
#
#     job=$(sbatch --parsable slurm-array.sh Scenarios/conformance results --transport bsd)
#     sbatch --dependency=afterany:"$job" --wrap 'tcpprobe merge results/*.json --junit junit.xml'
#
# The folder of the results is on a file system that all nodes have. Further options are those of `tcpprobe run`.
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

# Which share it is, and which try, tcpprobe reads from Slurm's variables. A later try replaces the results of an earlier one.
tcpprobe run "$suite" "$@" --allow-empty -j "${SLURM_CPUS_PER_TASK:-1}" \
    --results "$results/$task.json" --keep failed --out "$results/captures-$task"
status=$?

# 3: the machine was in the way, and nothing is proven. Such a task is tried again, twice; a failure (1) is a result, and stays.
if ((status == 3 && ${SLURM_RESTART_COUNT:-0} < 2)); then
    scontrol requeue "${SLURM_ARRAY_JOB_ID}_$task"
    sleep 60 # Slurm ends this one
fi
exit "$status"
