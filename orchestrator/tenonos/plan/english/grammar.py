"""Grammar of objectives: closed word classes and set phrases.

Vocabulary of applications is not included: it is looked up in the pool.
"""

from __future__ import annotations

import re

from tenonos.plan.english.negations import NEGATORS

SPLITTERS = frozenset(
    """and or nor but with plus beside besides alongside along together next near while whilst
    where that which who whoever whose when whenever as so because since if then including include
    includes containing contains featuring offering also among amid despite though although versus
    vs , ; before after until unless : . ! ? ( ) [ ] { } & + \" “ ” … — –""".split()
)
"""Words and signs that end one phrase and begin another."""

CIRCUMSTANCE = frozenset(
    """while whilst when whenever if because since although though despite so before after until
    unless""".split()
)
"""Splitters before adverbials of time and reason."""

REASONS = frozenset("because since as so while though although".split())
"""Splitters before a reason."""

RELATIVE = frozenset("that which who whoever whose where".split())
"""Splitters that begin a relative clause."""

CARRIERS = frozenset(
    "task tasks job jobs thread threads activity routine program programs application applications "
    "app apps function workload workloads software firmware code".split()
)
"""Generic nouns for tasks: with a period, any periodic task."""

TASK_MEANS = ["periodic", "task"]
"""Lookup words for a generic task with a period."""
CYCLIC = frozenset("cyclic cyclical recurring recurrent repeating repetitive".split())
"""Adjectives for a periodic task."""

COMPANION = frozenset("beside besides alongside along together next near".split())
"""Splitters that coordinate with the whole preceding phrase."""

JOINING = COMPANION | {"with"}
"""Splitters that are negated together with the following phrase."""

SENTENCE_END = frozenset(". ; ! ? ( ) [ ]".split())

OPENERS = SENTENCE_END | {":"}
"""Signs after which a capital does not indicate a name."""
TITLE_END = frozenset(". : , ; – — ( -".split())
"""Signs that end a title."""

WEAK = frozenset("for in inside within of during under against around about among into".split())
"""Prepositions of purpose and place, before optional information."""

STRONG = frozenset(
    "from to over via through using on onto upon at by between across towards toward off".split()
)
"""Prepositions of means, before a demand on the pool."""

DISTRIBUTING = frozenset("each per instances copies apiece".split())
"""Distributive words."""

MEANS = frozenset("with plus including featuring via through using over".split())
"""Words before a separate noun, known or missing."""

DEFINITE = frozenset("the this these those its their his her our my your that's".split())
POSSESSIVE = frozenset("our my his her their".split())
INDEFINITE = frozenset(["a", "an", "some", "any"])
ANOTHER = frozenset("another second third additional further extra".split())
OTHERS = frozenset("other others remaining".split())
REPEATED = {"twice": 2, "thrice": 3}
"""Counts after the noun: `a loop twice`."""
REFERRING = frozenset("them these those which".split())
"""Words for some of those named before: `two of them`."""
AFTER_PRONOUN = frozenset("every each that which with whose".split())
"""Words before which `one` is a pronoun, not a number."""
PRONOUNS = frozenset(
    "latter former one ones other others it they them itself themselves both me us him".split()
)

VERBS = frozenset(
    """i we you he she is are be been being was were am do does did done has have had having will
    ought would shall should must may might can could need needs needed want wants wanted require
    requires required requiring wish like please give gives giving get gets getting got make
    makes making made build builds building built create creates compose composes design designs
    set sets put puts let lets run runs running ran execute executes executing executed host
    hosts hosting boot boots booting start starts keep keeps keeping leave leaves leaving use
    uses used using live lives sit sits work works working operate operates operating exist
    exists consist consists consisting happen happens provide provides providing offer offers
    support supports supporting ensure ensures guarantee guarantees guaranteed allow allows
    contain see says say take takes taking go goes going come comes combine combines combined
    place places placed dedicate dedicated confine confined restricted tied locked
    pin pinned assign assigned reserve reserved allocate
    allocated own owns called named there here fit fits fitting stay stays remain remains exceed
    exceeds occupy occupies consume consumes i'd we'd i'm we're it's let's don't doesn't react
    reacts respond responds finish finishes finished written woken compile compiles compiled link
    links linked add serve serves serving served perform performs performing touch touches compute
    computes computing calculate calculates calculating tolerate tolerates tolerating accept
    accepts accepting cause causes causing caused answer answers enabled allowed permitted included
    activated looking planned intended foreseen becomes become called calling calls matters counts
    lasts lasting belong belongs rebuild rebuilt implement implements implemented realise realize
    deliver delivers
    prepare assemble arrange install installed configure configured deploy deployed""".split()
)
"""Verbs of demand without further content."""

NECESSARY = frozenset(
    "important critical primary main urgent first sure available possible".split()
)
"""Adjectives of demand."""
NOUNS_IN_LY = ("bly", "pply", "mily", "poly", "maly")
"""Endings of nouns among the words that end as adverbs do: `assembly`, `supply`."""
COPULAS = frozenset("is are was were be".split())
NEEDING = frozenset("need needs want wants require requires should shall must has gets".split())
"""Verbs with a beneficiary as subject."""
GIVING = frozenset("give gives lend lends grant grants offer offers".split())
"""Verbs with a beneficiary as first object."""

RATE_VERBS = frozenset(
    """tick ticks ticking fire fires firing iterate iterates iterating cycle cycles cycling repeat
    repeats repeating repeated wake wakes waking trigger triggers triggered release releases
    released activate activates activated update updates updated step steps invoked called
    scheduled clocked executed refresh refreshed timed paced sampling sampled sample
    samples processed handled evaluated polled poll polls polling""".split()
)
"""Verbs without content before a rate."""

RATE_NOUNS = frozenset("sample update cycle tick step poll refresh iteration release".split())
"""Such verbs that are nouns as well, and similar nouns."""

ADVERBS = frozenset(
    """just only simply also too very really quite exactly precisely at least about around
    approximately roughly each every all same whole entire rest remaining own side parallel
    simultaneously concurrently often rarely seldom frequently
    occasionally not-only even still always ever once again strictly firmly
    clearly how what i.e e.g etc actually ideally preferably possibly maybe well however both
    either sure ready ours mine now today later certainly definitely absolutely
    longer shorter sooner earlier up out down off more less most enough such per within than best no
    nothing none nobody nowhere
    instead rather anywhere everywhere somewhere whatsoever whatever otherwise anyway
    exclusively solely purely entirely merely directly accordingly independently separately
    permanently immediately automatically normally usually regularly constantly continuously
    respectively individually
    not yet yes below above beneath maximum max minimum min worst case users user people operators
    operator customers engineers able due late done completed""".split()
)

ADJECTIVES = frozenset(
    """simple nice good great robust reliable dependable typical basic plain big large new modern
    clean proper safe solid stable tight fast quick rapid slow high low strict precise accurate
    steady smooth single efficient cheap light heavy complete real usual everyday common
    different separate independent individual certain particular minimal bare pure true short
    long critical important urgent hard soft concurrent possible given other first main primary
    small tiny little running periodic-ish multi single-board current-day physical dedicated
    isolated unused spare free available arm arm64 aarch64 full embedded idle regular equal
    identical blown fledged featured grown inner total overall combined
    outer left right front rear upper lower existing faster slower smaller larger bigger quicker
    closer redundant fancy special lone sole solitary backup standby secondary""".split()
)
"""Adjectives of praise or emphasis without a demand."""

PUTTING = frozenset(
    "build add include want need put give have use compile link ship install fit".split()
)
"""Verbs of exclusion before a pronoun: `do not build one in`."""

AGENT = ("er", "or", "ers", "ors")
"""Endings of agent nouns."""

STRUCTURE = frozenset(
    """system systems vm vms machine machines guest guests instance instances image images domain
    environment setup configuration config board boards chip chips soc hardware platform
    platforms target computer box software firmware program programs application applications
    app apps task tasks job jobs activity routine workload workloads thing things something
    stuff business nonsense part silicon device fuss code solution product project composition
    kernel hardware priority speed rate frequency period cycle interval time deadline core
    cores cpu cpus processor processors memory ram footprint jitter latency latencies response
    execution wcet budget bound bounds bounded limit limits limited deadlines periods
    computation calculation release releases activation activations companion companions
    neighbour neighbor tenon mortise tenonos""".split()
)
"""Nouns for the composition itself, which are no demands."""

OURS = frozenset(["tenon"])
"""Lookup words for the content of a real-time VM."""

TASKS = CARRIERS & STRUCTURE
"""Nouns for things with a period, each in a VM."""

MACHINE = frozenset(
    """board chip soc system machine platform processor cpu hardware computer part device
    silicon""".split()
)
GUESTS = frozenset(
    "vm vms guest guests partition partitions instance instances machines domains".split()
)

LABEL = re.compile(
    r"\b(?:(?i:partition|vm|guest|domain|instance|cell|zone)s? (?i:one|two|three|four|\d\b|[a-h]\b)"
    r"(?=(?i: (?:runs?|is|has|gets?|hosts?|holds?|contains?|executes?|does|"
    r"keeps?|uses?|drives?|needs?|takes?|reads?|controls?|must|should|shall|will)\b)|\s*[:=(,])"
    r"|\b(?i:partition|vm|guest|domain|cell|zone) ['\"“‘][\w -]{1,20}['\"”’]"
    r"|(?<=[,;] )(?:and )?(?i:partition|vm|guest|domain|instance|cell|zone) (?:\d|[A-Ha-h])"
    r"(?= (?:an?|the) )"
    r"|\b(?i:in|on) (?i:the )(?i:first|second|third|fourth|other)"
    r"(?i: (?:one|vm|partition|guest))?(?=,| (?i:the|an?) )"
    r"|(?<=\w )(?<!in )[A-H](?=\s*:)"
    r"|(?i:(?:(?<=task )|(?<=job )|(?<=thread )|(?<=program ))(?:\d|[a-h])\b"
    r"(?=\s*[:=(,]| (?:runs?|has|is|every|at)\b)))"
)
"""Labels of items: `VM 1 is ...`, `partition B: ...`, `loop A: ...`."""

_PLACES = "left right|right left|front rear|rear front|upper lower|top bottom|inner outer"
SIDES = frozenset(re.findall(r"\w+", _PLACES))
"""Positions that distinguish items: `the left wheel`."""
_SIDES = f"{_PLACES}|primary backup|primary secondary|main backup|active standby"
_PAIRS = "|".join(
    rf"(?<={one} )and (?:(?:an?|one|the) )?(?={other} \w)"
    for one, other in (pair.split() for pair in _SIDES.split("|"))
)
COUPLE = re.compile(rf"\b(?:{_PAIRS})", re.IGNORECASE)
"""Pairs by position or order: `a left and a right wheel`, `primary and backup`."""

BARE = re.compile(
    r"\bbare[ -]?metal\b|\bon (?:the )?bare (?:hardware|machine|board)\b"
    r"|\b(?:runs?|running|boots?|booting) bare\b",
    re.I,
)
BARE_MEANS = "hypervisor"
"""Lookup word for the part that bare metal excludes."""

ALONE = re.compile(
    r"\b(?:(?:all )?alone|solo|stand-?alone|by itself|on its own(?! (?:core|cpu|processor))"
    r"|(?:and |with )?nothing (?:else|more)|nobody else|no one else"
    r"|no other (?:vms?|guests?|systems?|os(?:es)?)"
    r"|without (?:any )?(?:other|companion)s?(?: vms?| guests?)?)\b",
    re.IGNORECASE,
)
SHARING = re.compile(
    r"\b(?:tak(?:e|es|ing) turns (?:on|with) (?:a|one|the)(?: (?:same|single))?"
    r" (?:core|cpu|processor)"
    r"|shar(?:e|es|ed|ing)(?: (?:a|one|the|its|their|that|same|single))*(?: cpu)?"
    r" (?:core|cpu|processor)s?"
    r"|(?:on |in )?(?:the same|a shared|a common|one shared)(?: cpu)? (?:core|cpu|processor)"
    r"|(?:one|a|the) (?:core|cpu|processor) (?:is )?shared"
    r"|shar(?:e|es|ed|ing) (?:(?:a|some|the|its|their) )*(?:memory|buffers?|pages?))\b",
    re.IGNORECASE,
)
"""A core or memory for several VMs: looked up like any phrase, not a count or an amount."""
APART = re.compile(
    rf"\b(?:{'|'.join(NEGATORS)}|instead of|rather than)"
    r"(?: (?:be|to|ever|supposed|meant|allowed|intended|permitted|going|made|forced|may|must"
    r"|can|should|the|two|three|both|these|those|they|them|of|vms|guests|partitions))*"
    rf" (?:{SHARING.pattern})"
    r"|\b(?:nothing|none|no (?:core|cpu|processor))(?: of (?:it|them|these|those))?"
    r"(?: is| are| being| to be| gets?)? shared\b",
    re.IGNORECASE,
)
"""The same, forbidden."""
SHARED = "share a core"
"""Lookup words for sharing, which is excluded."""
TOGETHER = re.compile(
    r"\b(?:in|inside|within) (?:the same|a single|one single|one common|one and the same) "
    r"(?:vm|partition|guest|image)\b|\b(?:both|all) in one (?:vm|partition|guest|image)\b"
    r"|(?<=tasks )(?:(?:running|that run) )?(?:in|inside|within) (?:an?|one) (?:real[ -]time )?"
    r"(?:vm|partition|guest|image)\b"
    r"|\b(?:in|inside|within) (?:the|an?|one|our) (?:real[ -]time )?(?:vm|partition|guest|image)\b"
    r"(?= (?:[\w'’-]+ ){0,6}?[\w'’-]*,? (?:one|two|three|several|the first) (?:periodic )?tasks?"
    r"\b)",
    re.IGNORECASE,
)
"""Several applications in one VM, a demand that separate VMs do not satisfy."""
_BOUNDED = (
    r"(?:(?:strictly |tightly |well |hard )?bounded|low|minimal|lowest|no|zero|little|small|tight"
    r"|guaranteed|limited|predictable|known|without|least|hardly any|negligible|almost no"
    r"|controlled)"
)
JITTER = re.compile(
    rf"\b(?:{_BOUNDED}(?:[- ]?(?:timing|release|start|wake-up|any|possible|worst-case))?[- ]jitter"
    r"|jitter(?:[- ]free|less|[- ]bounded)|bound(?:s|ed)? (?:on|for) (?:its |the |timing )*jitter"
    r"|jitter (?:is|must be|should be|stays|kept|that is|has to be|remains|being) "
    r"(?:strictly |tightly )?(?:bounded|low|minimal|small|limited)"
    r"|(?:timing |time[- ])?determinis(?:tic|tically|m)|predictab(?:le|ly|ility)(?: timing)?)\b",
    re.IGNORECASE,
)
REAL_TIME = re.compile(
    r"\b(?:hard[- ])?real[- ]?time\b(?! (?:vms|partitions)\b)|\b(?-i:RT)\b(?! vms)"
    r"|\btime[- ]critical\b"
    r"|\b(?:never|without ever|not) (?:be(?:ing)? late|miss(?:es|ing)?(?: an?y?| its| the)? "
    r"(?:deadlines?|periods?|releases?|beats?))\b|\balways (?:on|in) time\b"
    r"|\bno (?:missed|lost|late) (?:deadlines?|releases?|periods?)\b"
    r"|\b(?:no|without) (?:deadline|period|release) misses\b"
    rf"|\b(?:{_BOUNDED})(?:[- ](?:worst-case|interrupt|wake-?up))?[- ]"
    r"(?:latency|latencies|response times?|delays?)\b",
    re.IGNORECASE,
)

PERIOD = re.compile(r"period|cycle|interval|sampling|loop time|repeat|tick", re.I)
TIME_KINDS: tuple[tuple[str, re.Pattern[str]], ...] = (
    ("jitter", re.compile(r"jitter|±|variation|deviation|wobble", re.I)),
    ("boot", re.compile(r"boots?$|booting|start-?up|starts?$|restart|warranty", re.I)),
    (
        "wcet",
        re.compile(
            r"wcet|budget|execution|worst-case|comput|calculat|work$|tak(?:es?|ing)$|needs?$"
            r"|lasts?$|busy|us(?:e|es|ing)$|spend"
            r"|^cpu$|^case$",
            re.I,
        ),
    ),
    (
        "deadline",
        re.compile(r"deadline|finish|complet|respon|react|answer|latency|done|late|due", re.I),
    ),
    ("period", PERIOD),
)
"""Meaning of a time, by a word near it."""
SYMBOLS = {
    **dict.fromkeys("f fs t ts".split(), "period"),
    "c": "wcet",
    "d": "deadline",
    "j": "jitter",
}
"""Letters that stand for a task's parameters before a sign: `T = 5 ms, C = 1 ms` (Liu, Layland)."""
SIGNS = frozenset("= < > ≤ ≥ ≈ ~ :".split())

IMAGE_WORDS = re.compile(
    r"\b(?:image|binary|flash|rom|footprint|code|text|program size|size)\b", re.I
)
RAM_WORDS = re.compile(r"\b(?:ram|memory|heap|dram)\b", re.I)
AT_MOST = re.compile(
    r"(?:under|below|beneath|less than|fewer than|at most|within|no more than|not more than|up to"
    r"|max(?:imum)?(?: of)?|maximal|not exceeding|fits? in(?:to|side)?|smaller than|in under"
    r"|limited to|≤|<=?)\s*(?:an?\s|only\s|some\s)?$",
    re.IGNORECASE,
)

NO_MORE = re.compile(
    r"\s*(?:at (?:the )?(?:most|worst)|or less|max(?:imum)?|tops)\b", re.IGNORECASE
)
"""The same after a quantity."""

WHY_PURPOSE = "says what the system is for; nothing the pool could add"
WHY_ABSENT = "nothing in the pool does that, so it is left out in any case"
WHY_CIRCUMSTANCE = "says under what circumstances; nothing the pool could add"
WHY_MORE = "says more of what is asked for"
WHY_ARGUMENT = "says what is worked on; nothing the pool could add"

EVERYDAY = frozenset(
    """step steps order moment moments bit bits word words place places way ways matter case cases
    point points sort kind lot lots pair middle whole rest end ends beginning start half instant
    instants microsecond microseconds millisecond milliseconds second seconds minute minutes hour
    hours day days week weeks month months year years turn turns extent degree manner fashion
    thing things fact facts reason reasons occurs occurred happens happened lies lie stands stand
    comes goes""".split()
)
"""Words without any possible demand."""
