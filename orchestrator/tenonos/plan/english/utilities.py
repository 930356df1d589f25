"""Grammar of utilities to optimise: `as small as possible`, `lowest latency`."""

from __future__ import annotations

import re

_SMALL = r"(?:smallest|minimal|minimum|least|tiniest|lowest|small|tiny|low|little|lean|tight)"
_SIZE = (
    r"(?:memory footprint|memory usage|memory use|memory consumption|code size|binary size"
    r"|image size|footprint|size|memory|ram|flash|code|image|binary|build|system)"
)
_QUICK = (
    r"(?:lowest|minimal|minimum|least|low|shortest|short|best|quickest|quick|fastest|fast|smallest"
    r"|ultra[- ]low)"
)
_DELAY = (
    r"(?:(?:interrupt|wake-?up|wakeup|response|reaction|dispatch|scheduling|worst-case)[- ])?"
    r"(?:latency|latencies|delays?|response(?: times?)?|responses|reactions?(?: times?)?"
    r"|responsiveness)"
)
_POSSIBLE = r"(?:(?: \w+)? possible)?"
_OPTIMISE = r"(?:optimi[sz](?:e|ed|ing)|tuned?|minimi[sz](?:e|ed|ing)|aim(?:ed|ing)?)"
_SHALL_BE = r"(?:should be |must be |is )?"
_BOTH = rf"(?:{_SIZE}|{_DELAY}|speed)"
POWER = re.compile(
    r"\b(?:(?:power|energy)[- ](?:constraints?|budgets?|consumption|savings?|limits?|efficien\w+)"
    r"|(?:low|little|less|least|minimal|save|saves|saving)[- ](?:power|energy)"
    r"|battery(?:[- ]\w+)?)\b",
    re.IGNORECASE,
)
"""Words of a criterion of power: no mechanism weighs it, and a tickless kernel serves it."""
UTILITIES: tuple[tuple[str, re.Pattern[str]], ...] = tuple(
    (utility, re.compile(rf"\b(?:{'|'.join(patterns)})(?!\w)", re.IGNORECASE))
    for utility, patterns in (
        (
            "balance",
            (
                rf"(?:a )?(?:good |fair |sensible |reasonable )?(?:balance|trade-?off|compromise)"
                rf"(?: (?:of |between )?{_BOTH} (?:and|against|with) {_BOTH})?"
                r"(?! \w+ (?:at|every|loop)\b)",
                r"(?:well[- ])?balanced",
            ),
        ),
        (
            "footprint",
            (
                rf"{_SMALL}{_POSSIBLE} {_SIZE}{_POSSIBLE}(?: footprint)?",
                r"as (?:small|lean|compact|tiny|light|lightweight|little memory) as (?:\w+ )?"
                r"(?:possible|can be|can)",
                rf"{_OPTIMISE} (?:for |the |its |at )*(?:a )?(?:{_SMALL} )?{_SIZE}",
                rf"{_SIZE} {_SHALL_BE}(?:as small as possible|minimi[sz]ed|minimal)",
                r"keep (?:it|them|all|the \w+) (?:as )?(?:small|lean|tiny|compact|light)",
                r"(?:should|must|shall) be (?:small|lean|tiny|compact)",
                rf"{_SIZE} (?:comes |goes |is )?first|lean|compact",
                r"smallest(?: possible)?|light-?weight|space[- ]saving|minimal(?:ist)?(?= image)",
            ),
        ),
        (
            "latency",
            (
                rf"{_QUICK} {_DELAY} (?:matters?|counts?)(?: (?:the )?most| above all)?",
                rf"{_QUICK}{_POSSIBLE}[- ]{_DELAY}{_POSSIBLE}",
                r"as (?:fast|quick|responsive|quickly) as (?:\w+ )?(?:possible|can be|can)",
                rf"{_OPTIMISE} (?:for |the |its |at )*(?:{_QUICK} )?(?:{_DELAY}|speed)",
                rf"{_DELAY} (?:matters?|counts?) (?:the most|most|above all)",
                rf"{_DELAY} (?:comes |goes |is )?first",
                rf"{_DELAY} {_SHALL_BE}(?:as (?:low|short) as possible|minimi[sz]ed)",
                r"fastest(?: possible)?|quickest(?: possible)?",
            ),
        ),
    )
)
