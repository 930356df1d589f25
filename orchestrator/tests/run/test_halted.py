"""Guests that do not continue: at a kernel panic, or at a prompt where nothing types."""

import pytest

from tenonos.run.console import Line, Transcript
from tenonos.run.halted import Halted
from tenonos.run.script import parse

PANIC = "linux printed `Kernel panic - not syncing: No working init found`, and no more; its first "
PROMPT = "linux printed `=>`, and no more; that is the prompt of U-Boot, and nothing types there: "


def test_a_panic_before_linux_is_ready_ends_the_run(scenario):
    result = scenario("silent panics", seconds=0.1, halt_limit=0.1).run()
    assert result.failure.startswith(PANIC)


def test_a_prompt_before_linux_is_ready_ends_the_run(scenario):
    result = scenario("silent prompt", seconds=0.1, halt_limit=0.1).run()
    assert result.failure.startswith(PROMPT)


def test_a_limit_comes_first_where_a_linux_reboots_or_a_user_can_type(scenario):
    limits = {"seconds": 0.1, "halt_limit": 0.1, "boot_limit": 0.5}
    late = "linux did not say `tenon-ready` within 0.5 s"
    assert scenario("silent panics reboots", **limits).run().failure.startswith(late)
    assert scenario("silent prompt", typed=True, **limits).run().failure.startswith(late)
    session = scenario("silent panics", typed=True, halt_limit=0.1)
    assert session.run().failure.startswith(PANIC), "what is typed does not help"


@pytest.mark.parametrize(("words", "says"), [("panics", PANIC), ("prompt", PROMPT)])
def test_a_line_that_a_script_expects_does_not_come_any_more(scenario, tmp_path, words, says):
    file = tmp_path / "script"
    file.write_text("expect tenon-ready\nexpect never\n")
    session = scenario(words, scripts={"linux": parse(file)}, halt_limit=0.1)
    assert session.run().failure.startswith(says)


def test_a_panic_in_the_window_is_a_failure_and_a_prompt_is_none(scenario):
    result = scenario("panics", seconds=0.1).run()
    assert result.failure.startswith(PANIC) and result.periodic[0].completed == 100
    assert scenario("prompt", seconds=0.1).run().failure is None


@pytest.mark.parametrize("words", ["refuses", "refuses parks"])
@pytest.mark.parametrize("options", [{}, {"seconds": 0.1, "typed": True}])
def test_an_error_of_mortise_before_any_vm_starts_ends_the_run(scenario, words, options):
    """On a board that it cannot turn off it waits for ever."""
    result = scenario(words, halt_limit=0.1, **options).run()
    assert result.failure == "Mortise started no VM: linux: its memory overlaps Mortise"


def test_a_run_without_an_end_goes_on_beside_a_halted_guest(scenario):
    session = scenario("panics", halt_limit=0.1)
    told = []

    class Ending:
        def chunk(self, chunk):
            pass

        def tick(self, session):
            told.append(session.awaited())
            if PANIC in told[-1]:
                session.finish()

        close = tick

    session.observers = [Ending()]
    assert session.run().failure is None
    assert f"(running), as the run has no --seconds; {PANIC}" in told[-1]


def test_a_run_without_an_end_ends_if_nothing_else_runs(scenario):
    assert scenario("panics alone", halt_limit=0.1).run().failure.startswith(PANIC)


def state(*lines, silent=3.0):
    """What is known of a guest after these lines, and a silence."""
    halted, transcript = Halted(), Transcript()
    for line in lines:
        transcript.lines.append(Line(0, line))
        halted.heard("guest", line, 10.0)
    return halted.of("guest", transcript, 10.0 + silent, 3.0)


@pytest.mark.parametrize(
    ("line", "printer"),
    [
        ("=> ", "U-Boot"),
        ("ZynqMP> ", "U-Boot"),
        ("\x1b[2J\x1b[1mShell> \x1b[0m", "EDK2"),
        ("FS0:\\EFI> ", "EDK2"),
        ("grub> ", "GRUB"),
        ("(initramfs) ", "the initramfs of Debian"),
    ],
)
def test_the_prompts_of_boot_loaders(line, printer):
    assert f"the prompt of {printer}," in state("U-Boot 2025.01", line).text
    assert state("U-Boot 2025.01", line, silent=2.9) is None
    assert state(line, "ready") is None


@pytest.mark.parametrize("line", ["", "# ", "login: ", "a => b", "Hit any key: 2", "1 > 0"])
def test_other_lines_are_no_prompts(line):
    assert state(line) is None


def test_a_linux_that_starts_again_is_not_halted():
    panic = "[ 2.1] Kernel panic - not syncing: sysrq triggered crash"
    assert state(panic, "[ 2.1] ---[ end " + panic[7:] + " ]---").panicked
    assert state(panic, "[ 2.1] Rebooting in 5 seconds..") is None
    assert state(panic, "[ 0.0] Booting Linux on physical CPU 0x0000000000") is None
