pid=$!
wait "$pid"
code=$?
while [ "$code" -gt 130 ] && kill -0 "$pid" 2>/dev/null; do
    wait "$pid"
    code=$?
done
if [ -n "$time_up" ] && [ "$code" -ge 130 ] && [ "${SLURM_RESTART_COUNT:-0}" -lt 100 ]; then
    scontrol requeue "${SLURM_ARRAY_JOB_ID}_$SLURM_ARRAY_TASK_ID"
fi
exit "$code"
