#!/bin/sh
# Debian's programs and test cases, attached and detached; then events during detached runs.
ln -s /proc/self/fd /dev/fd
cd /root || exit 1
folder=/sys/kernel/tenon/detach
say() { echo "DETACHED $*"; }

same() {
    name=$1
    shift
    "$@" > attached 2>&1
    first=$?
    tenon-detach "$@" > detached 2>&1
    second=$?
    if [ $first = $second ] && cmp -s attached detached; then
        say "$name same $first $(wc -l < detached)"
    else
        say "$name WRONG $first $second"
        sed "s/^/attached: /" attached
        sed "s/^/detached: /" detached
    fi
}

# Number of its calls, which shows that they came from a dedicated core.
calls() { awk '$1 == "calls" { print $2 }' $folder/$1/state 2>/dev/null; }
state() { head -n 1 $folder/$1/state 2>/dev/null; }
gone() {
    tries=0
    while [ -d $folder/$1 ]; do
        usleep 1000
        tries=$((tries + 1))
        [ $tries -lt 5000 ] || { say "WRONG: $1 is stuck"; return; }
    done
}
until_is() {
    tries=0
    until [ "$(state $1)" = "$2" ]; do
        usleep 1000
        tries=$((tries + 1))
        [ $tries -lt 5000 ] || { say "WRONG: $1 is not $2 but $(state $1)"; return; }
    done
}
# Into a new file: the shell may read an existing one before the program truncates it.
until_speaks() { until [ -s $1 ]; do usleep 1000; done; }
until_has() {
    tries=0
    until [ "$(cat /sys/devices/system/cpu/online)" = $1 ]; do
        usleep 1000
        tries=$((tries + 1))
        [ $tries -lt 5000 ] || { say "WRONG: Linux has not $1"; return; }
    done
}
# The value of these keys in a file of the folder.
answers() { say "answers $({ echo $2 > $folder/$1; } 2>&1 | sed 's/.*: //')"; }
free() {
    echo 3 > /proc/sys/vm/drop_caches
    awk '$1 == "MemFree:" { print $2 }' /proc/meminfo
}
# CPU hot-plug soon overwrites the kernel's log, so complaints are saved early.
complaints() { dmesg -c | grep -E "BUG:|WARNING:|Oops|stall|blocked for|cleanly" >> log; }
plug() {
    echo 0 > /sys/devices/system/cpu/cpu1/online
    echo 1 > /sys/devices/system/cpu/cpu1/online
}
# At a random time of its life, while another CPU is unplugged and plugged.
kill_one() {
    case $((number % 3)) in 0) what=spin ;; 1) what=calls ;; 2) what=touch ;; esac
    tenon-detach trial $what > /dev/null & it=$!
    plug &
    usleep $((number * 1733 % 40000))
    kill -KILL $it
    wait
    gone $it
    complaints
}

yes 0123456789abcdef | head -c 16777216 > large
same sha256sum sha256sum large
same bash bash-static script.sh
same sqlite sqlite3 table.db '.read table.sql'
for case in signals interrupted faults memory family restricted threads waits takeover; do
    same $case trial $case
done
same registers registers
say "has $(cat detached)"
tenon-detach cyclictest -q -l 200 -i 1000 -t 1 > report 2>&1
say "cyclictest $? $(grep -c 'C:    200' report)"

# A program that it executes is detached as well.
tenon-detach sh -c 'exec trial spin' > out & it=$!
until_speaks out
until_is $it running
kill -STOP $it
until_is $it "in Linux"
say "stopped $(cut -d' ' -f3 /proc/$it/stat)"
kill -CONT $it
until_is $it running
strace -p $it 2> traced & tracer=$!
until grep -q attached traced; do usleep 10000; done
until_is $it "in Linux"
kill -INT $tracer
wait $tracer
until_is $it running
before=$(calls $it)
echo $it > $folder/attach
gone $it
say "attached $(cut -d' ' -f3 /proc/$it/stat), $((before > 10)) before"
echo $it > $folder/detach
until_is $it running
tracer $it "$(head -n 1 out)"
wait $it
say "spun $? $(tail -n 1 out)"

# Executed by another thread: detached if that thread is.
trial heir spin > heir & it=$!
until_speaks heir
until_is $it running
say "heir running, $(ls $folder | grep -c '[0-9]') in all"
kill $it
wait $it
gone $it
tenon-detach trial takeover spin > taken & it=$!
until_speaks taken
gone $it
say "taken over $(cut -d' ' -f3 /proc/$it/stat)"
kill $it
wait $it

tenon-detach --cpu 2 trial spin > out & it=$!
until_is $it running
tenon-detach --cpu 1 true 2>&1 | sed 's/^/DETACHED other /'
echo 3 > $folder/$it/cpu
until_has 0-2
until_is $it running
say "moved to $(cat $folder/$it/cpu)"
tenon-detach --cpu 2 trial touch & second=$!
until_is $second running
tenon-detach true 2>&1 | sed 's/^/DETACHED second /'
answers $it/cpu 2
answers $it/cpu 1
answers $it/cpu x
answers detach $it
answers detach 2
answers detach 99999
answers detach none
answers attach $$
say "touched $(awk 'NR > 1 && NR < 4 { print $1, ($2 > 0) }' $folder/$second/state | tr '\n' ' ')"
kill $second
wait $second
tenon-detach old 2> refused
say "refused $? $(cat refused)"
rmmod tenon 2>/dev/null && say "WRONG: the module unloads"
echo 1 > /sys/devices/system/cpu/cpu3/online
gone $it
say "reclaimed $(cut -d' ' -f3 /proc/$it/stat)"
kill -TERM $it
wait $it
say "terminated $?"
tenon-detach sh -c 'exec old'
say "old $?"

number=0
while [ $number -lt KILLS ]; do
    # One warm-up run of each fills Linux's caches.
    [ $number = 3 ] && before=$(free)
    kill_one
    number=$((number + 1))
done 2>/dev/null
say "killed $number, $(grep -c AFFINITY_INFO log) CPUs late"
say "lost $((before - $(free))) KiB, $(grep -l '^State:.D' /proc/[0-9]*/status | wc -l) tasks stuck"
tries=0
until rmmod tenon 2>/dev/null || [ $tries = 1000 ]; do
    usleep 1000
    tries=$((tries + 1))
done
say "unloaded $(grep -c ^processor /proc/cpuinfo)"
insmod /lib/modules/tenon.ko
tenon-detach echo DETACHED again
complaints
grep -v cleanly log && say "WRONG: the kernel complains"
say over
