#!/usr/bin/env bash
# A command of beamzero on several machines of a SLURM cluster:
#
#     sbatch --nodes=4 --cpus-per-task=32 deploy/slurm.sh train chess6x6 --run runs/chess6x6
#
# One Ray node is begun on each machine; when all have joined, `beamzero WORDS... --cluster auto` runs on the first of
# them, and at the end all is stopped. Before the time is up the run is saved and the job put back into the queue, where
# it goes on by --resume. The same line goes on with a run that was stopped by anything else.
#
# Needed: an environment with beamzero[cluster] that is active when sbatch is called, and folders that all machines see
# for it and for --run. What is said below after #SBATCH can be said to sbatch instead, such as --gpus-per-node=2.

#SBATCH --job-name=beamzero
#SBATCH --nodes=2
#SBATCH --ntasks-per-node=1
#SBATCH --cpus-per-task=8
#SBATCH --time=04:00:00
# Tells this script two minutes before that time is up.
#SBATCH --signal=B:USR1@120
#SBATCH --requeue
# A machine that fails takes its workers along, and not the job.
#SBATCH --no-kill
#SBATCH --open-mode=append

set -euo pipefail

most_restarts=100

die() {
  echo "slurm.sh: $*" >&2
  exit 2
}

[ -n "${SLURM_JOB_ID:-}" ] || die "this is for sbatch: sbatch deploy/slurm.sh train chess6x6 --run runs/chess6x6"
[ $# -gt 0 ] || die "say what beamzero is to do, such as: train chess6x6 --run runs/chess6x6"

words=("$@" --cluster auto)
if [ "$1" = train ]; then
  folder=
  previous=
  for word in "$@"; do
    if [ "$previous" = --run ]; then folder=$word; fi
    if [[ $word == --run=* ]]; then folder=${word#--run=}; fi
    previous=$word
  done
  [ -n "$folder" ] || die "train needs --run DIR here, so that it can go on"
  if [ -e "$folder/run.json" ]; then words+=(--resume); fi
fi

mapfile -t hosts < <(scontrol show hostnames "$SLURM_JOB_NODELIST")
others=$((${#hosts[@]} - 1))
cpus=${SLURM_CPUS_PER_TASK:-1}

# Jobs that share a machine keep out of each other's way, and nobody else gets in: other users of the machines could run
# programs as you otherwise. srun passes all of this on.
port=$((20000 + SLURM_JOB_ID % 10000))
address=$(python -c 'import ray.util; print(ray.util.get_node_ip_address())')
token=$(python -c 'import secrets; print(secrets.token_hex(32))')
export RAY_ADDRESS=$address:$port RAY_AUTH_MODE=token RAY_AUTH_TOKEN=$token
export RAY_GRACEFUL_SHUTDOWN_DRAIN_TIMEOUT_S=0
node=(
  ray start --block --temp-dir="/tmp/ray-$SLURM_JOB_ID"
  --num-cpus="$cpus" --num-gpus="${SLURM_GPUS_ON_NODE:-0}"
)

told=  # the signal that came
child= # what has to hear of it
steps=()

stop() {
  told=$1
  if [ -n "$child" ]; then kill -TERM "$child" 2>/dev/null || true; fi
}
trap 'stop USR1' USR1
trap 'stop TERM' TERM INT
trap 'kill "${steps[@]}" 2>/dev/null || true; wait' EXIT

run() { # do a command to its end, so that it hears of signals
  [ -z "$told" ] || return 130
  "$@" &
  child=$!
  while kill -0 "$child" 2>/dev/null; do wait "$child" || true; done # a signal ends the waiting, not the command
  status=0
  wait "$child" || status=$?
  child=
  return "$status"
}

# One step for the first machine, and one for all others. Without numbers of its own a step would take those of the job.
step=(srun --ntasks-per-node=1 --cpus-per-task="$cpus" --kill-on-bad-exit=0)
"${step[@]}" --nodes=1 --ntasks=1 --nodelist="${hosts[0]}" \
  "${node[@]}" --head --port="$port" --include-dashboard=false &
steps+=($!)
run timeout 300 bash -c 'until (: <>"/dev/tcp/${RAY_ADDRESS/:/\/}") 2>/dev/null; do sleep 0.5; done' ||
  [ -n "$told" ] || die "Ray did not begin on ${hosts[0]}"
if [ "$others" -gt 0 ]; then
  "${step[@]}" --nodes="$others" --ntasks="$others" --exclude="${hosts[0]}" "${node[@]}" --address="$RAY_ADDRESS" &
  steps+=($!)
fi
run timeout 300 python -c '
import sys, time
import ray

ray.init(log_to_driver=False, logging_level="ERROR")
while sum(node["Alive"] for node in ray.nodes()) < int(sys.argv[1]):
    time.sleep(0.5)
' "${#hosts[@]}" || [ -n "$told" ] || die "not all of ${hosts[*]} joined"

status=0
run python -m beamzero "${words[@]}" || status=$?

if [ "$told" = USR1 ] && [ "$status" -ne 0 ] && [ "${SLURM_RESTART_COUNT:-0}" -lt "$most_restarts" ]; then
  echo "slurm.sh: the time is up; the job goes back into the queue" >&2
  scontrol requeue "$SLURM_JOB_ID"
fi
exit "$status"
