"""The tuning set of the offline planner, by class of phrasing."""

from objectives.attached import ATTACHED
from objectives.case import Case
from objectives.clauses import CLAUSES
from objectives.compounds import COMPOUNDS
from objectives.engineers import ENGINEERS
from objectives.fieldwork import FIELDWORK
from objectives.idioms import IDIOMS
from objectives.notes import NOTES
from objectives.outsiders import OUTSIDERS
from objectives.plain import NUMBERS, PARAPHRASE, PLAIN
from objectives.refused import CONFLICT, MISSING, UNUSED
from objectives.relations import CAPABILITIES, CORES, MENTION, NEGATION, SEVERAL
from objectives.strangers import STRANGERS

__all__ = ["CASES", "Case"]

CLASSES = {
    "plain": PLAIN,
    "paraphrase": PARAPHRASE,
    "numbers": NUMBERS,
    "cores": CORES,
    "several": SEVERAL,
    "negation": NEGATION,
    "mention": MENTION,
    "capabilities": CAPABILITIES,
    "missing": MISSING,
    "unused": UNUSED,
    "conflict": CONFLICT,
    "clauses": CLAUSES,
    "compounds": COMPOUNDS,
    "notes": NOTES,
    "attached": ATTACHED,
    "engineers": ENGINEERS,
    "fieldwork": FIELDWORK,
    "idioms": IDIOMS,
    "outsiders": OUTSIDERS,
    "strangers": STRANGERS,
}
CASES = [case for cases in CLASSES.values() for case in cases]
