#!/bin/sh
# Every CPU goes off and on, and every extension of this VM is used after each.
say() { echo "PLUG $*"; }
cpu=/sys/devices/system/cpu
again() { timeout -s KILL 20 "$@" > /tmp/out 2>&1 || say "WRONG: $where: $*: $(tail -n 1 /tmp/out)"; }
# A program's CPU returns to Linux a little after its end.
until_all() {
    tries=0
    until [ "$(cat $cpu/online)" = 0-2 ]; do
        usleep 1000
        tries=$((tries + 1))
        [ $tries -lt 5000 ] || { say "WRONG: $where: CPUs $(cat $cpu/online)"; return; }
    done
}
use() {
    where=$*
    again dd if=/dev/vda of=/dev/null bs=4k count=1 iflag=direct
    again dd if=/dev/vdb of=/dev/null bs=4k count=1 iflag=direct
    again tenonctl ping requests replies
    again tenonctl pause echo
    again tenonctl resume echo
    again tenonctl create --start /job.vm
    again tenonctl destroy job
    [ "$(cat $cpu/online)" = 0-2 ] || return
    again tenon-detach --cpu 2 true
    until_all
    again plugged
    until_all
}
mkdir -p /tmp
use "before any"
round=0
while [ $round -lt ROUNDS ]; do
    for number in 0 1 2; do
        echo 0 > $cpu/cpu$number/online || say "WRONG: CPU $number stays on"
        [ $((round % 5)) = 0 ] && use "round $round, CPU $number off"
        echo 1 > $cpu/cpu$number/online || say "WRONG: CPU $number stays off"
        [ $((round % 5)) = 0 ] && use "round $round, CPU $number on"
    done
    round=$((round + 1))
done
use "after all"
rmmod tenon && insmod /lib/modules/tenon.ko || say "WRONG: the module does not unload"
use "after the module came back"
dmesg | grep -E "BUG:|WARNING:|Oops|stall|blocked for|tenon.*error" && say "WRONG: the kernel complains"
say "over after $round rounds"
