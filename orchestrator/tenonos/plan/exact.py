"""Exact names of what systems have: words by which a likely statement of the reader is held.

A proper name in a capability's text (`I2C`, `littlefs`, `Bluetooth`) is surer than a probability: a
statement that the reader holds for possible is taken if the objective has such a name.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator

LEAST = 5
"""Letters from which the last part of a capability's name is a name of its own."""
_SHORT = 4
"""Names up to this length are matched with their case: CAN is no verb."""
MORE = {
    "bus.can": "CANopen",
    "driver.adc": "ADC|DAC",
    "driver.audio": "sound card|microphone|loudspeaker",
    "driver.display": "OLED|VGA|LCD|monitor|DisplayPort|framebuffer",
    "driver.gnss": "GPS|GNSS",
    "driver.gpu": "GPU",
    "driver.modem": "GSM|SMS|LoRa|modem",
    "driver.npu": "NPU|neural network",
    "driver.pwm": "PWM",
    "driver.rtc": "RTC",
    "driver.touch": "touch ?screen|touch panel|keyboard",
    "driver.wifi": "Wi-?Fi|WLAN",
    "fs.flash": "SD card|NAND|NOR flash|flash",
    "guest.other": "FreeBSD|OpenBSD|NetBSD|RTEMS|INTEGRITY",
    "guest.windows": "Windows",
    "net.http": "HTTPS?|web ?server|web page",
    "net.ptp": "PTP|NTP",
    "net.tls": "TLS|HTTPS|SSH|VPN",
    "security.boot": "secure boot|verified boot",
    "security.crypto": "AES|SHA|RSA|encrypt\\w*",
    "security.tpm": "TPM|TrustZone|secure element",
    "update.ota": "OTA|over[- ]the[- ]air",
}
"""More names of what a pool may lack, as patterns: terms of systems, none of a trade."""
_OF_OTHERS = frozenset(["Linux", "TCP", "VMs"])
"""Names in these texts that other capabilities have."""
_WORD = re.compile(r"[A-Za-z0-9]+")


def names(capability: str, text: str) -> Iterator[str]:
    """The proper names of a capability, from its own name and its text."""
    last = capability.rpartition(".")[2]
    if len(last) >= LEAST and last != "other":
        yield last
    for word in _WORD.findall(text):
        inner = word[1:] != word[1:].lower() or any(c.isdigit() for c in word)
        if (
            len(word) > 1
            and word not in _OF_OTHERS
            and (inner or (word[0].isupper() and len(word) >= LEAST))
        ):
            yield word


def stands(capability: str, text: str, objective: str) -> bool:
    """Whether an objective has a proper name of a capability."""
    plain = unicodedata.normalize("NFKC", objective)
    more = MORE.get(capability)
    if more and re.search(rf"(?<![A-Za-z0-9])(?:{more})s?(?![A-Za-z0-9])", plain):
        return True
    for name in names(capability, text):
        flags = 0 if len(name) <= _SHORT else re.IGNORECASE
        if re.search(rf"(?<![A-Za-z0-9]){re.escape(name)}s?(?![A-Za-z0-9])", plain, flags):
            return True
    return False
