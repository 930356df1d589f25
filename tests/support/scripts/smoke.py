"""A smoke list of Python: each function uses one module against the kernel, and prints one line."""

import asyncio
import fcntl
import hashlib
import json
import mmap
import multiprocessing
import os
import pathlib
import queue
import resource
import select
import selectors
import shutil
import signal
import socket
import sqlite3
import stat
import struct
import subprocess
import sys
import tempfile
import threading
import time
import zlib

CASES = []


def case(function):
    """Adds a case to the list."""
    CASES.append(function)
    return function


@case
def os_files():
    os.makedirs("a/b")
    with open("a/b/f", "w") as file:
        file.write("text")
    os.rename("a/b/f", "a/g")
    os.symlink("g", "a/link")
    os.link("a/g", "a/hard")
    os.chmod("a/g", 0o640)
    os.utime("a/g", (5, 6))
    found = os.stat("a/link")
    names = sorted(os.listdir("a"))
    walked = [len(files) for _, _, files in sorted(os.walk("a"))]
    mode = stat.filemode(found.st_mode)
    shutil.rmtree("a")
    return names, walked, mode, found.st_nlink, found.st_mtime, os.path.exists("a")


@case
def os_descriptors():
    r, w = os.pipe()
    d = os.dup2(w, 20)
    os.write(d, b"abc")
    first = os.read(r, 2), os.get_inheritable(r)
    os.set_blocking(r, False)
    os.read(r, 9)
    try:
        os.read(r, 1)
    except BlockingIOError as error:
        return first, error.errno
    return first


@case
def os_processes():
    child = os.fork()
    if child == 0:
        os.setsid()
        os._exit(7 if os.getpgrp() == os.getpid() else 1)
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    spawned = os.posix_spawn("/bin/sh", ["sh", "-c", "exit 3"], os.environ)
    return status, os.waitstatus_to_exitcode(os.waitpid(spawned, 0)[1]), os.system("exit 4") >> 8


@case
def subprocess_pipes():
    done = subprocess.run(["tr", "a-z", "A-Z"], input="hello", text=True, capture_output=True)
    with subprocess.Popen(
        ["sh", "-c", "echo out; echo err >&2; exit 2"], stdout=-1, stderr=-1
    ) as p:
        both = p.communicate()
    try:
        subprocess.run(["sleep", "9"], timeout=0.1, check=False)
        late = False
    except subprocess.TimeoutExpired:
        late = True
    killed = subprocess.run(["sh", "-c", "kill -9 $$"], check=False).returncode
    big = subprocess.run(["head", "-c", "200000", "/dev/zero"], capture_output=True, check=True)
    return done.stdout, both, p.returncode, late, killed, len(big.stdout)


@case
def threads():
    lock, total, work = threading.Lock(), [0], queue.Queue()
    barrier, event = threading.Barrier(4), threading.Event()

    def run():
        barrier.wait()
        event.wait()
        for _ in range(500):
            with lock:
                total[0] += 1
        work.put(1)

    started = [threading.Thread(target=run) for _ in range(4)]
    for thread in started:
        thread.start()
    event.set()
    for thread in started:
        thread.join()
    late = threading.Timer(0.01, work.put, [5])
    late.start()
    late.join()
    return total[0], work.qsize(), threading.active_count()


def square(number):
    return number * number, os.getpid() != os.getppid()


@case
def processes():
    context = multiprocessing.get_context("fork")
    with context.Pool(3) as pool:
        squares = pool.map(square, range(6))
    q, value = context.Queue(), context.Value("i", 0)

    def add(number):
        with value.get_lock():
            value.value += number
        q.put(number)

    started = [context.Process(target=add, args=(n,)) for n in range(4)]
    for process in started:
        process.start()
    got = sorted(q.get() for _ in started)
    for process in started:
        process.join()
    here, there = context.Pipe()
    there.send({"a": 1})
    return squares, got, value.value, [p.exitcode for p in started], here.recv()


@case
def signals():
    seen = []
    signal.signal(signal.SIGUSR1, lambda number, _: seen.append(number))
    os.kill(os.getpid(), signal.SIGUSR1)
    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR2])
    os.kill(os.getpid(), signal.SIGUSR2)
    pending = signal.sigpending()
    waited = signal.sigtimedwait([signal.SIGUSR2], 1).si_signo
    signal.signal(signal.SIGALRM, lambda number, _: seen.append(number))
    signal.setitimer(signal.ITIMER_REAL, 0.01)
    signal.pause()
    return [int(n) for n in seen], pending, waited


@case
def unix_sockets():
    server = socket.socket(socket.AF_UNIX)
    server.bind("socket")
    server.listen()
    client = socket.socket(socket.AF_UNIX)
    client.connect("socket")
    peer, _ = server.accept()
    client.sendall(b"x" * 50000)
    got = b""
    while len(got) < 50000:
        got += peer.recv(9999)
    with open("passed", "w+") as file:
        socket.send_fds(peer, [b"fd"], [file.fileno()])
        data, fds, _, _ = socket.recv_fds(client, 10, 1)
        os.write(fds[0], b"through")
        file.seek(0)
        text = file.read()
    a, b = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    a.send(b"one"), a.send(b"two")
    user = struct.unpack("3i", peer.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12))
    client.close()
    return len(got), data, text, b.recv(9), b.recv(9), user[0] == os.getpid(), peer.recv(1)


@case
def temporary_files():
    with tempfile.TemporaryDirectory() as folder, tempfile.NamedTemporaryFile(dir=folder) as file:
        file.write(b"12345")
        file.flush()
        size = os.stat(file.name).st_size
    with tempfile.TemporaryFile() as file:
        file.write(b"x")
        file.seek(0)
        return size, os.path.exists(folder), file.read()


@case
def mappings():
    with open("mapped", "w+b") as file:
        file.truncate(10000)
        with mmap.mmap(file.fileno(), 0) as shared:
            shared[9999] = 65
            shared.flush()
            shared.resize(20000)
            length = len(shared)
        private = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_COPY)
        private[0] = 66
        file.seek(0)
        return length, file.read()[0], private[:1], os.stat("mapped").st_size, file.read(1)


@case
def polling():
    r, w = os.pipe()
    before = select.select([r], [w], [], 0)
    os.write(w, b"x")
    poll, epoll = select.poll(), select.epoll()
    poll.register(r, select.POLLIN)
    epoll.register(r, select.EPOLLIN | select.EPOLLET)
    first, second = epoll.poll(1), epoll.poll(0)
    with selectors.DefaultSelector() as selector:
        selector.register(w, selectors.EVENT_WRITE, "data")
        keys = [key.data for key, _ in selector.select(1)]
    os.close(w)
    os.read(r, 1)
    events = [event for _, event in poll.poll(1)]
    return [len(x) for x in before], len(first), second, keys, events


@case
def asynchronous():
    async def serve(reader, writer):
        writer.write((await reader.readline()).upper())
        await writer.drain()
        writer.close()

    async def talk():
        server = await asyncio.start_unix_server(serve, "async")
        reader, writer = await asyncio.open_unix_connection("async")
        writer.write(b"line\n")
        line = await reader.read()
        writer.close()
        server.close()
        shell = await asyncio.create_subprocess_shell("echo sub; exit 3", stdout=-1)
        out, _ = await shell.communicate()
        times = await asyncio.gather(*(asyncio.sleep(n / 500, n) for n in (3, 1, 2)))
        in_thread = await asyncio.to_thread(sum, [1, 2])
        try:
            await asyncio.wait_for(asyncio.sleep(9), 0.02)
        except TimeoutError:
            return line, out, shell.returncode, times, in_thread, "late"

    return asyncio.run(talk())


@case
def locks_and_limits():
    with open("lock", "w") as file:
        fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        code = "import fcntl; fcntl.lockf(open('lock', 'w'), fcntl.LOCK_EX | fcntl.LOCK_NB)"
        other = subprocess.run([sys.executable, "-c", code], stderr=-3, check=False)
    resource.setrlimit(resource.RLIMIT_NOFILE, (64, 256))
    try:
        kept = [os.open("/dev/null", 0) for _ in range(100)]
    except OSError as error:
        kept = error.errno
    os.closerange(3, 64)
    return other.returncode, kept, resource.getrlimit(resource.RLIMIT_NOFILE)


@case
def data():
    text = json.dumps({"a": [1, 2.5, None], "b": "é"}, sort_keys=True)
    packed = zlib.compress(text.encode() * 100)
    digest = hashlib.sha256(packed).hexdigest()[:16], hashlib.blake2b(b"x").hexdigest()[:8]
    return text, len(zlib.decompress(packed)), digest, json.loads(text)["a"]


@case
def database():
    first = sqlite3.connect("data.db", isolation_level=None)
    first.execute("pragma journal_mode = wal")
    first.execute("create table t(a)")
    first.execute("begin immediate")
    first.executemany("insert into t values (?)", [(n,) for n in range(1000)])
    second = sqlite3.connect("data.db", timeout=0.05)
    try:
        second.execute("insert into t values (0)")
        state = "not locked"
    except sqlite3.OperationalError as error:
        state = str(error)
    first.execute("commit")
    total = second.execute("select sum(a) from t").fetchone()
    return state, total, second.execute("pragma integrity_check").fetchone()


@case
def clocks_and_paths():
    begin, mono = time.time(), time.monotonic_ns()
    time.sleep(0.005)
    path = pathlib.Path("folder")
    path.mkdir()
    (path / "x.txt").write_text("x")
    names = [p.name for p in path.glob("*.txt")]
    return time.time() > begin, time.monotonic_ns() - mono >= 5_000_000, names, os.cpu_count()


if __name__ == "__main__":
    os.chdir(tempfile.mkdtemp())
    for function in CASES:
        print(function.__name__, function(), flush=True)
