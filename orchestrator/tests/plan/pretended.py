"""An oracle that knows the answer without a compiler or an emulator."""

from tenonos.explore.oracle import Verdict


def judge(files, seconds):
    """Optimised for size it is small and slow; without protection it does not run."""
    text = files["motor.config"]
    small = "CONFIG_OPTIMISE_SIZE=y" in text
    if "CONFIG_TENON_THREAD_PROTECTION is not set" in text:
        return Verdict(built=True, why="motor stopped: data-abort", size=1)
    terse = "CONFIG_TENON_THREAD_PANIC_MESSAGE is not set" in text
    size = 1000 - 300 * small - 50 * terse
    return Verdict(True, True, True, None, size, 100 + 50 * small, 10)
