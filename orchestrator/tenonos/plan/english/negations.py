"""Grammar of negations, before or after the denied phrase."""

from __future__ import annotations

import re

FORBIDS = (
    r"(?<!is )(?<!are )(?:forbids?|prohibits?|rul(?:e|es|ing) out|bans|banning|disallows?"
    r"|precludes?"
    r"|(?:(?:do|does)(?: not|n't)|won't|will not|cannot|can't) (?:allow|permit|tolerate|accept"
    r"|hear of|put up with))"
)
"""Verbs of prohibition: `the standard forbids ...`."""
_NEVER = (
    r"(?:under no (?:circumstances?|conditions?)|(?:in|at) no (?:case|event|point|way)|at no time"
    r"|on no account|by no means|not ever|never ever)"
)
"""Negative adverbials with inversion."""
NEGATORS = (
    r"(?:excluded|unwanted|forbidden|out of scope|not (?:needed|wanted|required|necessary|allowed))"
    r"(?=\s*:)",
    r"(?:without|w/o)(?: any| a| an| the| need(?:ing)?(?: for)?| using| requiring)?",
    r"(?:with )?no(?! (?:more|less|later|fewer|greater|longer|sooner|higher|bigger|larger) than)",
    r"(?:do|does|shall|should|must|need|will|is|are|may|can|could)(?: not|n't)"
    r"(?: need| want| require| have| use| include| contain| have to (?:have|use))?",
    r"(?:don't|doesn't|won't|shouldn't|mustn't|needn't|isn't|aren't|cannot|can't)"
    r"(?: need| want| require| have| use| include)?",
    r"(?:needs?|wants?|requires?|has|have) no",
    r"free (?:of|from)",
    r"(?:leav(?:e|ing)|left) out",
    r"(?:dispens(?:e|es|ing) with|do(?:es|ing)? away with|decided? (?:against|not to have)"
    r"|(?:steer|stay) (?:clear|away) of|spare (?:me|us|yourself|it)|forgo(?:es|ing)?"
    r"|refrain(?:s|ing)? from|opt(?:s|ed|ing)? out of|say(?:s|ing)? no to"
    r"|dropped (?:the )?(?:idea|plan) of"
    r"|(?:there is|there's|we have|i have) (?:\w+ )?no (?:room|place|space|use|time) for"
    r"|in (?:lieu|place) of)(?: any| a| an| the)?",
    r"(?:leav(?:e|ing)|keep(?:ing)?)(?= (?:[\w-]+,? ){1,6}?(?:out|away)\b(?! (?:of|from)\b"
    r"(?! (?:it|this|that|there|here|(?:the|this|my|our) (?:image|build|system|vm|product)))))",
    r"(?:leav(?:e|ing)|keep(?:ing)?|turn(?:ing)?|switch(?:ing)?)"
    r"(?= (?:[\w-]+ ){1,4}?off(?:\W*$|\s*[.,;:)]| (?:this|the|our) \w+"
    r"| (?:and|but|as|because|since)\b))",
    r"(?:leav(?:e|ing)|sav(?:e|ing)|defer(?:ring)?|postpon(?:e|ing))"
    r"(?= (?:[\w-]+ ){1,4}?(?:for|to|until) (?:later|a later|another|the next|next))",
    r"(?:don't|do not|never) (?:give|add|put|build|compile|link)(?: (?:me|us|it|them|in|my|the))*",
    r"(?:do(?:es)?|doing|make|makes|manage[sd]?) without(?: any| a| an| the)?",
    r"nothing (?:like|with|of)(?: a| an)?",
    r"nothing (?:that|which|to)(?: (?:would|could|can|might|may|lets?|allows?|makes?|helps?|them"
    r"|it|us"
    r"|the two|anybody|anyone|to))*",
    rf"{FORBIDS}(?: that| any| the| a| an)?",
    rf"{_NEVER}(?: (?:may|must|should|shall|can|do|does|is|are|will|has to|have to))?",
    r"none of(?! (?:them|us|it|which)\b)(?: (?:the|that|this|those|these|your|its))?",
    r"(?:neither|nor) (?:do|does|is|are|has|have|did|should|must|shall|can|may|will)",
    r"(?:exclud(?:e|es|ing)|omit(?:s|ting)?|avoid(?:s|ing)?|lacking|minus|skip(?:s|ping)?"
    r"|except(?: for)?|never)",
    r"(?:drop|remov(?:e|ing)|scrap|get rid of|do away with)(?= (?:the|any|all|every|its|our)\b)",
    r"neither(?: (?:needs?|wants?|requires?|uses?)(?: nor (?:needs?|wants?|requires?|uses?))?)?",
    r"(?:everything|anything|all) (?:but|except(?: for)?)",
    r"nothing (?:is|are|gets|has to be|shall be|may be|must be)",
    r"not(?! (?:only|more|less|later|exceeding))",
)
LISTING = re.compile(r"free$|leav|left|exclu|omit|avoid|except|neither", re.IGNORECASE)
"""Negations with scope over a whole list, articles included."""
OUT = frozenset("out away off".split())
"""Ends of a negation around the denied phrase: `leave the shell out`."""
NEGATION = re.compile(rf"\b(?:{'|'.join(NEGATORS)})\b", re.IGNORECASE)

UNWANTED = re.compile(
    r"\b(?:(?:is|are|be|was|were)(?: not|n't)|not being) "
    r"(?:needed|required|wanted|necessary|used|included|allowed|permitted|involved)\b"
    r"|(?<=\w)-free\b"
    r"|(?<=\w) (?:disabled|excluded|omitted|removed|deactivated|(?:(?:switched|turned) )?off"
    r"(?= (?:everywhere|altogether|completely|entirely)\b)|(?:switched"
    r"|turned) off)(?=(?: \w+)?\s*(?:$|[.,;)]))"
    r"|\b(?:is|are|be|been|being|was|were|stays?) (?:unnecessary|unwanted|superfluous|forbidden"
    r"|excluded|left out"
    r"|banned|prohibited|ruled out|disallowed|verboten|taboo|out of the question|off the table"
    r"|out of scope|out(?=\s*(?:$|[.,;)]))"
    r"|(?:judged|deemed|considered) (?:needless|unnecessary)"
    r"|not an option|a no-go|dispensable|surplus to requirements)\b"
    r"|\b(?:ha(?:s|ve)|had) no (?:place|business|role|part|room|use)\b(?: (?:here|there|on board))?"
    r"|\b(?:is|are)(?: not|n't) what (?:we|i|they)(?: (?:are|am))? \w+(?: for)?\b|\beven less so\b"
    r"|\b(?:is|are) (?:of )?no (?:interest|use|concern|help|value|importance)\b"
    r"(?: (?:to|for) (?:us|me|you|anybody|anyone|them))?"
    r"|,? (?:which|that) (?:nobody|no one|none of us) (?:needs|wants|uses|misses|asked for)\b"
    r"(?: any ?more| any longer| here| now)?"
    r"|\b(?:is|are) nothing for (?:us|me)\b"
    r"|\b(?:can|may|must|should|will have to) wait(?=\W*(?:$|[.,;)])"
    r"| (?:until|for) (?:the|a) (?:next|later|future)\b)"
    r"|\b(?:do|does)(?: not|n't) (?:belong|come along)\b"
    r"|\b(?:would|will|is|are|can) (?:only |just |merely |nothing but )?(?:be )?"
    r"(?:a burden|in the way|ballast|dead weight|a nuisance|a distraction|overhead)\b"
    r"|(?<=\w)(?:,|:)? (?:definitely |certainly |absolutely |please )?not?(?=\s*[;.])"
    r"|\b(?:need|must|shall|should)(?: not|n't) be "
    r"(?:\w+ed|there|present|part of (?:this|it|that))\b"
    r"|\b(?:is|are|be|stays?|remains?) (?:(?:turned|switched|left) )?(?:off|disabled|absent)\b"
    r"|\b(?:is |are )?not (?:needed|required|wanted|necessary|involved|part of (?:this|it|that))\b"
    r"(?!\s*:)"
    r"|\b(?:can|could|may|should|shall|must) be (?:left out|omitted|dropped|skipped|removed)\b"
    r"|\b(?:may not|cannot|can't|can not) be used\b"
    r"|\bneed(?: not|n't) be \w+ed\b|\b(?:are|is)(?: not|n't)(?=\s*(?:$|[.,;]))"
    r"|\b(?:is|are)(?: not|n't) (?:something|anything|what) (?:that )?"
    r"(?:we|i|you|they|anybody|anyone) (?:wants?|needs?|asked? for|requires?|ordered)\b"
    r"|(?<=\w)(?:,? (?:that|which))? (?:we|i|you|they|one) (?:(?:can|could|will|would|shall)"
    r"(?: (?:well|easily|gladly|happily))? (?:do|live|manage|go|cope) without"
    r"|(?:do not|don't|never) (?:need|want|require|miss))"
    r"(?=(?: as well| too| at all)?\s*(?:$|[.,;)]))"
    r"|\b(?:is|are) (?:something|a thing) (?:that )?(?:we|i|you|they) (?:can|could) do without\b"
    r"|(?<=\w):? (?:no|none)(?=\s*(?:$|[.,;]))",
    re.IGNORECASE,
)
"""Negations after the denied phrase: `a shell is not needed`."""
