#!/bin/bash
# A hundred lines of shell features: pipes, subshells, substitutions, arrays, traps, here-documents.
set -u
sum=0
declare -A seen
trap 'echo "trap EXIT"' EXIT
trap 'echo "trap USR1"' USR1
square() { echo $(($1 * $1)); }
reverse() { echo "$1" | rev; }
for i in 1 2 3 4 5 6 7 8 9 10; do
    sum=$((sum + $(square $i)))
done
echo "squares $sum"
(echo one; echo two; echo three) | sort | while read -r word; do
    echo "<$word>"
done
seq 1 200 | grep 7 | wc -l
seq 1 50 | awk '{ s += $1 } END { print s }'
for word in alpha beta gamma beta alpha; do
    seen[$word]=$((${seen[$word]:-0} + 1))
done
for word in alpha beta gamma; do
    echo "$word ${seen[$word]}"
done
cat <<END | tr a-z A-Z
a here document
of two lines
END
kill -USR1 $$
array=(5 3 9 1)
printf '%s\n' "${array[@]}" | sort -n | paste -s -d, -
echo "last of ${#array[@]}: ${array[-1]}"
( exit 3 )
echo "status $?"
false || echo "false is false"
if [[ "tenon" =~ ^t(.*)n$ ]]; then
    echo "matched ${BASH_REMATCH[1]}"
fi
case "mortise" in
m*) echo "begins with m" ;;
*) echo "does not" ;;
esac
deep() {
    if [ "$1" -gt 0 ]; then
        (deep $(($1 - 1)))
    else
        echo "at the bottom, level $BASH_SUBSHELL"
    fi
}
deep 5
x=$(for i in a b c; do (echo -n "$i"; (echo -n "$i$i")); done)
echo "$x"
while read -r left right; do
    echo "$right $left"
done < <(printf 'a b\nc d\ne f\n')
sleep 0.05 &
child=$!
wait $child
echo "waited $?"
( kill -TERM $BASHPID )
echo "ended $?"
echo "some text" > /tmp/script.$$
while read -r line; do echo "read: $line"; done < /tmp/script.$$
rm /tmp/script.$$
[ -e /tmp/script.$$ ] || echo "removed"
n=0
until [ $n -ge 3 ]; do
    n=$((n + 1))
done
echo "until $n"
text="the quick brown fox"
echo "${text^^} ${#text} ${text/quick/slow} ${text%% *} ${text##* }"
exec 5> >(cat)
reader=$!
echo "through five" >&5; exec 5>&-
wait $reader
for ((i = 0; i < 5; i++)); do
    echo -n "$i " | cat | cat | cat
done
echo
yes | head -n 1000 | sha256sum
seq 1 1000 | sha256sum | cut -c1-16
seq 10 -1 1 | xargs echo
mapfile -t rows < <(seq 3 5)
echo "${rows[*]} ${rows[1]}"
printf '%05d %x %s\n' 42 255 end
local_test() { local v=inner; echo "$v"; }
v=outer
local_test
echo "$v"
select_first() { set -- $1; echo "$1"; }
select_first "first second"
echo $((2 ** 10)) $((0x1f)) $((7 % 3)) $((1 << 4))
echo {a,b}{1,2} {1..5}
printf 'a:b:c\n' | while IFS=: read -r a b c; do echo "$c$b$a"; done
echo "line 96 $(echo 96 | tr 0-9 a-j)"
echo "line 97 $(echo 97 | tr 0-9 a-j)"
echo "line 98 $(echo 98 | tr 0-9 a-j)"
echo "line 99 $(echo 99 | tr 0-9 a-j)"
echo "the end"
