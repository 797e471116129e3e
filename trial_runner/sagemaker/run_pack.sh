# SPDX-License-Identifier: Apache-2.0
# Runs several trials one after the other in the container of one job. A POSIX shell reads this
# script, followed by a call of `trial` for each trial. The script prints lines `[steptune-pack] ...`
# to the job's log, which trial_pack.cpp reads. Comments are not sent to the job.
hp=${SAGEMAKER_BASE_DIR:-/opt/ml}/input/config/hyperparameters.json
p= q=
# If the image has setsid, each trial runs in a separate process group.
g= m=
command -v setsid >/dev/null 2>&1 && g=setsid m=-
# To read a trial's reports, the script needs these tools, and must be able to end the trial's
# process group.
d=${TMPDIR:-/tmp}/steptune-pack-$$
[ -n "$m" ] || d=
for x in mkfifo tee awk; do command -v "$x" >/dev/null 2>&1 || d=; done
# Without this option mawk waits for many lines before it handles the first one.
a=
case $(awk -W version 2>/dev/null </dev/null) in mawk*) a='-W interactive' ;; esac
# Ends a trial for the reasons $W. Does nothing if the trial has ended, or if another process already
# ends it. env's printf writes all lines in one call. bash's printf would write each line separately,
# and lines of the trial's output could come between.
e='
[ -z "$D" ] || mkdir "$D" || exit
kill -0 "$P" || exit
env printf "\n[steptune-pack] %s $K\n" $W
kill -s TERM -- "$M$P"'
# Reads a trial's output. Ends the trial if its reports show that it is slow (SlowLimit in
# runner.hpp). While a phase is open, the folder $Z exists.
y='
function value(name, at) {
  at = index($0, "\"" name "\":")
  return at ? substr($0, at + length(name) + 3) + 0 : -1
}
function tell(begun) {
  if (ENVIRON["Z"] == "" || begun == in_phase) return
  in_phase = begun
  system(begun ? "mkdir \"$Z\"" : "rmdir \"$Z\"")
}
BEGIN { split(limit, l, " "); first = begin = -1; in_phase = 0 }
ended || !index($0, "[steptune] {") || value("global_rank") > 0 { next }
index($0, "\"phase\":") { tell(value("seconds") < 0); begin = -1; looks = 0; next }
{
  clock = value("clock"); samples = value("samples")
  if (samples >= 0 || value("step") >= 0) tell(0)
  if (limit == "" || clock < 0 || samples < 0) next
  if (first < 0) first = clock
  if (clock < first + l[1]) next
  if (begin < 0) { begin = clock; done = samples; reports = 0; next }
  if (++reports < 4 || clock < begin + l[2]) next
  looks = clock - begin > l[3] * (samples - done) ? looks + 1 : 0
  begin = clock; done = samples; reports = 0
  if (looks < 2) next
  ended = 1
  system("eval \"$E\"; { sleep \"$C\"; kill -s KILL -- \"$M$P\"; } </dev/null >/dev/null &")
}'
# Ends a trial that prints nothing for $0 seconds outside phases. Checks every $L seconds how much
# awk (process $B) has read. Does not end the trial if /proc does not show this.
n='
s=0 r=
while [ "$s" -lt "$0" ]; do
  sleep "$L" >/dev/null
  x=
  read -r x <"/proc/$B/io"
  if [ -z "$x" ] || [ "$x" != "$r" ] || [ -d "$Z" ]; then s=0; else s=$((s + L)); fi
  r=$x
done
eval "$E"
sleep "$C" >/dev/null
kill -s KILL -- "$M$P"'
# The shell's messages about killed processes must not appear in the trials' output.
exec 3>&2 2>/dev/null
trap 'q=1; kill -s TERM -- "$m$p"' TERM
# trial KEY SECONDS GRACE SLOW_LIMIT IDLE_SECONDS HYPERPARAMETERS [NAME=VALUE ...] COMMAND ...
trial() {
  [ -n "$q" ] && return
  k=$1 s=$2 c=$3 l=$4 i=$5
  [ -w "$hp" ] && printf %s "$6" >"$hp"
  shift 6
  o= h= v= z=
  [ -n "$l$i" ] && [ -n "$d" ] && mkdir "$d" && mkfifo "$d/o" "$d/r" && o=$d/o h=$d/ended
  env printf '\n[steptune-pack] begin %s\n' "$k"
  if [ -n "$o" ]; then
    $g env STEPTUNE_TRIAL="$k" "$@" >"$o" 2>&1 3>&- &
  else
    $g env STEPTUNE_TRIAL="$k" "$@" 2>&3 3>&- &
  fi
  p=$!
  E=$e K=$k P=$p M=$m D=$h W=over C=$c $g sh -c 'sleep "$0" >/dev/null
    eval "$E"
    sleep "$C" >/dev/null
    kill -s KILL -- "$M$P"' "$s" 3>&- &
  w=$!
  if [ -n "$o" ]; then
    [ -z "$i" ] || z=$d/phase
    E=$e K=$k P=$p M=$m D=$h W='slow over' C=$c Z=$z LC_ALL=C $g awk $a -v limit="$l" "$y" \
      <"$d/r" 3>&- &
    b=$!
    if [ -n "$i" ]; then
      E=$e K=$k P=$p M=$m D=$h W='idle over' C=$c Z=$z B=$b L=$((i / 20 + 1)) $g sh -c "$n" "$i" \
        3>&- &
      v=$!
    fi
    tee "$d/r" <"$o" 3>&- &
    t=$!
  fi
  # If the trap sends SIGTERM before the trial's process group exists, the signal is lost. So wait for
  # the group and send the signal again.
  until kill -s 0 -- "$m$p" || ! kill -s 0 "$p"; do sleep 0.1 || sleep 1; done
  [ -n "$q" ] && kill -s TERM -- "$m$p"
  while :; do
    wait "$p"
    r=$?
    [ -n "$q" ] && kill -0 "$p" || break
  done
  # If the trap interrupted the first wait, the second one returns the trial's exit status. Otherwise
  # the second one returns 127.
  if [ -n "$q" ]; then
    wait "$p"
    x=$?
    [ "$x" = 127 ] || r=$x
  fi
  [ -n "$h" ] && mkdir "$h"
  # A process that has just started may not have its process group yet.
  kill -s KILL -- "$m$w" || kill -s KILL "$w"
  [ -z "$v" ] || kill -s KILL -- "$m$v" || kill -s KILL "$v"
  [ -n "$m" ] && kill -s KILL -- "-$p"
  p=
  if [ -n "$o" ]; then
    # tee and awk could wait for ever. A process outside the trial's group may keep the pipe open, or
    # the trial may never have opened the pipe.
    $g sh -c 'sleep 5 >/dev/null; kill -s KILL "$@"' sh "$t" "$b" 3>&- &
    w=$!
    while kill -0 "$t" || kill -0 "$b"; do wait "$t" "$b"; done
    kill -s KILL -- "-$w" || kill -s KILL "$w"
    kill -s KILL -- "-$b"
    rm -r "$d"
  fi
  env printf '\n[steptune-pack] end %s %s\n' "$k" "$r"
}
