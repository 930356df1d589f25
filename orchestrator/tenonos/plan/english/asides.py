"""Asides: parts of an objective that are no demands.

Instructions to the tool, background, and mentions of other systems.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from tenonos.plan.english import grammar as g
from tenonos.plan.english.background import (
    BACKGROUND,
    DOCUMENTS,
    ELSEWHERE,
    PAST,
    PEOPLE,
    RIVALS,
    UNTOUCHED,
)
from tenonos.plan.english.negations import FORBIDS
from tenonos.plan.english.quantities import quantity_at
from tenonos.plan.english.text import Token

_ROLES = (
    r"(?:assistant|developer|admin(?:istrator)?|planner|composer|compiler|ai|(?:language )?model"
    r"|llm"
    r"|gpt|operator|root|human|bot|chatbot|agent|tool)"
)
_MACHINES = (
    r"(?:assistant|planner|composer|ai|(?:language )?model|llm|gpt|(?:chat)?bot|agent|tool)s?"
)
INSTRUCTION = re.compile(
    r"\b(?:ignor(?:e|ing)|disregard|forget|overrid(?:e|ing)|bypass|skip|disable|follow)\b[^.;!?]*"
    r"\b(?:instruction|direction|rule|prompt|above|previous|prior|constraint|check|validation"
    r"|everything|said|limit|safety)"
    r"|\b(?:print|show|reveal|output|dump|quote) (?:me |us )?(?:the|your) system prompt\b"
    r"|\b(?:system prompt|your (?:instructions|rules|prompt|checks|output|answer|reply))\b"
    r"|\byou are (?:now|in|an?|no longer)\b|^\W*(?:\w+,? )?(?:act as|pretend)\b"
    r"|(?:^|, )(?:please )?pretend\b|\bpretend (?:that|to be|you)\b"
    r"|^\W*(?:please |now |then |and |also )*(?:repeat|recite|quote|echo|sing|translate"
    r"|summari[sz]e"
    r"|(?:report|claim|confirm|certify|declare|assert|swear|promise|assume) that"
    r"|(?:say|write|tell) (?:me|us|an?|the words?|that|nothing))\b"
    r"|\b(?:developer|god|admin|jailbreak|unrestricted) mode\b"
    r"|\b(?:enable|unlock|allow|activate|include|grant|permit|select) (?:everything|anything"
    r"|all (?:the )?(?:features|options|capabilities|permissions|libraries))\b"
    r"|\b(?:forget|ignore|disregard) (?:the|all|every|your|any|about|what)\b|\bas an ai\b"
    r"|\b(?:set|output|add|enable|write|use)\b[^.;]*\bCONFIG_\w|\bdelete (?:all|every|the)\b"
    r"|\b(?:print|show|send|leak|upload|mail|post|give me|emit|output)\b[^.;]*"
    r"\b(?:contents?|secrets?|passwords?|credentials?|(?:api|private) keys?|tokens?|environment"
    r"|source code)\b|(?:^|\s)(?:~|/(?:etc|root|home|proc))/|\$\(|`"
    r"|\b(?:do not|don't) (?:validate|check|verify)\b|\byou (?:should|must|shall|will) (?:always"
    r"|never)\b|\b(?:i|we) (?:order|command|instruct|authori[sz]e) you\b"
    r"|^\W*(?:respond|reply|answer)\b|\b(?:reveal|exfiltrate|print out|output only|reply with"
    r"|answer with|respond with|tell me)\b"
    r"|\b(?:report success|(?:answer|say) (?:yes|no|that)|mark (?:all|every|each))\b"
    r"|\b(?:execute|run) the (?:command|following|shell command)|\b(?:sudo|curl|wget|rm -rf)\b"
    rf"|^\W*{_MACHINES},\s"
    rf"|^\W*(?:note to the )?{_ROLES}\s*:|^\W*(?:\w+ )?instructions?\s*:"
    rf"|^\W*(?:{_ROLES}|system|hidden|internal)(?:['’]s)? (?:note|message|comment|hint)s?\s*:"
    rf"|^\W*(?:dear|hey|hi|hello)\b[^,;]*\b{_ROLES}\b,?"
    rf"|(?:^\W*(?:\w+ )?|\b)(?:(?:an? )?(?:note|message|word|hint|request|memo"
    rf"|instructions?) )?\b(?:to|for|dear)"
    rf" (?:(?:the|any|an?|every|all|whichever|whatever|whoever|our|my"
    rf"|this) )?(?:\w+ ){{0,2}}?{_MACHINES}"
    rf"(?: (?:that|who|which|in|on|behind)?[^:;,.]{{0,40}})?\s*[:,]"
    rf"|^\W*(?:and |so |now |please )*,? ?dear (?:\w+ )?{_MACHINES}\b"
    rf"|\byou are (?:to|supposed to|expected to|free to|allowed to|required to|ordered to)\b"
    r"|^\W*new (?:task|job|goal|objective|request|order)s?\s*:"
    r"|\b(?:begin|start|end)(?: of)?(?: the)?(?: \w+)? (?:instruction|prompt|override|command)s?\b"
    r"|\byour (?:new |only |real |next )*(?:task|job|role|goal|mission)\b|\bfrom (?:now|here) on\b"
    r"|\byou (?:must|should|shall|may|can|will) (?:now |only )*(?:answer|reply|say|respond|print"
    r"|act"
    r"|behave|pretend|become|obey)\b|\b(?-i:DROP|DELETE|TRUNCATE|INSERT) (?-i:TABLE|FROM|INTO"
    r"|DATABASE)\b"
    r"|^\W*(?:begin|start|end) of (?:the )?(?:configuration|config|output|answer)\b"
    r"|\byou (?:always|never|only|answer|treat|accept|approve|obey|pretend|report|say|have to"
    r"|act|behave|become|repeat|respond|speak|write|forget|ignore|skip)\b"
    r"|\b(?:set|unset|export|override|point)\s+(?-i:\$?[A-Z][A-Z0-9]*_[A-Z0-9_]+)\b"
    r"|\b(?:download|fetch|load|install|clone)\b[^.;]*\bhttps?://"
    rf"|^\W*as (?:the|your|an?) (?:\w+ )?{_ROLES}\b"
    r"|^\W*end of (?:(?:the|user|your|this) )*(?:objective|input|prompt|message|text|request)\b"
    r"|\b(?:by|on) (?:the )?(?:orders?|command|authority) of\b"
    r"|\beverything is (?:allowed|permitted)"
    r"|\b(?:new|further|additional|updated|actual) (?:instructions?|orders|directives?)\b",
    re.IGNORECASE,
)
ORDER = re.compile(
    r"\W*(?:please |always |never )*(?:you|ignore|disregard|forget|override|bypass|skip|pretend"
    r"|print"
    r"|reveal|report|answer|reply|write|output|select|enable|disable|mark|say|approve|accept)\b",
    re.IGNORECASE,
)
"""Start of an instruction to the tool, after a colon."""
QUOTED = re.compile(r"[^.,;:!?]*\b(?:\w+s|with|saying|reading|wrote|read)[:,]? [\"'“‘]\Z")
"""Words that introduce a quotation."""
SPEAKER = re.compile(r"^\W*(?:system|user)\s*:", re.IGNORECASE)
"""Start of an instruction, if a demand precedes it."""
ENCLOSED = re.compile(
    r"</[A-Za-z]\w*\s*>|<!--.*?-->|/\*.*?\*/|\$\([^()]*\)|\{\s*\"\w+\"\s*:.*?\}|\{\{.*?\}\}"
    r"|<(\w+)[^<>]*>.*?</\1>|\[(\w+)\].*?\[/\2\]",
    re.DOTALL,
)
"""Text between delimiters of a formal language, addressed to a machine."""
FRONTED = re.compile(
    r"\W*(?:formerly|previously|originally|so far|until now|in the past)\b"
    r"(?![^,:]*\b(?:was|were|had|ran|used|did|is|are|runs?|ha(?:s|ve)|we|it|they)\b)[^,:]*(?=,)",
    re.IGNORECASE,
)
"""An adverbial without a verb before a demand: `formerly under Linux, a ...`."""
WANTING = re.compile(
    r"\b(?:needs?|wants?|require[sd]?|would like|i'd like|we'd like|wish|looking for|must|should"
    r"|shall|please|build|compose|make|give|let (?:us|me) (?:have|get))\b",
    re.IGNORECASE,
)
CONTRAST = re.compile(
    r"(.*?), (?:but|yet|still|however|whereas),? (?:(?:what|all|the only thing)(?: that)? )?"
    r"(?:i|we) (?:\w+ )?(?:want|need|would|wish|'d|require|ask|do is|have to do|care about)\b",
    re.IGNORECASE | re.DOTALL,
)
"""Actions or statements of others, before a contrasting demand."""
OPINION = re.compile(
    r"(?:my|our|the|some|an?) (?:[\w-]+ ){1,4}?(?:thinks?|thought|believes?|suggest(?:s|ed)?"
    r"|propose[sd]?"
    r"|recommend(?:s|ed)?|hopes?|dreams?|keeps? saying|would (?:prefer|love|like)|insists?) "
    r"(?:that )?(?:we|i|you|it|they|of|to) .*?(?=, (?:but|yet|still|however)\b|\Z)",
    re.IGNORECASE | re.DOTALL,
)
"""An opinion of a third party: `my boss thinks we should use ...`."""
REASON = re.compile(
    r"(.*?),? (?:which|that)(?: is|'s|’s) (?:exactly |just |precisely |also )?why\b",
    re.IGNORECASE | re.DOTALL,
)
"""A reason before a demand."""
TURN = re.compile(
    r", (?:(?:but|yet|however|whereas)(?: for)?,? (?=(?:the|our|this|these|an?) \w)|(?=ours ))",
    re.IGNORECASE,
)
"""End of background about others, before a clause about the user's system."""
HEADING = re.compile(
    r"^\W*(?:(?:background|context|history|motivation)\s*:|it(?: is|['’]s) true that\b|admittedly\b"
    r"|granted\b|to be fair\b|(?:i|we) admit\b|no doubt\b|true enough\b|true,)",
    re.IGNORECASE,
)
"""Start of a sentence with background."""
CONSEQUENCE = re.compile(
    r"(?:,| and) (?:so|hence|therefore|thus|now),? (?:this|the new|we|i|our|here|there)\b",
    re.IGNORECASE,
)
"""End of background, before a demand that follows from it."""
MENTION = re.compile(
    r"\b(?i:instead of|rather than|unlike|similar(?:ly)? to|compared (?:to|with)|in contrast to"
    r"|according to|as opposed to|in contrast with|comparable (?:to|with)(?: what)?"
    r"|(?:tired of|fed up with|used to|accustomed to|(?:fond|fans?) of)(?= (?-i:[A-Z]))"
    r"|(?:exactly |just |much )?the (?:same )?way(?= (?-i:[A-Z]))"
    r"|(?:after|following) (?:\w+ ){0,2}?(?:years?|months?|weeks?|decades?) (?:of|with|on|under)"
    r"(?: \w+ing(?: (?:with|on|under|against|in|over|about))?)?(?= (?-i:[A-Z]))"
    r"|contrary to|(?:as an? )?(?:replacement|substitute) (?:for|of)|(?:to )?replac(?:e|es|ing)"
    r"|(?:an? |the )?(?:re-?write|port|re-?implementation|successor|clone) (?:of|to|for)"
    r"(?= (?:our|the|an?|my|old|existing|legacy)\b)"
    r"|inspired by|(?:ported|migrat(?:ed|ing)|coming|moving|moved) (?:away )?from"
    r"|not to be confused with|(?:know|remember|recall|recogni[sz]e)n? (?:(?:it|this|that|them"
    r"|these) )?from"
    r"|familiar from|used by|in place of"
    r"|(?:as )?an alternative to|(?:having )?(?:read|heard) (?:about|of)"
    r"|(?:better|faster|smaller|lighter|quicker|simpler|cheaper|safer|slower) than(?: what)?"
    r"|as (?:fast|small|good|quick|simple|light) as(?! possible| can))\b"
    r"|\b(?<!would )(?<!'d )(?<!I )[Ll]ike(?= (?:an? |the |my |their )?(?:old |other |our )?[A-Z])"
    r"|\b[Aa]s (?:described|documented|explained|shown|specified|proposed) (?:in|by|at)\b"
    rf"|\b(?i:your|the|an?|his|her|their|our|my) (?:\w+ )?{DOCUMENTS} (?:about|on)\b"
    r"|\bas (?:in|with|on)(?= [A-Z])|\bthan(?= [A-Z])"
    r"|\bas (?:we|I|they|you) \w+ (?:it |them |this )?(?:from|under|in|on|with)(?= [A-Z])"
    r"|\b(?:written|made|meant|designed|built|developed) for(?= [A-Z])",
)
"""Start of a mention. `like` and `as` only before a proper name."""
SPEAKERS = frozenset("i we you they he she".split())
"""A clause with the author of a demand."""
REFERENCE = re.compile(
    r"\((?:see|cf\.?|compare|refer to|as in|as described in)\b[^()]*\)"
    r"|\((?:ticket|issue|bug|ref(?:erence)?|rev(?:ision)?|version|case|item|no|project|order"
    r"|fig(?:ure)?|table|section|page|chapter)\b\.?:? ?[^()\s]*\d[^()\s]*\)",
    re.IGNORECASE,
)
"""A reference: `(see the paper on ...)`, `(ticket 4711)`."""
NAME = re.compile(
    r"\b[a-z]+-and-[a-z]+\b|\bP\.? ?S\b\.?(?=[\s:,])|\((?:\d|[a-h])\)(?=\s+\w)", re.IGNORECASE
)
"""A hyphenated name: `stop-and-go`; the start of a postscript; the number of a list item: `(1)`."""
SAYING = re.compile(
    r"(?:^|(?<=[.;!?:] ))(?:(?:the|our|my) )?[\w-]+(?: [\w-]+){0,2} (?:insists?|demands?"
    r"|stipulates?|says?"
    r"|prescribes?|states?|dictates?|requires?|wants?|asks?)(?: us)? that\b"
    r"|(?:^|(?<=[.;!?:,] )|(?<=\band )|(?<=\bbut ))(?:(?:the|our|my|their|an?) )?"
    r"[\w-]+(?: [\w-]+){0,2}"
    r" (?:says?|dictates?|stipulates?|insists?)(?=[:,]? (?!(?:nothing|that)\b))"
    rf"|(?:^|(?<=[.;!?:,] )|(?<=\band )|(?<=\bbut )|(?<=\bas ))(?:(?:the|our|my|their) )?"
    rf"(?!(?:is|are|be|which|that|it)\b)[\w-]+(?: [\w-]+){{0,2}}?(?= {FORBIDS}\b)",
    re.IGNORECASE,
)
"""The origin of a demand: `certification insists that ...`."""
DESK = re.compile(
    r"\b(?:on|from) (?:an?|the|our|my|their|his|her) [A-Z]\w+ "
    r"(?:workstation|laptop|desktop|notebook|build (?:server|machine|host))s?\b"
)
"""A place of work of a person."""
CLOSING = re.compile(
    r"\b(?:regards|cheers|sincerely|thanks|thank you)(?:,| from| -) [^.;!?\n]*\Z", re.IGNORECASE
)
"""The closing of a letter, with a signature."""
OPENING = re.compile(r"([^\d.:;!?,]*),\s*(?:but|yet|we|i|just|only|this|here|now)\b", re.IGNORECASE)
"""A mention at the start of a sentence, up to a contrasting demand."""
SOMEBODY = re.compile(
    rf"\b(?:as )?(?:(?:the|our|my|an?|some|his|her|their) )?(?:\w+ )?(?:{PEOPLE}|{RIVALS})"
    r" (?:who|that|which|whose)\b[^.;:!?,]*?"
    r"(?=\s*(?:[.;:!?,]|\Z)|\s+(?:will|shall|must|wants?|needs?|wish(?:es)?|asks?|requires?"
    r"|demands?|(?:woul|shoul)d)\b)",
    re.IGNORECASE,
)
"""People with a relative clause: `the people who look after ...`."""
PERSON = re.compile(
    r"\b(?:as )?(?:Dr|Prof|Mr|Mrs|Ms|Sir|Professor|Doctor)\b\.? [A-Z][\w-]+"
    r"(?:, (?:who|whose)\b[^,;:.]*(?=,)"
    r"| (?:wrote|writes|said|says|explain(?:s|ed)|put it)\b[^,;:.]*)?"
    rf"|\b(?:(?i:my|our|his|her|their|the) )(?:\w+ )?{PEOPLE}(?: [A-Z][\w.-]+){{1,2}}"
    r"(?:, (?:who|whose|which|an?|the|our|my)\b[^,;:.]*(?=,))?"
)
"""A named person with an apposition: `my colleague Jane, who wrote the ...,`."""
AS_PEOPLE = re.compile(
    r"^\W*(?:as|being|we are|we['’]re|coming from) (?:an? |the )?(?!my|our|his|her|their)"
    r"(?:[\w-]+ ){1,3}?"
    rf"(?:{PEOPLE}|shop|house|lab|startup|start-up|institute|university)\b",
    re.IGNORECASE,
)
"""The author's role: `as Linux people, ...`."""
WHY_INSTRUCTION = "an instruction to the tool, not a demand on the system"
WHY_BACKGROUND = "says how things are, not what is wanted"
WHY_MENTION = "a mention of something else, not a demand"

Aside = tuple[int, int, str]
"""Start, end, and the reason why it is no demand."""


def asides(text: str, words: Sequence[Token]) -> Iterator[Aside]:
    """Every aside of an objective; of overlapping ones the first."""
    for found in ENCLOSED.finditer(text):
        yield found.start(), found.end(), WHY_INSTRUCTION
    asked = False
    for start, end in _clauses(text):
        clause = text[start:end]
        if found := INSTRUCTION.search(clause) or (asked and SPEAKER.search(clause)):
            yield (
                _lead_of_quote(text, start, start + found.start()),
                _end_of_order(text, start + found.end(), end),
                WHY_INSTRUCTION,
            )
            continue
        asked = True
        if HEADING.match(clause):
            yield start, end, WHY_BACKGROUND
        elif (opinion := OPINION.match(clause.strip())) and not re.search(r"\d", opinion.group()):
            lead = len(clause) - len(clause.lstrip())
            yield start + lead, start + lead + opinion.end(), WHY_BACKGROUND
        elif (UNTOUCHED.search(clause) and not _asks(clause)) or (
            (elsewhere := ELSEWHERE.match(clause)) and not _asks(elsewhere[1])
        ):
            yield start, end, WHY_BACKGROUND
        elif reason := REASON.match(clause):
            yield start, start + reason.end(), WHY_BACKGROUND
        elif contrast := CONTRAST.search(clause):
            if not _asks(contrast[1]):
                yield start, start + contrast.end(1), WHY_BACKGROUND
        elif BACKGROUND.search(clause) and not _is_of_mention(clause):
            for first, last in _background(text, start, end):
                yield first, last, WHY_BACKGROUND
    for pattern in (REFERENCE, CLOSING, NAME, PERSON, AS_PEOPLE, SAYING):
        for found in pattern.finditer(text):
            yield found.start(), found.end(), WHY_MENTION
    for found in SOMEBODY.finditer(text):
        yield found.start(), found.end(), WHY_MENTION
    for found in MENTION.finditer(text):
        if end := _end_of_mention(text, words, found):
            yield found.start(), end, WHY_MENTION
    for found in DESK.finditer(text):
        yield found.start(), found.end(), WHY_MENTION


def _lead_of_quote(text: str, start: int, at: int) -> int:
    """The start of the words that introduce a quotation: `the label reads "...`."""
    lead = QUOTED.search(text, start, at)
    return lead.start() if lead and not re.search(r"\d", lead.group()) else at


def _asks(said: str) -> bool:
    """Whether words contain a number, or a verb of demand."""
    return bool(re.search(r"\d", said) or WANTING.search(said))


def _is_of_mention(clause: str) -> bool:
    """Whether background belongs to a mention: `as we had it under ...`."""
    said, mention = BACKGROUND.search(clause), MENTION.search(clause)
    return bool(said and mention and mention.start() <= said.start() < mention.end())


def _end_of_order(text: str, at: int, end: int) -> int:
    """The end of an instruction, possibly at a colon before the objective."""
    colon = re.compile(r":(?!//)").search(text, at - 1, end)
    rest = text[colon.end() : end] if colon else ""
    return colon.start() if colon and re.search(r"\d", rest) and not ORDER.match(rest) else end


def _background(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """The parts of a clause that are background: up to a colon, or between commas.

    Text before the first of them is about something else.
    """
    clause = text[start:end]
    follows = CONSEQUENCE.search(clause)
    if follows and BACKGROUND.search(clause, 0, follows.start()):
        yield start, start + follows.start()
        rest = start + follows.end()
        if BACKGROUND.search(text, start + follows.start(), end) and not _asks(text[rest:end]):
            yield start + follows.start(), end
        return
    turn = TURN.search(clause)
    if turn and BACKGROUND.search(clause, 0, turn.start()):
        yield start, start + turn.start()
        if BACKGROUND.search(text, start + turn.end(), end):
            yield from _background(text, start + turn.end(), end)
        return
    if fronted := FRONTED.match(clause):
        yield start, start + fronted.end()
        return
    parts = [(f.start(), f.end()) for f in re.finditer(r"[^,:]+", clause)]
    first = next((at for at in parts if _tells(text, start + at[0], start + at[1])), None)
    if first and first != parts[0] and not WANTING.search(clause[first[0] :]):
        yield start + first[0], end
        return
    for signs, most in (("[^:]+", r"(?!)"), ("[^,:]+", r"\d")):
        for found in re.finditer(signs, clause):
            span = start + found.start(), start + found.end()
            wanting = WANTING.search(found.group()) or re.search(most, found.group())
            if _tells(text, *span) and not wanting:
                yield span


def _tells(text: str, start: int, end: int) -> bool:
    """Whether a part is background; `today` is not, after a past tense."""
    found = BACKGROUND.search(text, start, end)
    is_new = found and found.group().lower() == "today" and PAST.search(text, 0, start)
    return bool(found) and not is_new


def _clauses(text: str) -> Iterator[tuple[int, int]]:
    at = 0
    for found in re.finditer(r"[;!?()\n]|\.(?!\w)|\Z", text):
        if text[at : found.start()].strip():
            yield at, found.start()
        at = found.end()


def _end_of_mention(text: str, words: Sequence[Token], found: re.Match[str]) -> int | None:
    """The end of the noun phrase after the opening words of a mention.

    An initial `Compared to ...:` extends to the colon.
    """
    colon = text.find(":", found.end())
    is_first = colon >= 0 and not re.search(r"\w", text[: found.start()])
    if is_first and not re.search(r"[\d.;,!?]", text[found.end() : colon]):
        return colon
    if contrast := OPENING.match(text, found.end()):
        opens = not re.search(r"\w[^.;!?]*$", text[: found.start()])
        if opens:
            return contrast.end(1)
    end = None
    for index, word in enumerate(words):
        if word.start < found.end():
            continue
        names = index + 1 < len(words) and words[index + 1].text[0].isupper()
        if word.word in ("and", "or") and end is not None and names:
            continue
        if word.word in g.SPLITTERS or word.word in SPEAKERS or quantity_at(words, index):
            break
        if end is not None and word.word in ("on", "at", "in", "using"):
            break
        end = word.end
    return end
