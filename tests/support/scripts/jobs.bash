#!/bin/bash
# Jobs of bash: signals and traps, coprocesses, background jobs, pipes with names, descriptors.
cd "$(mktemp -d)" || exit 1

section() { printf '# %s\n' "$*"; }

section "exit traps and their order"
(
	trap 'echo "exit with $?"' EXIT
	trap 'echo "error at $LINENO"' ERR
	false
	echo "after the error"
	exit 9
)
echo "status $?"

section "signals to the shell itself"
count=0
trap '((count++)); echo "usr1 number $count"' USR1
trap 'echo usr2' USR2
kill -USR1 $$
kill -USR1 $BASHPID
kill -USR2 $$
trap '' HUP
kill -HUP $$
echo "still there after HUP"
trap - HUP USR2
trap -p USR1 USR2
echo "count $count"

section "a child that a signal ends"
for signal in TERM INT KILL SEGV; do
	bash -c "kill -$signal \$\$; echo not reached" 2>/dev/null
	echo "$signal: $? $(kill -l $?)"
done 2>/dev/null

section "traps in children"
bash -c 'trap "echo child cleans; exit 3" TERM; kill -TERM $$; echo no'
echo "status $?"
(trap 'echo sub got USR1' USR1; kill -USR1 $BASHPID; echo sub goes on)

section "a signal to a job"
mkfifo ready
(
	trap 'echo "job got TERM"; exit 12' TERM
	echo up >ready
	while :; do sleep 0.01; done
) &
job=$!
read -r state <ready
echo "job is $state"
kill -TERM "$job"
wait "$job"
echo "job ended with $?"
kill -0 "$job" 2>/dev/null || echo "job is gone"

section "wait for several jobs"
for n in 3 1 2; do
	(exit "$n") &
	pids[n]=$!
done
for n in 1 2 3; do
	wait "${pids[n]}"
	echo "job $n ended with $?"
done
(exit 5) &
wait -n
echo "any: $?"
wait
echo "all: $?"
wait 1 2>/dev/null
echo "no child: $?"

section "a coprocess"
coproc UPPER { while read -r line; do echo "${line^^} (${#line})"; done; }
upper=$UPPER_PID
for word in alpha beta gamma; do
	echo "$word" >&"${UPPER[1]}"
	read -r answer <&"${UPPER[0]}"
	echo "$answer"
done
eval "exec ${UPPER[1]}>&-"
wait "$upper"
echo "coprocess ended with $?"

coproc bc -q
echo '2^70; scale=5; 22/7' >&"${COPROC[1]}"
read -r first <&"${COPROC[0]}"
read -r second <&"${COPROC[0]}"
echo "$first $second"
calculator=$COPROC_PID
echo quit >&"${COPROC[1]}"
wait "$calculator"
echo "bc ended with $?"

section "a pipe with a name"
mkfifo pipe
seq 1 5 >pipe &
sum=0
while read -r n; do ((sum += n)); done <pipe
wait
echo "sum $sum"
exec 7<>pipe
echo "to myself" >&7
read -r back <&7
echo "$back"
exec 7>&-
test -p pipe && echo "is a pipe"

section "process substitution"
diff <(printf '%s\n' a b c) <(printf '%s\n' a x c)
echo "diff $?"
paste <(seq 1 3) <(seq 4 6) <(seq 7 9) | tr '\t' ' '
seq 1 9 | tee >(tail -n 1 >last; echo done >teed) >(head -n 1 >first) | wc -l
for ((n = 0; n < 500; n++)); do [[ -s teed && -s first ]] && break; sleep 0.01; done
echo "first $(<first) last $(<last)"

section "descriptors"
exec 3>out 4>&1
echo "to three" >&3
echo "to four" >&4
exec 3>&- 4>&-
cat out
{ echo out; echo err >&2; } 2>&1 | sort
{ echo out; echo err >&2; } 2>/dev/null
{ echo swapped >&2; } 3>&1 1>&2 2>&3 | sed 's/^/piped: /'
exec {log}>log
echo "descriptor above nine: $((log >= 10))"
echo line >&"$log"
exec {log}>&-
cat log
set -o noclobber
echo no 2>/dev/null >log || echo "log is kept"
echo yes >|log
set +o noclobber
cat log >>log2
cat log2
echo closed >&9 2>/dev/null || echo "no descriptor 9"

section "time limits"
read -r -t 0.05 late < <(sleep 1) || echo "read ended with $?"
timeout 0.1 sleep 5
echo "timeout $?"
timeout -s KILL 0.1 sleep 5
echo "timeout $?"
timeout 5 bash -c 'exit 6'
echo "timeout $?"

section "a trap for each command and return"
traced() { local x=1; x=2; return 4; }
set -o functrace
trap 'echo "return from ${FUNCNAME[0]:-main}"' RETURN
traced
echo "status $?"
trap - RETURN
set +o functrace
steps=0
trap '((steps++))' DEBUG
:
:
trap - DEBUG
echo "steps $steps"

section "job control"
set -m
sleep 5 &
kill -STOP $!
until jobs >state && grep -q Stopped state; do sleep 0.01; done
grep -o "Stopped *sleep 5" state
kill -CONT $!
kill $!
while kill -0 $! 2>/dev/null; do sleep 0.01; done
wait $!
echo "job $?"
(echo "own group: $(($(ps -o pgid= -p $BASHPID 2>/dev/null || cut -d ' ' -f 5 /proc/$BASHPID/stat) == BASHPID))") &
wait
set +m

section "big pipes"
head -c 300000 /dev/zero | tr '\0' x | tee copy | wc -c
wc -c <copy
yes | head -n 100000 | sort | uniq -c | tr -s ' '
seq 1 50000 | while read -r n; do ((n == 3)) && { echo "$n"; break; }; done
echo "status ${PIPESTATUS[*]}"
for n in {1..40}; do echo "$n"; done | (sed -n '10p;q' ; cat >/dev/null)
a=$(for i in {1..60}; do (echo "$i") & done | sort -n | tail -n 1)
echo "of sixty children: $a"
exit 0
