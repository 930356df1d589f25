"""Reader of a machine's system registers through the emulator's GDB stub."""

from __future__ import annotations

import re
import socket


class Stub:
    """Client of the GDB remote serial protocol that stops the machine and reads its registers."""

    def __init__(self, port):
        self._socket = socket.create_connection(("127.0.0.1", port), timeout=60)
        self._file = self._socket.makefile("rb")
        self._numbers = {}

    def go(self):
        """Continues the machine."""
        self._send(b"c")

    def stop(self):
        """Stops the machine."""
        self._socket.sendall(b"\x03")
        self._answer()
        if not self._numbers:
            self._numbers = self._described()

    def cores(self):
        """Thread ids of the cores, in the order of their numbers."""
        found, answer = [], self._ask("qfThreadInfo")
        while answer.startswith("m"):
            found += answer[1:].split(",")
            answer = self._ask("qsThreadInfo")
        return found

    def read(self, core, name):
        """A system register of a core."""
        if self._ask(f"Hg{core}") != "OK":
            raise ValueError(f"there is no core {core}")
        value = self._ask(f"p{self._numbers[name]:x}")
        return int.from_bytes(bytes.fromhex(value), "little")

    def close(self):
        """Detaches; the machine continues."""
        self._ask("D")
        self._file.close()
        self._socket.close()

    def _described(self):
        """The number of each system register by the target description."""
        # The parts can only be read after the main description.
        self._whole("target.xml")
        text = self._whole("system-registers.xml")
        fields = (
            dict(re.findall(r'(\w+)="([^"]*)"', reg)) for reg in re.findall("<reg [^>]*>", text)
        )
        return {field["name"]: int(field["regnum"]) for field in fields}

    def _whole(self, file):
        """A file of the target description, read in pieces."""
        text, more = "", True
        while more:
            piece = self._ask(f"qXfer:features:read:{file}:{len(text):x},800")
            text, more = text + piece[1:], piece[0] == "m"
        return text

    def _ask(self, words):
        self._send(words.encode())
        return self._answer()

    def _send(self, packet):
        self._socket.sendall(b"$%s#%02x" % (packet, sum(packet) & 0xFF))

    def _byte(self):
        if not (byte := self._file.read(1)):
            raise ConnectionError("the emulator has ended")
        return byte

    def _answer(self):
        """The next packet; acknowledgements are skipped."""
        while self._byte() != b"$":
            pass
        packet = bytearray()
        while (byte := self._byte()) != b"#":
            packet += bytes([self._byte()[0] ^ 0x20]) if byte == b"}" else byte
        self._file.read(2)
        self._socket.sendall(b"+")
        return packet.decode()
