# SPDX-License-Identifier: Apache-2.0
# Runs several trials in turn in one job's container: a POSIX shell reads this, then a call of
# `trial` for each. The lines that it prints are read by trial_pack.cpp. Comments are not sent.
hp=${SAGEMAKER_BASE_DIR:-/opt/ml}/input/config/hyperparameters.json
p= q=
# Each trial is a process group of its own, where the image can make one.
g= m=
command -v setsid >/dev/null 2>&1 && g=setsid m=-
# The shell's own words about what it kills are no output of a trial.
exec 3>&2 2>/dev/null
trap 'q=1; kill -s TERM -- "$m$p" || kill -s TERM "$p"' TERM
# trial KEY SECONDS GRACE HYPERPARAMETERS [NAME=VALUE ...] COMMAND ...
trial() {
  [ -n "$q" ] && return
  k=$1 s=$2 c=$3
  [ -w "$hp" ] && printf %s "$4" >"$hp"
  shift 4
  printf '\n[steptune-pack] begin %s\n' "$k"
  $g env STEPTUNE_TRIAL="$k" "$@" 2>&3 3>&- &
  p=$!
  $g sh -c 'sleep "$1" >/dev/null
    printf "\n[steptune-pack] over %s\n" "$3"
    kill -s TERM -- "$4"
    sleep "$2" >/dev/null
    kill -s KILL -- "$4"' sh "$s" "$c" "$k" "$m$p" 3>&- &
  w=$!
  while :; do
    wait "$p"
    r=$?
    [ -n "$q" ] && kill -0 "$p" || break
  done
  kill -s KILL -- "$m$w" || kill -s KILL "$w"
  [ -n "$m" ] && kill -s KILL -- "-$p"
  p=
  printf '\n[steptune-pack] end %s %s\n' "$k" "$r"
}
