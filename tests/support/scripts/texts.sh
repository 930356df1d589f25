#!/bin/sh
# Texts in the POSIX shell, for bash and dash: here-documents, functions, pipes, traps, options.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"; echo cleaned' EXIT
cd "$work"

say() { printf '%s\n' "$*"; }
title() { say "# $*"; }

title "parameters"
set -- one 'two words' three
say "$#: $1, $2, $3"
for argument; do say "[$argument]"; done
shift 2
say "$# left: $*"
set -- "$@" four five
IFS=:
say "$*"
unset IFS
say "${none-unset} ${none:-empty} ${1#t} ${1%e} ${#1}"
path=/a/b.c/d.e.f
say "${path##*/} ${path%.*} ${path%%.*} ${path#*/}"

title "options"
parse() {
	OPTIND=1
	verbose=0 file='' rest=''
	while getopts vf: option; do
		case $option in
			v) verbose=$((verbose + 1)) ;;
			f) file=$OPTARG ;;
			*) say "usage"; return 2 ;;
		esac
	done
	shift $((OPTIND - 1))
	rest=$*
	say "verbose $verbose, file ${file:-none}, rest ${rest:-none}"
}
parse -vv -f name a b
parse a -v
parse -fname --
parse -x 2>/dev/null || say "status $?"

title "here-documents"
name=world
cat <<END
hello $name, $((6 * 7)), $(echo command), \$kept, \\
END
cat <<'END'
hello $name, $((6 * 7)), `no command`
END
cat <<-END | tr a-z A-Z
	tabs are removed
	  spaces are kept
END
cat <<ONE; cat <<TWO
first
ONE
second
TWO
lines=0
while read -r line; do lines=$((lines + 1)); done <<END
$(seq 1 500)
END
say "$lines lines"

title "a table"
cat >table <<END
alice:30:red
bob:25:blue
carol:41:red
dave:25:green
END
while IFS=: read -r name age colour; do
	printf '%-6s %3d %s\n' "$name" "$age" "$colour"
done <table
sort -t : -k 2n -k 1r table | cut -d : -f 1 | paste -s -d ' ' -
mawk -F : '{ n[$3]++; s[$3] += $2 } END { for (c in n) print c, n[c], s[c] / n[c] }' table | sort
sed -n -e '/red$/s/:.*//p' table
grep -c : table
join -t : -1 1 -2 1 table - <<END | head -n 2
alice:x
bob:y
dave:z
END

title "words"
cat >text <<'END'
The quick brown fox jumps over the lazy dog. The dog sleeps; the fox
does not. A fox is a fox, and a dog is a dog.
END
tr -cs 'A-Za-z' '\n' <text | tr A-Z a-z | sort | uniq -c | sort -k 1nr -k 2 | head -n 5 | sed 's/^ *//'
wc -w <text | tr -d ' '
fold -s -w 30 text | sed 's/ *$//' | nl -ba | sed 's/^ *//; s/\t/ /'
rev text 2>/dev/null | head -c 0 || :
sed -e 's/\([Tt]\)he/\1HE/g' -e '2!d' text
sed -e ':a' -e 'N' -e '$!ba' -e 's/\n/ | /g' text | cut -c 1-80

title "functions and their status"
even() { [ $(($1 % 2)) -eq 0 ]; }
for n in 1 2 3 4; do
	if even "$n"; then say "$n even"; else say "$n odd"; fi
done
gcd() {
	if [ "$2" -eq 0 ]; then say "$1"; else gcd "$2" $(($1 % $2)); fi
}
gcd 1071 462
primes() {
	n=2
	while [ "$n" -le "$1" ]; do
		d=2 prime=yes
		while [ $((d * d)) -le "$n" ]; do
			if [ $((n % d)) -eq 0 ]; then prime=no; break; fi
			d=$((d + 1))
		done
		[ "$prime" = no ] || printf '%d ' "$n"
		n=$((n + 1))
	done
	echo
}
primes 60
not_errexit() { false; say "goes on in a condition"; }
if not_errexit; then say "true"; fi
! false
false || say "or: $?"
(set +e; false; say "in a subshell: $?")
(exit 33) || say "subshell: $?"
sh -c 'exit 300' || say "exit 300: $?"
sh -ec 'false; echo never' || say "errexit: $?"
sh -uc 'echo $none' 2>/dev/null || say "nounset: failed"

title "loops"
i=0
while :; do
	i=$((i + 1))
	case $i in
		2 | 4) continue ;;
		[6-9]) break ;;
		*) printf '%d ' "$i" ;;
	esac
done
echo
for a in 1 2 3; do
	for b in 1 2 3; do
		[ "$a" != "$b" ] || continue 2
		printf '%s%s ' "$a" "$b"
	done
done
echo
until [ "$i" -eq 0 ]; do i=$((i - 1)); done
say "$i"

title "signals"
trap 'say "got USR1"' USR1
kill -USR1 $$
trap '' USR1
kill -USR1 $$
trap - USR1
sh -c 'trap "echo ends; exit 4" TERM; kill -TERM $$; echo never' || say "status $?"
(sh -c 'kill -KILL $$') 2>/dev/null || say "killed: $?"
(trap 'echo subshell ends' EXIT; echo in it)
mkfifo up
sh -c 'echo up >up; exec sleep 5' &
read -r state <up
kill $!
wait $! || say "waited: $?"
(exit 8) &
wait $! || say "waited: $?"

title "pipes and files"
mkdir -p tree/a/b tree/c
for f in tree/x tree/a/y tree/a/b/z 'tree/c/with space'; do echo "$f" >"$f"; done
find tree -type f | sort
find tree -type f -exec cat {} + | wc -l | tr -d ' '
find tree -name '*space' -print0 | xargs -0 -n 1 basename
(cd tree && tar -cf - .) | (mkdir copy && cd copy && tar -xf - && find . -type f | wc -l | tr -d ' ')
ln -s x tree/link && cat tree/link && readlink tree/link
chmod 640 tree/x && ls -l tree/x | cut -c 1-10
umask 027 && : >masked && ls -l masked | cut -c 1-10
mv tree/x tree/moved && [ ! -e tree/x ] && [ -f tree/moved ] && say moved
[ -h tree/link ] && [ ! -e tree/link ] && say "dangling"
cp -p tree/moved kept && cmp kept tree/moved && say "same"
{ echo a; echo b >&2; } 2>errors >output && cat errors output
exec 5>five && echo five >&5 && exec 5>&- && cat five
seq 1 2000 | sort -r | sort -n | tail -n 1
eval 'say "evaluated $((1 + 1))"'
command -v cd >/dev/null && type say >/dev/null && say "known"
x=1 sh -c 'echo "x is $x"'
env -i PATH="$PATH" sh -c 'echo "${HOME-no home}"'
say "$(printf 'a\tb\\n%s' "$(printf 'nested %s' "$(say deep)")")"
exit 5
