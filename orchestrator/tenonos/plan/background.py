"""Background: the English that says how things are, or were, and asks for nothing."""

from __future__ import annotations

import re

PAST = re.compile(
    r"\b(?:before|previous(?:ly)?|formerly|earlier|used to|was|were|old|legacy)\b", re.IGNORECASE
)
"""After it, `today` is what shall be."""
PEOPLE = (
    r"(?:teams?|people|persons?|colleagues?|groups?|departments?|engineers?|customers?|users?"
    r"|operators?|company|companies|clients?|vendors?|folks|guys?|m[ae]n|wom[ae]n|those|anyone"
    r"|everyone|somebody|someone)"
)
BACKGROUND = re.compile(
    r"\b(?:currently|today|at present|at the moment|used to|until now|so far|previously|formerly"
    r"|before,? (?:this|it|that|we|there) (?:was|were|had|ran|used)"
    r"|(?:previous|old|former|earlier|last|existing|legacy|original)"
    r" (?:\w+,? ){1,4}?(?:had|was|were|ran|used|did|needed|required|wanted|came|contained|relied"
    r"|crashed|failed|hung|froze|broke|suffered|lacked|died)"
    r"|(?:later|future|next|following) (?:releases?|versions?|revisions?|phases?|generations?)"
    r" (?:may|might|will|could|can|shall)"
    r"|in the past|last (?:year|month|week|time|night|spring|summer|autumn|fall|winter|decade)"
    r"|yesterday|(?:years?|months?|weeks?|days?|decades?) ago|back then|in those days|for years"
    r"|we (?:know|come from|came from|tried|had"
    r"|already have)|(?:is|are|was|were) (?:far )?too \w+(?: for us)?"
    r"|(?:is|are|was|were) (?:broken|obsolete|discontinued|deprecated)|we (?:bought|inherited)"
    r"|will (?:follow|come later|be (?:sent|delivered|provided|done) (?:later|soon|separately))"
    r"|(?:our|my|the|their) (?:\w+ ){1,3}?(?:does|do|handles?|covers?) [^.;:]*\balready"
    r"|already (?:does|do|handles?|covers?|exists?)"
    r"|(?:our|my|their|the|his|her) (?:\w+ )?(?:competitors?|rivals?|colleagues?|boss|suppliers?"
    r"|predecessors?|neighbou?rs?|laptops?|desktops?|phones?|workstations?)"
    r"(?:['’]s? (?:\w+ ){0,2}?\w+)?"
    r" (?:uses?|used|likes?|prefers?|swears?|sells?|offers?|thinks?|runs?|ran|ha[sd])"
    r"|(?:the|our|another|some|their) (?:\w+ ){0,2}?(?:teams?|groups?|departments?|company)"
    r" (?:(?:next door|upstairs|downstairs|(?:across|in|down) the \w+) )?"
    r"(?:uses?|used|likes?|prefers?|swears?|runs?|ran|ha[sd]|built|works? (?:on|with))"
    rf"|(?:the|our|another|some|those|their) (?:\w+ ){{0,2}}?{PEOPLE}"
    r" (?:next door|upstairs|downstairs|abroad|(?:across|in|down|of|from|at"
    r"|over in) [^,;:.]{1,25}?)"
    r" (?:uses?|used|likes?|prefers?|swears?|runs?|ran|ha(?:s|d|ve)|built|works?|sells?|makes?)"
    rf"|(?:our|my|the|their|his|her|an?|some|most|all) (?:\w+ )?{PEOPLE} (?:\w+ly )?"
    r"(?:knows?|knew|suggest(?:s|ed)?|propose[sd]?|recommend(?:s|ed)?|mention(?:s|ed)?"
    r"|insist(?:s|ed)?|advise[sd]?|believes?|talk(?:s|ed) (?:of|about))"
    r"|(?:do(?:es)?(?: not|n['’]t)|no longer) matters?"
    r"|(?:is|are) (?:irrelevant|overkill|beside the point|another (?:story|matter|topic))"
    r"|(?:is|are) being (?:retired|replaced|phased out|scrapped|decommissioned|dismantled)"
    r"|(?<!if that )(?<!if it )(?<!though it )(?:was|were) (?:an?|the|our)"
    r"|(?<=, )(?:(?:which|who|and) )?(?:was|were) \w+"
    r"|(?:i|we) (?:(?:once|recently|also|just|even) )?(?:read|saw|heard|watched|attended"
    r"|learn(?:ed|t)"
    r"|visited|met|spoke|experimented|evaluated|compared|tested|benchmarked|considered)"
    r"|(?:that|this|which|it) (?:is|['’]s) (?:their|his|her|another|somebody else['’]s"
    r"|someone else['’]s"
    r"|not our|none of our) (?:\w+ )?(?:business|matter|problem|story|concern|affair|job|topic)"
    r"|irrelevant|(?<=, )(?:an?|the|our|some) [^,;:.]{1,40} (?:does|handles|covers) (?:that|this"
    r"|it)"
    r"|(?:some ?day|one day|maybe later|in the future|next (?:year|month|quarter|time))"
    r"|(?:inspired|taught|convinced|reminded) (?:us|me|this)"
    r"|(?:those|people|anyone|everyone|users|engineers) who (?:know|like|use|used|miss|remember)"
    r"|(?:failed|let) us(?: down)?|could(?: not|n't) (?:do|keep|manage|cope)|not an option"
    r"|we (?:left|dropped|abandoned|ditched|outgrew|gave up|are leaving|are done with)"
    r"|asked|requested|complained|told us)\b",
    re.IGNORECASE,
)
