# SPDX-License-Identifier: Apache-2.0
# Runs several trials in turn in one job's container: a POSIX shell reads this, then a call of
# `trial` for each. The lines that it prints are read by trial_pack.cpp. Comments are not sent.
hp=${SAGEMAKER_BASE_DIR:-/opt/ml}/input/config/hyperparameters.json
p= q=
# Each trial is a process group of its own, where the image can make one.
g= m=
command -v setsid >/dev/null 2>&1 && g=setsid m=-
# What a trial reports can be looked at where the image has this, and its group is sure to end.
d=${TMPDIR:-/tmp}/steptune-pack-$$
[ -n "$m" ] || d=
for x in mkfifo tee awk; do command -v "$x" >/dev/null 2>&1 || d=; done
# mawk reads blocks of many lines unless it is told otherwise.
a=
case $(awk -W version 2>/dev/null </dev/null) in mawk*) a='-W interactive' ;; esac
# Tells that a trial is slow and ends it in the place of its timer (SlowLimit in runner.hpp).
y='
function value(name, at) {
  at = index($0, "\"" name "\":")
  return at ? substr($0, at + length(name) + 3) + 0 : -1
}
BEGIN { split(limit, l, " "); first = begin = -1 }
ended || !index($0, "[steptune] {") || value("global_rank") > 0 { next }
index($0, "\"phase\":") { begin = -1; looks = 0; next }
{
  clock = value("clock"); samples = value("samples")
  if (clock < 0 || samples < 0) next
  if (first < 0) first = clock
  if (clock < first + l[1]) next
  if (begin < 0) { begin = clock; done = samples; reports = 0; next }
  if (++reports < 4 || clock < begin + l[2]) next
  looks = clock - begin > l[3] * (samples - done) ? looks + 1 : 0
  begin = clock; done = samples; reports = 0
  if (looks < 2) next
  ended = 1
  printf "\n[steptune-pack] slow %s\n\n[steptune-pack] over %s\n", key, key
  fflush()
  system("kill -s KILL -- " timer "; kill -s TERM -- " trial)
  system("{ sleep " grace "; kill -s KILL -- " trial "; } </dev/null >/dev/null &")
}'
# The shell's own words about what it kills are no output of a trial.
exec 3>&2 2>/dev/null
trap 'q=1; kill -s TERM -- "$m$p" || kill -s TERM "$p"' TERM
# trial KEY SECONDS GRACE SLOW_LIMIT HYPERPARAMETERS [NAME=VALUE ...] COMMAND ...
trial() {
  [ -n "$q" ] && return
  k=$1 s=$2 c=$3 l=$4
  [ -w "$hp" ] && printf %s "$5" >"$hp"
  shift 5
  o=
  [ -n "$l" ] && [ -n "$d" ] && mkdir "$d" && mkfifo "$d/o" "$d/r" && o=$d/o
  printf '\n[steptune-pack] begin %s\n' "$k"
  if [ -n "$o" ]; then
    $g env STEPTUNE_TRIAL="$k" "$@" >"$o" 2>&1 3>&- &
  else
    $g env STEPTUNE_TRIAL="$k" "$@" 2>&3 3>&- &
  fi
  p=$!
  $g sh -c 'sleep "$1" >/dev/null
    printf "\n[steptune-pack] over %s\n" "$3"
    kill -s TERM -- "$4"
    sleep "$2" >/dev/null
    kill -s KILL -- "$4"' sh "$s" "$c" "$k" "$m$p" 3>&- &
  w=$!
  t=
  if [ -n "$o" ]; then
    LC_ALL=C $g awk $a -v key="$k" -v limit="$l" -v timer="-$w" -v trial="-$p" -v grace="$c" "$y" \
      <"$d/r" 3>&- &
    b=$!
    tee "$d/r" <"$o" 3>&- &
    t=$!
  fi
  while :; do
    wait "$p"
    r=$?
    [ -n "$q" ] && kill -0 "$p" || break
  done
  kill -s KILL -- "$m$w" || kill -s KILL "$w"
  [ -n "$m" ] && kill -s KILL -- "-$p"
  p=
  if [ -n "$t" ]; then
    # A process that has left the group may hold the pipe.
    $g sh -c 'sleep 5 >/dev/null; kill -s KILL "$1"' sh "$t" 3>&- &
    w=$!
    wait "$t"
    wait "$b"
    kill -s KILL -- "-$w"
    kill -s KILL -- "-$b"
    rm -r "$d"
  fi
  printf '\n[steptune-pack] end %s %s\n' "$k" "$r"
}
