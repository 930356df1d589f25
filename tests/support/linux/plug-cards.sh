#!/bin/sh
# Every CPU goes off and on, and the PCI cards are used after each.
say() { echo "PLUG $*"; }
cpu=/sys/devices/system/cpu
again() { timeout -s KILL 20 "$@" > /tmp/out 2>&1 || say "WRONG: $where: $*: $(tail -n 1 /tmp/out)"; }
use() {
    where=$*
    again dd if=/dev/vda of=/dev/null bs=4k count=1 iflag=direct
    again dd if=/dev/zero of=/dev/vda bs=4k count=1 oflag=direct
    again ping -c 1 10.0.2.2
    again dma
    grep -q "own memory is reached" /tmp/out || say "WRONG: $where: $(cat /tmp/out)"
}
mkdir -p /tmp
ifconfig eth0 10.0.2.15 up
use "before any"
round=0
while [ $round -lt ROUNDS ]; do
    for number in 0 1 2; do
        echo 0 > $cpu/cpu$number/online || say "WRONG: CPU $number stays on"
        use "round $round, CPU $number off"
        echo 1 > $cpu/cpu$number/online || say "WRONG: CPU $number stays off"
        use "round $round, CPU $number on"
    done
    round=$((round + 1))
done
dmesg | grep -E "BUG:|WARNING:|Oops|stall|blocked for" && say "WRONG: the kernel complains"
say "over after $round rounds"
