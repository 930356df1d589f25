#!/bin/bash
# A stock book: arrays, functions, here-documents, pipes, patterns and arithmetic of bash.
set -u
shopt -s extglob nullglob

readonly BOOK=$(mktemp -d)
trap 'rm -rf "$BOOK"; echo "book removed, status $?"' EXIT

declare -A amount=() price=()
declare -a order=()
declare -i movements=0

fail() {
	printf 'fail: %s (line %d of %s)\n' "$1" "${BASH_LINENO[0]}" "${FUNCNAME[1]}"
	return "${2:-1}"
}

add() {
	local item=$1
	local -i count=$2
	((count > 0)) || { fail "no count for $item" 3; return; }
	[[ -v amount[$item] ]] || order+=("$item")
	((amount[$item] = ${amount[$item]:-0} + count))
	movements+=1
}

take() {
	local item=$1
	local -i count=$2
	if [[ ! -v amount[$item] ]]; then
		fail "no such item: $item" 4
		return
	elif ((amount[$item] < count)); then
		fail "too few: $item has ${amount[$item]}" 5
		return
	fi
	((amount[$item] -= count))
	movements+=1
}

report() {
	local item
	printf '%-10s|%6s|%9s\n' item count value
	printf '%.0s-' {1..27}
	echo
	for item in "${order[@]}"; do
		printf '%-10s|%6d|%6d.%02d\n' "$item" "${amount[$item]}" \
			$((amount[$item] * ${price[$item]:-0} / 100)) \
			$((amount[$item] * ${price[$item]:-0} % 100))
	done
}

total() {
	local -i sum=0
	local item
	for item in "${!amount[@]}"; do
		((sum += amount[$item] * ${price[$item]:-0}))
	done
	echo "$sum"
}

echo "# from a here-document"
while IFS=: read -r verb item count rest; do
	case $verb in
		'' | \#*) continue ;;
		add | take) "$verb" "$item" "${count//[!0-9]/}" || echo "status $?" ;;
		price) price[$item]=$count ;;
		@(list|show)) report ;;
		*) fail "unknown: $verb" || : ;;
	esac
done <<-BOOK
	# the first day
	add:screw:120
	add:nut:80 pieces
	add:washer:200:in a box
	price:screw:12
	price:nut:9
	price:washer:3
	take:screw:20
	take:nut:81
	take:bolt:1
	list:
	melt:nut:1
	add:nut:0
	show:
BOOK
echo "movements $movements, total $(total)"

echo "# sorted by pipes"
report | tail -n +3 | sort -t '|' -k 3nr | cut -d '|' -f 1,3 | tr -s ' '
report | mawk -F '|' 'NR > 2 { s += $2 } END { print "pieces", s }'

echo "# files by glob"
for item in "${order[@]}"; do
	echo "${amount[$item]}" >"$BOOK/$item.count"
done
touch "$BOOK/empty.note" "$BOOK/old.count.bak"
files=("$BOOK"/*.count)
echo "${#files[@]} files: ${files[*]##*/}"
echo "without: $(cd "$BOOK" && echo !(*.count))"
none=("$BOOK"/*.none)
echo "none: ${#none[@]}"
mapfile -t counts < <(cat "$BOOK"/*.count)
echo "counts: ${counts[*]}, last ${counts[-1]}, from 1: ${counts[@]:1}"

echo "# expansions"
path=/usr/share/doc/stock/readme.txt
echo "${path##*/} ${path%/*} ${path%%/s*} ${path/doc/man} ${path//\//:}"
word="stock book"
echo "${word^} ${word^^} ${word/ /_} ${#word} ${word:6} ${word: -4:2} ${word@Q}"
unset missing
echo "${missing:-default} ${missing+set} ${word:+given}"
(: "${missing:?is needed}") 2>&1 | sed 's/.*missing/missing/'
printf -v line '%05d|%-5s|%5.2f|%x|%o|%q' 42 ab 3.14159 255 8 'a b'
echo "$line"
ref=word
echo "indirect ${!ref}"
declare -n alias=word
alias="new value"
echo "$word"

echo "# arithmetic"
echo $((7 / 2)) $((-7 / 2)) $((-7 % 3)) $((2 ** 62)) $((0x1f)) $((8#17)) $((36#zz))
echo $((1 << 40 | 5)) $((5 > 3 ? 10 : 20)) $((~0)) $((!5)) $((9223372036854775807 + 1))
((i = 5, j = i++ * 2))
echo "$i $j"
for ((n = 1, f = 1; n <= 20; n++)); do ((f *= n)); done
echo "20! = $f"
let "k = 3 * (4 + 5)"
echo "$k"

echo "# recursion"
fib() {
	local -i n=$1
	((n < 2)) && { echo "$n"; return; }
	echo $(($(fib $((n - 1))) + $(fib $((n - 2)))))
}
echo "fib 10 = $(fib 10)"
hanoi() {
	(($1 == 0)) && return
	hanoi $(($1 - 1)) "$2" "$4" "$3"
	moves+=("$2$3")
	hanoi $(($1 - 1)) "$4" "$3" "$2"
}
moves=()
hanoi 5 a b c
echo "${#moves[@]} moves: ${moves[*]:0:6} ..."

echo "# matches"
for text in 2024-02-29 24-2-9 none 1999-12-31x; do
	if [[ $text =~ ^([0-9]{4})-([0-9]{2})-([0-9]{2})$ ]]; then
		echo "$text: ${BASH_REMATCH[1]} ${BASH_REMATCH[2]#0} ${BASH_REMATCH[3]}"
	else
		echo "$text: no date"
	fi
done
[[ abc < abd && -d $BOOK && ! -e $BOOK/none ]] && echo "tests hold"
case hello in
	h*) echo first ;;&
	*o) echo second ;&
	x) echo third ;;
	*) echo never ;;
esac

echo "# select and read"
printf '2\n9\n' | {
	PS3='? '
	select answer in screw nut washer; do
		echo "chosen: ${answer:-nothing}"
		[[ -n $answer ]] || break
	done 2>/dev/null
}
read -r -d ';' part <<<"one;two"
echo "$part"
read -ra words <<<"  several  words   here "
echo "${#words[@]} ${words[1]}"
while read -r -n 3 chunk; do echo "[$chunk]"; done <<<"abcdefgh"

echo "# subshells keep their own"
value=outer
(value=inner; cd /; echo "$value $PWD")
echo "$value"
{ value=group; } 
echo "$value"
echo one | read -r value || :
echo "$value"
shopt -s lastpipe
set +m
echo two | read -r value
echo "$value"
echo "${PIPESTATUS[*]} $(false | true; echo "${PIPESTATUS[*]}")"
set -o pipefail
false | true
echo "pipefail $?"
exit 7
