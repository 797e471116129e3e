#!/bin/sh
# Prints what a trial's process got from its parent, as key=value lines.
echo "cwd=$(pwd -P)"
echo "stdin=$(readlink /proc/$$/fd/0)"
# The shell itself holds this script open as descriptor 10.
ls -l /proc/$$/fd
awk '/^SigBlk|^SigIgn/ {print $1 $2}' /proc/$$/status | sed 's/:/=/'
awk '/^Cpus_allowed_list/ {print "cpus=" $2}' /proc/$$/status
# Fields after the command's name: state, parent, group.
group=$(sed 's/.*) //' /proc/$$/stat | cut -d' ' -f3)
[ "$group" = $$ ] && echo "group=own" || echo "group=foreign"
