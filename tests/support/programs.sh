# Programs of Debian at their work, each command line with its output and status between two lines.
W=/tmp/programs
S=/etc/scripts
mkdir -p $W $W/home /dev/shm
cd $W
PATH=/usr/bin:/bin:/usr/sbin:/sbin
export PATH LC_ALL=C TZ=UTC HOME=$W/home TERM=dumb
[ -e /dev/fd ] || ln -s /proc/self/fd /dev/fd
run() {
	printf "== %s\n" "$*"
	eval "$*"
	echo "-- $?"
}
# The shells' scripts of two hundred lines.
run 'bash $S/stock.bash 2>/dev/null'
run 'bash $S/jobs.bash 2>/dev/null'
run 'bash $S/texts.sh 2>/dev/null'
run 'dash $S/texts.sh 2>/dev/null'
# A data base, with a journal on the file system and locks.
transactions() { mawk -v n=$1 'BEGIN { for (i = 1; i <= n; i++) print "insert into t values(" i ", hex(" i "));" }'; }
run 'sqlite3 data.db "create table t(a integer primary key, b text); create index i on t(b);"'
run 'transactions ${TRANSACTIONS:-10000} | sqlite3 data.db && sqlite3 data.db "select count(*), sum(a), max(b) from t; pragma integrity_check;"'
run 'sqlite3 data.db "pragma journal_mode = wal; update t set a = a + 100000; pragma wal_checkpoint(truncate); select min(a) from t; pragma integrity_check;"'
run 'sqlite3 data.db "begin; delete from t; rollback; select count(*) > 0 from t;"; sqlite3 data.db .dump | tail -n 1'
run 'sqlite3 data.db "begin exclusive; select 1;" ".shell sqlite3 data.db \"insert into t values(1, 1)\"" 2>&1 | tail -n 1'
# Python's modules.
run 'python3 $S/smoke.py'
# Compilers, and make.
cp $S/Makefile $S/*.[ch] .
run 'make && ./program first'
run 'touch -d @9 sum.o; make | sort; ./program second; make clean && make -s -j 3 && ./program third'
run 'make library.a && tcc -o fourth main.c library.a && ./fourth'
run 'tcc -shared -o libsum.so sum.c mean.c && tcc -o shared main.c -L. -lsum && LD_LIBRARY_PATH=. ./shared dynamic'
run 'printf "int main(void) { return x; }\n" | tcc - 2>&1'
# A repository.
run 'git init -q -b main repo && cd repo && git config user.name A && git config user.email a@b; cd ..'
run 'cd repo; for n in 1 2 3; do seq 1 $n >file && git add file && GIT_AUTHOR_DATE="@$n +0000" GIT_COMMITTER_DATE="@$n +0000" git commit -q -m "number $n"; done; git log --format="%h %ad %s" --date=iso | cat; cd ..'
run 'cd repo; git checkout -q -b side HEAD~1 && echo side >other && git add . && GIT_AUTHOR_DATE="@9 +0000" GIT_COMMITTER_DATE="@9 +0000" git commit -q -m side && GIT_COMMITTER_DATE="@10 +0000" git rebase -q main && git log --oneline --graph | cat; cd ..'
run 'cd repo; git diff HEAD~2 --stat | cat; git status --short; echo x >>file; git stash -q && git stash pop -q; git diff | tail -n 1; git checkout file; cd ..'
run 'git clone -q repo copy && cd copy && git fsck 2>/dev/null | grep -v dangling; git gc -q && git count-objects -v | grep packs && git log --oneline | wc -l; cd ..'
run 'cd repo; git archive HEAD | tar -tf -; git blame -s file | tail -n 1; cd ..'
# Editors and pagers without a terminal, and perl.
run 'printf "a\none\ntwo\nthree\n.\n2s/w/W/\n1,3p\n/th/d\nw ed.txt\nq\n" | ed; cat ed.txt'
run 'printf "%%s/o/0/g\n1copy\$\nwq\n" | vim.tiny -e -s ed.txt; cat ed.txt'
run 'less ed.txt | cat; less < ed.txt | wc -l'
run 'perl -e "my %h = map { \$_ => length } qw(a bb ccc); print join(q{,}, map { qq{\$_=\$h{\$_}} } sort keys %h), qq{\n}"'
run 'perl -e "\$SIG{ALRM} = sub { die qq{alarm\n} }; alarm 1; eval { sleep 9 while 1 }; print \$@; exit 3"'
run 'perl -e "pipe(R, W); if (!(my \$p = fork)) { close R; print W qq{child\n}; exit 2 } close W; print scalar <R>; wait; print \$? >> 8, qq{\n}"'
run 'perl -ne "s/(\w+)/\u\$1/; print if /0|T/" ed.txt; perl -pi -e "s/0/o/" ed.txt; cat ed.txt'
run 'perl -e "open(my \$f, q{-|}, q{ls}, q{/etc/scripts}); print sort <\$f>; print -s q{ed.txt}, qq{\n}; print qq{@{[sort { \$a <=> \$b } 10, 9, 8]}\n}"'
# Loads, each of which checks its results.
run 'openssl speed -seconds 1 -bytes 1024 sha256 2>/dev/null | sed -n "s/[0-9.]*k\$/Nk/p; /^type/p" | tr -s " "'
stress() { stress-ng "$@" --verify --metrics-brief 2>&1 | mawk '/metrc.*(cpu|vm|pipe|fork|futex|switch|mutex)/ { print $4, ($5 > 0) } /fail|successful/ { print $4, $5, $6 }' | sort -u; }
run 'stress --cpu 1 --cpu-ops 40'
run 'stress --cpu 1 --cpu-method int64 --cpu-ops 5'
run 'stress --vm 2 --vm-bytes 4m --vm-ops 400'
run 'stress --vm 1 --vm-bytes 2m --vm-method walk-0d --vm-ops 50'
run 'stress --pipe 2 --pipe-ops 4000'
run 'stress --fork 2 --fork-ops 60'
run 'stress --futex 2 --futex-ops 1000'
run 'stress --switch 1 --switch-ops 1000'
run 'stress --mutex 1 --mutex-ops 500'
echo "programs end"
