"""Grammar of background: statements about the present or past without a demand."""

from __future__ import annotations

import re

PAST = re.compile(
    r"\b(?:before|previous(?:ly)?|formerly|earlier|used to|was|were|old|legacy)\b", re.IGNORECASE
)
"""Words after which `today` is part of a demand."""
PEOPLE = (
    r"(?:teams?|people|persons?|colleagues?|groups?|departments?|engineers?|customers?|users?"
    r"|operators?|company|companies|clients?|vendors?|folks|guys?|m[ae]n|wom[ae]n|those|anyone"
    r"|everyone|somebody|someone)"
)
DOCUMENTS = (
    r"(?:spec(?:ification)?s?|documents?|documentation|papers?|brochures?|data ?sheets?|manuals?"
    r"|thes[ie]s|dissertations?|analys[ei]s|stud(?:y|ies)|surveys?|lectures?|talks?|blogs?|posts?"
    r"|reports?|books?|articles?|leaflets?|slides?|posters?|adverts?|catalogues?|pdfs?|readmes?"
    r"|flyers?|web ?sites?|presentations?|e-?mails?|letters?|notes?|tickets?)"
)
RIVALS = (
    r"(?:competit(?:ors?|ion)|rivals?|boss(?:es)?|suppliers?|vendors?|manufacturers?|predecessors?"
    r"|neighbou?rs?|marketing|sales|management|professors?|teachers?|students?|interns?|friends?"
    r"|brothers?|sisters?|uncles?|industry)"
)
ASKING = (
    r"(?:wants?|wanted|needs?|needed|requires?|required|asks?|asked|demands?|demanded|insists?"
    r"|insisted|expects?|expected|must|should|shall|will|would|can|could|may|has to|have to"
    r"|wish(?:es)?|ordered|orders?)"
)
"""Verbs of demand."""
ELSEWHERE = re.compile(
    r"(.*?),? (?:(?:but|though|and|yet|only) )?(?:all of )?"
    r"(?:that|this|it|they|those|these|which|both)"
    r"(?: (?:is|are|was|were|happens?|runs?|lives?|sits?|stays?|takes place|belongs?)|['’]s)"
    r"(?: (?:all|done|made|only|just|still|entirely|completely|quite|handled))*"
    r" (?:(?:on|in|at|by|to|up to|for|part of|a matter for) )?"
    r"(?:(?:an?|the|some|yet) )?(?:(?:different|separate|other|another|someone else['’]s"
    r"|somebody else['’]s|others['’]) (?:\w+ ){0,2}?(?:computer|machine|board|box|chip|device|unit"
    r"|system|server|cabinet|building|room|department|team|company|project|product|contract|story"
    r"|matter|problem|topic|question|supplier|vendor|order|job|person|ecu|pc|plc|affair|business)s?"
    r"|elsewhere|not (?:part of|in|within|for|a part of) (?:this|the|our|that) \w+|none of our \w+"
    r"|not (?:our|my|your) (?:\w+ )?\w+)\b",
    re.IGNORECASE | re.DOTALL,
)
"""A statement about another system: `..., but that is another machine`."""
UNTOUCHED = re.compile(
    r"\b(?:stays?|remains?|(?:is|are) (?:left|kept)|keeps? (?:running|working)) (?:just |exactly )?"
    r"(?:as (?:it|they|things) (?:is|are|was|were|stand)|as (?:is|are|before)\b|where (?:it"
    r"|they) (?:is|are)"
    r"|out of (?:this|scope|it))",
    re.IGNORECASE,
)
"""Existing parts, which are not to be built: `the old panel stays as it is`."""
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
    r"|(?:i|we) (?:know|come from|came from|tried|had"
    r"|already have)|(?:is|are|was|were) (?:far )?too \w+(?: for us)?"
    r"|(?:is|are|was|were) (?:broken|obsolete|discontinued|deprecated)|we (?:bought|inherited)"
    r"|will (?:follow|come later|be (?:sent|delivered|provided|done) (?:later|soon|separately))"
    r"|(?:our|my|the|their) (?:\w+ ){1,3}?(?:does|do|handles?|covers?) [^.;:]*\balready"
    r"|already (?:does|do|handles?|covers?|exists?)"
    r"|(?:our|my|their|the|his|her) (?:\w+ )?(?:competitors?|rivals?|colleagues?|boss|suppliers?"
    r"|predecessors?|neighbou?rs?|laptops?|desktops?|phones?|workstations?)"
    r"(?:['’]s? (?:\w+ ){0,2}?\w+)?"
    r" (?:uses?|used|likes?|prefers?|swears?|sells?|offers?|thinks?|runs?|ran|ha[sd]|do(?:es)?|did"
    r"|manages?|reach(?:es)?|achieves?|gets?|boasts?|claims?|takes?|comes? with)"
    r"|(?:our|my|their|the|some|most|many|all) (?:\w+ ){0,2}(?:loves?|adores?|hates?|dislikes?"
    r"|enjoys?"
    r"|swears? by|dreams? of)"
    r"|there (?:is|are) [^.;:]*\balready|already (?:there|in place|installed|in service|in use)"
    r"|(?:keeps?|kept|goes|go|went) (?:on )?(?:asking|saying|telling|talking|complaining|raving"
    r"|dreaming|wondering)"
    r"|(?:people|everybody|everyone|some(?:body|one)?|others|marketing|sales|management|they)"
    r" (?:\w+ )?(?:asks?|talks?|raves?|wonders?|dreams?) (?:me |us )?(?:about|of|for)"
    r"|(?:maybe|perhaps|possibly|probably) (?:in|for|with) (?:a|the|some|our) (?:later|next|future)"
    r"|(?:is|are) (?:handled|done|provided|covered|taken care of|served|managed|supplied"
    r"|looked after) (?:by|on|in|at) (?:(?:an?|the|some) )?(?:different|separate|other|another"
    r"|external|someone else|somebody else)"
    r"|(?:can|could|does|do|has|have) (?:all (?:of )?)?(?:this|that|these) (?:and more|too"
    r"|as well|already)"
    r"|(?<!nothing )had (?:an?|the|no|its|their|our|two|three|several|some|only)"
    r"|(?:ran|was running) (?:on|under|with|in)|(?:hated|relied on|came (?:with|from)|consisted of"
    r"|got rid of|stuck to|swore by)"
    rf"|(?:the|our|this|that|my|an?|their|some) (?:[\w'’-]+ ){{0,3}}?{DOCUMENTS}"
    r"(?: (?:on|about|of|by|in|from) (?:[\w-]+ ?){1,2}?)? (?:\w+ly |also )?"
    r"(?:mentions?|lists?|shows?|praises?|advertises?|talks? (?:of|about)|describes?|ends? with"
    r"|says?|concerns?|covers?|treats?|argues?|claims?|deals? with|discuss(?:es)?"
    r"|compares?|promises?|raves?|boasts?)"
    r"|(?:the|our|another|some|their) (?:\w+ ){0,2}?(?:teams?|groups?|departments?|company)"
    r" (?:(?:next door|upstairs|downstairs|(?:across|in|down) the \w+) )?"
    r"(?:uses?|used|likes?|prefers?|swears?|runs?|ran|ha[sd]|built|works? (?:on|with))"
    rf"|(?:the|our|another|some|those|their) (?:\w+ ){{0,2}}?{PEOPLE}"
    r" (?:next door|upstairs|downstairs|abroad|(?:across|in|down|of|from|at"
    r"|over in) [^,;:.]{1,25}?)"
    r" (?:uses?|used|likes?|prefers?|swears?|runs?|ran|ha(?:s|d|ve)|built|works?|sells?|makes?)"
    rf"|(?:(?:our|my|the|their|his|her|an?|some|most|all) (?:\w+ )?)?{PEOPLE}"
    r"(?: (?:on|in|at|from) (?:the|our|an?|some) \w+)? (?:\w+ly )?"
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
    rf"|(?:(?:our|my|their|the|his|her|its|an?|some|one) )?(?:[\w-]+ ){{0,2}}?(?:{RIVALS}"
    rf"|(?:from|of|by|at) (?:(?:our|my|the|an?|their|another) )?(?:\w+ )?{RIVALS})"
    rf" (?!{ASKING}\b)(?:\w+ly )?(?:\w+[^s\W]s|\w+ed|ha[sd]|have|was|were|ran|had|sold|made|built"
    r"|wrote|went|did)\b"
    rf"|(?:(?:our|my|their|the|some|many|most) )?(?:[\w-]+ )?"
    rf"(?!some|any|every|those){PEOPLE}(?: \w+ \w+)? (?:still )?"
    r"(?:sits?|sat|thinks?|thought|says?|said|tells?|told|writes?|wrote|speaks?|spoke|sleeps?"
    r"|works? (?:in|at|from))\b"
    r"|(?:nobody|no one|none of us|hardly anyone|few of us)(?: (?:here|there|of us|in the \w+))?"
    r" (?:has|have|had|ever|uses?|used|knows?|knew|remembers?|misses|likes?)"
    r"|(?:nobody|no one) (?:here |there )?(?:is (?:going|there|likely) to|will ever|would ever)\b"
    r"|(?:i|we)(?: have|['’]ve| had)(?: (?:all|also|just|once|never|already|even))?"
    r" (?:read|seen|heard|studied|watched|attended|visited|met|used|played with|looked at"
    r"|been (?:using|running|told)|worked (?:with|on|under))"
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
    r"|(?<!has )(?<!have )asked|requested|complained|told us)\b",
    re.IGNORECASE,
)
