#!/bin/sh
# Hyplets of every kind, many killed ones, and the state of Linux afterwards.
say() { echo "HYPLET $*"; }
online() { cat /sys/devices/system/cpu/online; }

free() {
    echo 3 > /proc/sys/vm/drop_caches
    awk '$1 == "MemFree:" { print $2 }' /proc/meminfo
}
# CPU hot-plug soon overwrites the kernel's log, so complaints are saved early.
complaints() {
    dmesg -c | grep -E "BUG|WARN|Oops|refcount|leak|stall|blocked for|cleanly" >> log
}
until_lives() {
    tries=0
    until grep -q lives "$1"; do
        usleep 1000
        tries=$((tries + 1))
        [ $tries -lt 10000 ] || { say "WRONG: $1 does not live: $(cat "$1")"; return; }
    done
}
plug() {
    echo 0 > /sys/devices/system/cpu/cpu1/online
    echo 1 > /sys/devices/system/cpu/cpu1/online
}
# Kills one at a random time, in Linux or on its CPU, while another starts or runs; then that one.
# Meanwhile a CPU is unplugged and plugged.
kill_two() {
    case $((number / 2 % 2)) in 0) first=spins second=sleeps ;; 1) first=sleeps second=spins ;; esac
    hyplet $first 2 > first & one=$!
    hyplet $second 3 > second & two=$!
    plug &
    usleep $((number * 1733 % POINTS))
    kill -KILL $one
    until_lives second
    usleep $((number * 977 % 5000))
    kill -KILL $two
    wait
    complaints
    [ "$(online)" = 0-3 ] || say "WRONG: after $number kills the CPUs are $(online)"
}

mkdir -p /tmp && cd /tmp || exit 1
hyplet
hyplet all
devices
shows
say "log says $(dmesg | sed -n 's/.*shows.*: \(d5380000 .*\)/\1/p' | head -n 1)"
insmod /lib/pulse.ko && hyplet between; rmmod pulse

number=0
while [ $number -lt KILLS ]; do
    # Two warm-up runs of each fill Linux's caches.
    [ $number = 4 ] && before=$(free)
    kill_two
    number=$((number + 2))
done 2> /dev/null
say "killed $number, $(grep -c AFFINITY_INFO log) CPUs late"
say "lost $((before - $(free))) KiB, $(grep -l '^State:.D' /proc/[0-9]*/status | wc -l) tasks stuck"

insmod /lib/slow.ko
hyplet spins > lives & it=$!
until_lives lives
rmmod slow
late=$(grep -c AFFINITY_INFO log)
complaints
say "late $(($(grep -c AFFINITY_INFO log) > late))"
echo 1 > /sys/devices/system/cpu/cpu3/online
usleep 100000
say "then $(cat /sys/kernel/tenon/hyplet/cpu3/state)"
rmmod tenon 2> /dev/null && say "WRONG: unloaded while in use"
kill -KILL $it
wait $it 2> /dev/null
grep -c . /proc/[0-9]*/status > /dev/null
rmmod tenon && [ ! -e /sys/kernel/tenon ] && insmod /lib/modules/tenon.ko && hyplet all
complaints
grep -v cleanly log && say "WRONG: the kernel complains"
say "all over"
