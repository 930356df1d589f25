"""The example of an interactive shell as a process, fed by a script."""

import pytest

TYPED = """\
timeout 240
expect tenon$
send busybox echo one two | busybox cat
expect one two
expect tenon$
send exit 3
expect has ended with 3
"""


@pytest.mark.timeout(300)
def test_a_shell_takes_commands_and_ends_the_run(tenon, tmp_path):
    script = tmp_path / "typed"
    script.write_text(TYPED)
    options = ["--headless", "--deterministic", "--input", f"shell={script}"]
    outcome = tenon("run", "shell", *options)
    assert "one two" in outcome.said("shell")
    assert outcome.said("shell")[-1] == "busybox has ended with 3"
    vm = outcome.vm("shell")
    assert (vm["state"], vm["exit_status"]) == ("off", 3)
    assert outcome.stderr.splitlines()[-1].endswith("shell ended with exit status 3")
    task = outcome.task
    assert task["released"] == task["completed"] > 0
    assert task["late"] == task["duplicates"] == 0
