# Programs of Python and OpenSSL, each command line with its output and status between two lines.
W=/tmp/python
mkdir -p $W
cd $W
export LC_ALL=C TZ=UTC HOME=/root
run() {
	printf "== %s\n" "$*"
	eval "$*"
	echo "-- $?"
}
run 'python3 -c "print(sum(range(100)), 2 ** 200, f\"{3.14159:.2f}\")"'
run 'python3 -c "import sys, os; print(sys.version_info[:2] > (3, 8), os.getcwd(), sys.argv)" a b'
run 'python3 -c "import json; print(json.dumps({\"a\": [1, 2.5, None, True]}, sort_keys=True))"'
run 'python3 -c "import math, random; random.seed(7); print(math.factorial(30), random.random(), random.sample(range(9), 3))"'
run 'python3 -c "import threading, queue
q = queue.Queue()
ts = [threading.Thread(target=lambda n=n: q.put(n * n)) for n in range(8)]
[t.start() for t in ts]; [t.join() for t in ts]
print(sorted(q.get() for _ in ts))" | cat'
run 'python3 -c "import subprocess; print(subprocess.run([\"echo\", \"child\"], capture_output=True, text=True).stdout.strip(), subprocess.call([\"false\"]))"'
run 'python3 -c "import os; r, w = os.pipe(); p = os.fork() or os._exit(os.write(w, b\"abc\")); print(os.read(r, 10), os.waitstatus_to_exitcode(os.waitpid(p, 0)[1]))"'
run 'python3 -c "import mmap, os; f = open(\"m\", \"w+b\"); f.write(b\"x\" * 5000); f.flush(); m = mmap.mmap(f.fileno(), 0); m[4999:5000] = b\"y\"; print(len(m), m.find(b\"y\")); m.flush(); m.close(); f.seek(4999); print(f.read())"'
run 'python3 -c "import mmap, os; m = mmap.mmap(-1, 4096); p = os.fork()
if p == 0: m[:3] = b\"hey\"; os._exit(0)
os.waitpid(p, 0); print(m[:3])"'
run 'python3 -c "import tempfile, os; d = tempfile.mkdtemp(); open(d + \"/a\", \"w\").write(\"text\"); print(os.listdir(d), os.stat(d + \"/a\").st_size); os.remove(d + \"/a\"); os.rmdir(d)"'
run 'python3 -c "import re, hashlib; print(re.sub(r\"(\\w+) (\\w+)\", r\"\\2 \\1\", \"one two\"), hashlib.sha256(b\"x\").hexdigest())"'
run 'python3 -c "import sqlite3; c = sqlite3.connect(\":memory:\"); c.execute(\"create table t(a)\"); c.executemany(\"insert into t values (?)\", [(i,) for i in range(100)]); print(c.execute(\"select sum(a) from t\").fetchall())"'
run 'python3 -c "import time; t = time.monotonic(); time.sleep(0.01); print(time.monotonic() - t >= 0.01)"'
run 'python3 -c "import zlib, struct; d = zlib.compress(b\"a\" * 10000); print(len(d), zlib.decompress(d) == b\"a\" * 10000, struct.pack(\"<IH\", 1, 2))"'
run 'python3 -c "import decimal, fractions, datetime; print(decimal.Decimal(1) / 7, fractions.Fraction(3, 9), datetime.date(2024, 2, 28) + datetime.timedelta(2))"'
run 'python3 -c "import asyncio
async def f(n): await asyncio.sleep(n / 1000); return n
async def g(): return await asyncio.gather(*map(f, range(5)))
print(asyncio.run(g()))"'
run 'python3 -c "raise SystemExit(3)"'
run 'python3 -c "1 / 0" 2>&1 | tail -n 1'
run 'printf "import sys\nfor line in sys.stdin:\n    print(line.strip()[::-1])\n" > rev.py; printf "abc\ndef\n" | python3 rev.py'
run 'openssl dgst -sha256 rev.py'
run 'printf abc | openssl dgst -md5'
run 'printf abc | openssl enc -aes-128-cbc -K 000102030405060708090a0b0c0d0e0f -iv 000102030405060708090a0b0c0d0e0f | openssl base64'
run 'openssl prime 1000000007'
run 'openssl genrsa 1024 2>/dev/null | openssl rsa -noout -check'
echo "python end"
