"""Idioms: set phrases without a demand."""

from __future__ import annotations

import re

_YEAR = (
    r"(?:in|for|since|until|till|by|before|after|during|of|from) (?:19|20)\d\d"
    r"(?=\W*(?:$|[.,;:!?)])|\s+(?:an?|the|we|i|our|there|it|this|is|was|has|had)\b)"
)

FIRM = re.compile(
    r"\bwithout (?:fail|doubt|question|exception)\b"
    r"|\b(?:not|never|cannot|hardly|(?:ca|could|wo|should|must|do|does|is|are)n['’]t)"
    r"(?: (?:be|do|go|run|live|work|manage|ship|start|build|really|possibly|quite|allowed|permitted"
    r"|supposed|meant|to))* without\b"
    r"(?: an?\b| the\b| any\b)?"
    r"|(?<=\bthe )real[- ]time (?:side|part|world|half)\b",
    re.IGNORECASE,
)
"""Set phrases with priority over other readings."""

DOUBLY = re.compile(
    r"(\b(?:(?:do|does|is|are|will|would|shall|should|must|may|can|could)(?:n['’]t| not| never)"
    r"|never|not|cannot|nobody|nothing|no|won['’]t|can['’]t)\b)"
    r"(?: (?!and\b|or\b|but\b|nor\b)[\w'’-]+){1,7}? (without\b(?: an?\b| the\b| any\b)?)",
    re.IGNORECASE,
)
"""Double negations: `we will not ship it without a shell`."""

IDIOM = re.compile(
    r"\b(?:by the way|log(?:s|ged|ging)? (?:in|on)(?:to)?|able to|in which|so that|as well as"
    r"|in order to|as soon as|as long as|no matter (?:what|how|who)"
    r"|and (?:friends|the like|such(?: like)?|so on|so forth)(?=\W*(?:$|[.,;]))"
    r"|nothing (?:but|more than|other than)|side by side|next door|at the same time|all the time"
    r"|(?:hand|pass|carry|give|take)(?:s|ed|ing)? (?:over|on)(?= (?:the |their |its )?\w+s\b)"
    r"|all (?:two|three|four|five|six) (?:of them )?(?=in\b|on\b|at\b|with\b|of\b)|bare bones"
    r"|look(?:s|ing)? like|take care of|in parallel|of course|(?:at|on|in) EL1"
    r"|(?:switched|turned) on(?=\W*(?:$|[.,;)]))"
    r"|shar(?:e|es|ing)(?= (?:(?:a|the|one|this|that) )?(?:[\w-]+[ -](?:core )?)?"
    r"(?:chip|board|machine|soc|system|computer|platform|hardware)\b)"
    r"|(?:on|in|at|the) (?:meantime|long run|first place)"
    r"|on the (?:one|other) hand|in other words|for (?:example|instance|short|good|now|once)"
    r"|in (?:particular|general|addition|fact|short|the end|any case|that case|good time|principle"
    r"|practice|total|mind)(?! of)|from time to time|after (?:all|that|this)|at (?:all|hand|last)"
    r"|as (?:usual|before|ever)|by (?:hand|and large|all means)|so to (?:speak|say)"
    r"|(?:carry|go|keep|get) on(?: (?:running|going|working))?"
    r"(?=\W*(?:$|[.,;:)]|as\b|when\b|if\b|while\b))"
    r"|(?:step|kick|cut|chime|jump) in(?=\W*(?:$|[.,;:)]|and\b|when\b|if\b))|(?:start|begin) over"
    r"|keep(?:s|ing)? (?:it|them|him|her|us|each other) company"
    r"|(?:that|which|this|it) (?:makes|gives|means|comes to|is) (?:two|three|four|five|six|seven"
    r"|eight|[2-8])"
    r"(?! \w*(?:hz|cores?|cpus?|vms|[mk]i?b|m?s)\b)(?: (?:of them|in all|altogether|in total))?"
    r"|into (?:two|three|four|five|six|seven|eight|[2-8])(?: (?:parts|pieces|halves"
    r"|thirds))?(?=\W*(?:$|[.,;:)]))"
    r"|(?:far |well )?away from|(?:is|are) (?:welcome|all right)(?! to)|up to now|(?:apart"
    r"|aside) from (?:that|this|it|these|which)"
    r"|(?:that|this) aside"
    r"|other than that|besides that|on (?:top of (?:that|this|it)|request|average)"
    r"|over and over(?: again)?"
    r"|if (?:possible|need be|necessary)|more or less|sooner or later|now and (?:then|again)"
    r"|to be (?:sure|precise|exact|on the safe side)|that(?: is|['’]s) (?:all|it)"
    r"|(?:have|has|had|got) nothing to do with(?: (?:it|that|this|them))?"
    r"|(?:what|which)ever (?:comes|follows|happens|else)|note that|mind you|pretty please"
    r"|(?:each of |all )?(?:these|those) (?:two|three|four|five|six|both)"
    r"|(?<=each )of the (?:two|three|four|five|six)(?! \w+s\b)"
    r"|(?:one|a|each|a single) (?:pass|round|iteration)(?: through (?:it|the loop))?"
    r"|put(?:s|ting)? a (?:lid|stop|limit|end) (?:on|to)"
    r"|(?<![\w ])(?:hi|hello|hey)(?: (?:there|all|everyone|everybody|team|folks))?(?=\s*[,!.:\n])"
    r"|good (?:morning|afternoon|evening|day)"
    r"|between (?:two|its) (?:runs|cycles|executions|releases|activations|samples|iterations)"
    r"|(?:many |best |kind )?(?:thanks|thank you|regards|greetings)(?: in advance| a lot| so much"
    r"| very much)?(?: for (?:your|the) \w+)?"
    r"|(?<!on )the (?:two|three|four|both)(?= (?:of them|must|should|shall|may|can|do|does|are"
    r"|have|need|never|will|don't|mustn't)\b|\W*(?:$|[.,;:)]))"
    r"|(?:such as|like|e\.g\.|for example|say) \d[\d.,]*\d"
    r"(?! ?(?:[kM]?Hz|[mµun]?s|[KMG]i?B|%|cores?|cpus?|\w+onds)\b)"
    r"|(?:lasts?|runs?|works?|lives?|survives?|holds?|operates?) (?:for )?(?:an?|one|two|three|four"
    r"|five|six|ten|several|many|some|\d+) (?:\w+ )?(?:hours?|days?|weeks?|months?|years?|decades?)"
    rf"|{_YEAR}|(?:i\.e|e\.g|cf)\b\.?)(?!\w)",
    re.IGNORECASE,
)
"""Set phrases without a demand."""

WHY_OTHER = "a quantity that no composition has"
OTHER_UNITS = re.compile(
    r"(?<![\w.])[-+±]?\d+(?:[.,]\d+)?(?: ?(?:-|–|to|\.\.) ?\d+(?:[.,]\d+)?)?"
    r"(?:[ -]?(?:[kMmµu]?(?:V|W|Ah|Wh|Nm|N|Pa|bar|J|Ω)(?:AC|DC)?|[mkµ]A|kg|[cdkµn]m|°C?|°F|rpm|km/h"
    r"|[kKMGT]i?B(?:/s|ps)|(?:kilo|mega|giga)bytes (?:per|a) second"
    r"|m/s|l/min|dB|volts?|amps?|amperes?|watts?|kilowatts?|degrees?|metres?|meters?|millimetres?"
    r"|millimeters?|kilograms?|litres?|liters?|revolutions per minute)|[ -](?:A|g|m|mm))(?![\w/])"
    r"(?: (?:AC|DC))?(?:(?:,|/| at)? ?\d+ ?Hz\b)?"
    r"|\b\d+ ?Hz mains\b"
)
"""Quantities of other dimensions: volts, metres, mains frequency."""
