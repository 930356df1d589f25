"""Files that processes create, by busybox and a program of C, beside a loop at 1 kHz."""

import pytest
from conftest import ROOT, until
from process.test_processes import compiled, system, unharmed

SCRIPT = """\
#!/bin/busybox sh
for name in mkdir cat cp mv ln rm dd wc truncate cmp tail chmod stat touch tar find sort gzip \
	gunzip head mktemp ls rmdir; do
	busybox ln -s busybox /bin/$name
done
cd /tmp
mkdir -p deep/er/est && cd deep/er/est && pwd && cd /tmp
echo one > a; echo two >> a; cat a
cp a b && mv b c && ln -s c link && ln c hard && cat link
rm c && cat hard; cat link 2>/dev/null || echo dangling
dd if=/dev/zero of=big bs=1000 count=100 2>/dev/null; wc -c < big
truncate -s 5000 big; wc -c < big; cmp big /dev/zero 2>/dev/null; tail -c 3 hard
chmod 600 a; stat -c "%a %s %F" a; touch -d @86400 a; stat -c %Y a
tar -cf all.tar deep a hard && mkdir out && tar -xf all.tar -C out && find out | sort
gzip -k all.tar && gunzip -c all.tar.gz | cmp - all.tar && echo same
sort -r a | head -n 1
mktemp -d /tmp/XXXXXX > /dev/null && ls | wc -l
echo no 2>/dev/null > /dev/full || echo full
rmdir deep 2>/dev/null || echo occupied
rm -r deep out all.tar all.tar.gz /etc/words && ls /etc
echo "# changed" >> /init && tail -n 1 /init
umask 077; touch private; stat -c %a private
"""

SAID = """\
/tmp/deep/er/est
one
two
one
two
one
two
dangling
100000
5000
wo
600 8 regular file
86400
out
out/a
out/deep
out/deep/er
out/deep/er/est
out/hard
same
two
9
full
occupied
# changed
600
busybox has ended
"""


@pytest.mark.timeout(300)
def test_busybox_changes_files(tenon, tmp_path):
    folder = system(tmp_path / "file-tools", "file-tools")
    text = (folder / "system.toml").read_text()
    packages = 'packages = ["busybox-static"]\nfiles ='
    (folder / "system.toml").write_text(text.replace("files =", packages))
    (folder / "files/etc").mkdir()
    (folder / "files/etc/words").write_text("kernel\n")
    init = folder / "files/init"
    init.write_text(SCRIPT)
    init.chmod(0o755)
    last = until(tmp_path, programs="busybox has ended")
    outcome = tenon("run", folder, "--headless", "--deterministic", *last)
    unharmed(outcome)
    assert outcome.said("programs") == SAID.splitlines()


@pytest.mark.timeout(300)
def test_calls_for_files_are_those_of_linux(tenon, tmp_path):
    folder = system(tmp_path / "file-calls", "file-calls")
    text = (folder / "system.toml").read_text()
    # The less memory, the sooner it is full.
    (folder / "system.toml").write_text(text.replace('memory = "16M"', 'memory = "6M"'))
    compiled(ROOT / "tests/support/file_calls.c", folder / "files/init")
    last = until(tmp_path, programs="init has ended")
    outcome = tenon("run", folder, "--headless", "--deterministic", *last)
    unharmed(outcome)
    assert outcome.said("programs") == ["lost: 0", "init has ended"]
