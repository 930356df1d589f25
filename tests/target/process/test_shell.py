"""The example of an interactive shell as a process, fed by a script."""

import pytest
from process.test_processes import LATEST

TYPED = r"""timeout 240
expect tenon$
send busybox echo one two | busybox cat
expect one two
expect tenon$
send busybox echo one two three four five six seven eight nine ten eleven twelve thirteen
expect one two
expect tenon$
send busybox sh -c 'echo be""gun; busybox sleep 1000'
expect begun
send \x03\c
expect tenon$
send echo sta""tus $?
expect status 130
expect tenon$
send busybox sh -c 'echo be""gun; busybox sleep 2000'
expect begun
send \x1a\c
expect Stopped
expect tenon$
send echo lea""der $?
expect leader 148
send bg
expect tenon$
send jobs
expect Running
expect tenon$
send fg
expect sleep 2000
send \x1a\c
expect Stopped
send kill -9 %1; busybox sleep 1; jobs; echo en""ded
expect Killed
expect ended
expect tenon$
send busybox sh -c 'echo be""gun; busybox cat > /typed'
expect begun
send lost\x15line\x7f\x7fst word\x17\c
send \n\x04\c
expect tenon$
send busybox od -c /typed
expect l   i   s   t
send busybox sleep 1 | busybox cat & busybox stty -a | busybox head -n 1
expect rows 24
expect tenon$
send exit 3
expect has ended with 3
"""


@pytest.mark.timeout(300)
def test_a_shell_takes_commands_and_ends_the_run(tenon, tmp_path):
    script = tmp_path / "typed"
    script.write_text(TYPED)
    # The shell ends the run; the last line that the script expects comes before that.
    options = ["--headless", "--deterministic", "--seconds", "3600", "--input", f"shell={script}"]
    outcome = tenon("run", "shell", *options)
    assert "one two" in outcome.said("shell")
    assert outcome.said("shell")[-1] == "busybox has ended with 3"
    vm = outcome.vm("shell")
    assert (vm["state"], vm["exit_status"]) == ("off", 3)
    assert outcome.stderr.splitlines()[-1].endswith("shell ended with exit status 3")
    task = outcome.task
    assert task["released"] == task["completed"] > 0
    assert task["late"] == task["duplicates"] == 0
    # Also while a serial port that Mortise emulates echoes and prints.
    assert task["latency_ns"]["max"] <= LATEST
