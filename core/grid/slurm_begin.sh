# Near the end of its time the task saves and is put back into the queue.
time_up= pid=
trap 'time_up=1; [ -z "$pid" ] || kill -TERM "$pid"' USR1
trap : TERM

