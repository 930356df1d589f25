"""Chromium with key events and a screen of any size, through the DevTools protocol."""

import fcntl
import json
import os
import select
import subprocess
import time
from contextlib import contextmanager

LIMIT = 100
"""Time limit in seconds."""
CODES = {"Tab": 9, "Enter": 13, "PageDown": 34, "ArrowUp": 38, "ArrowDown": 40}
SHIFT = 8
FIRST_FREE = 10


class Browser:
    """A page in a browser that is driven by two pipes, without a port."""

    def __init__(self, commands, answers):
        self.commands, self.answers = commands, answers
        self.number, self.kept, self.session = 0, b"", None

    def ask(self, method, **params):
        """What the browser answers to a command."""
        self.number += 1
        command = {"id": self.number, "method": method, "params": params}
        command |= {"sessionId": self.session} if self.session else {}
        os.write(self.commands, json.dumps(command).encode() + b"\0")
        while (told := self._told()).get("id") != self.number:
            pass
        assert "error" not in told, told
        return told["result"]

    def _told(self):
        while b"\0" not in self.kept:
            ready, *_ = select.select([self.answers], [], [], LIMIT)
            assert ready, "the browser says nothing"
            more = os.read(self.answers, 1 << 16)
            assert more, "the browser is gone"
            self.kept += more
        message, self.kept = self.kept.split(b"\0", 1)
        return json.loads(message)

    def open(self, file, width=1280, height=800):
        """Show a file, in a window of its own size."""
        if self.session is None:
            target = self.ask("Target.createTarget", url="about:blank")["targetId"]
            self.session = self.ask("Target.attachToTarget", targetId=target, flatten=True)[
                "sessionId"
            ]
        size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
        self.ask("Emulation.setDeviceMetricsOverride", **size)
        self.ask("Page.navigate", url="about:blank")
        self.ask("Page.navigate", url=f"file://{file}")
        self.until("document.readyState === 'complete' && location.protocol === 'file:'")

    def value(self, script):
        """The value of an expression there."""
        told = self.ask("Runtime.evaluate", expression=script, returnByValue=True)
        assert "exceptionDetails" not in told, told
        return told["result"].get("value")

    def until(self, script):
        """Wait for an expression to hold."""
        end = time.monotonic() + LIMIT
        while not self.value(script):
            assert time.monotonic() < end, script

    def press(self, key, shift=False):
        """Press a key and let it go."""
        code = CODES.get(key, ord(key.upper()) if len(key) == 1 else 0)
        pressed = {"key": key, "windowsVirtualKeyCode": code, "modifiers": SHIFT * shift}
        text = {"Enter": "\r"}.get(key, key if len(key) == 1 else None)
        self.ask(
            "Input.dispatchKeyEvent", type="keyDown", **pressed, **{"text": text} if text else {}
        )
        self.ask("Input.dispatchKeyEvent", type="keyUp", **pressed)

    def type(self, text):
        """Press the keys of a text."""
        for key in text:
            self.press(key)

    @property
    def focus(self):
        """What has the focus: its id, or else its text."""
        return self.value("document.activeElement.id || document.activeElement.textContent")

    def go_to(self, text, shift=False):
        """Press Tab until something has the focus."""
        seen = []
        while self.focus != text:
            seen.append(self.focus)
            assert len(seen) < 60, seen
            self.press("Tab", shift)


@contextmanager
def browser(program, profile):
    """A browser without a screen."""
    theirs, commands = os.pipe()
    answers, told = os.pipe()
    # It speaks on its descriptors 3 and 4, which may be any of these four here.
    ends = [fcntl.fcntl(end, fcntl.F_DUPFD, FIRST_FREE) for end in (theirs, told)]
    os.close(theirs)
    os.close(told)
    line = ["bash", "-c", f'exec "$@" 3<&{ends[0]} 4>&{ends[1]}', "bash", program]
    options = ("--headless", "--no-sandbox", "--disable-gpu", "--remote-debugging-pipe")
    process = subprocess.Popen(
        [*line, *options, f"--user-data-dir={profile}"],
        pass_fds=ends,
        stdin=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    for end in ends:
        os.close(end)
    try:
        found = Browser(commands, answers)
        yield found
        found.session = None
        found.ask("Browser.close")
        process.wait(LIMIT)
    finally:
        process.kill()
        process.wait()
        os.close(commands)
        os.close(answers)
