"""What any planner must keep to, and the Lib-Graph that claims are explained by."""

import pytest

from tenonos.errors import WorkError
from tenonos.plan.compose import compose
from tenonos.plan.models import Guest, Item, Plan
from tenonos.plan.retrieval.graph import RELATIONS, lib_graph, to_json, why

TEXT = "a 1 kHz control loop"


class Liar:
    """A planner that says what it is told to."""

    def __init__(self, *items):
        self.items = list(items)

    def plan(self, objective, board, pool):
        guests = [Guest(name="motor", kind="tenon")]
        return Plan(objective=objective, planner="liar", guests=guests, items=self.items)


def claim(value="control.loop", source="control loop", span=(8, 20), image="motor"):
    return Item(kind="capability", value=value, source=source, span=span, image=image)


def test_another_planner_can_stand_in_for_the_reader(pool):
    answer = compose(TEXT, pool=pool, using=Liar(claim()))
    assert answer.planner == "liar"
    assert list(answer.images) == ["mortise", "motor"]


@pytest.mark.parametrize(
    ("item", "complaint"),
    [
        (claim(source="web server"), "is not what stands at"),
        (claim(span=(0, 5)), "is not what stands at"),
        (claim(value="net.invented"), "nothing in the pool is called net.invented"),
        (claim(image="ghost"), "there is no VM ghost"),
    ],
)
def test_a_claim_that_cannot_be_checked_is_refused(pool, item, complaint):
    with pytest.raises(WorkError, match=complaint):
        compose(TEXT, pool=pool, using=Liar(claim(), item))


def test_the_graph_has_the_relations_of_the_paper_and_ours(pool):
    graph = lib_graph(pool.tree.kconf)
    ours = set(RELATIONS) - {"implies", "requires"}
    assert {data["relation"] for *_, data in graph.edges(data=True)} == ours

    def related(a, b):
        return {data["relation"] for _, to, data in graph.out_edges(a, data=True) if to == b}

    assert related("LIB_CORE_TIMER.help", "LIB_CORE_TIMER") == {"describes"}
    assert related("LIB_CORE_TIMER", "CAP_TIME_TICKLESS") == {"provides"}
    assert "selects" in related("APP_MOTOR", "LIB_TENON_API")
    assert "depends_on" in related("APP_MOTOR", "IMAGE_TENON")
    assert "parent_of" in related("LIB_MORTISE_PARTITION", "MORTISE_VMS")
    assert len(to_json(graph)["nodes"]) == graph.number_of_nodes()


def test_a_path_leads_through_chosen_symbols_only(pool):
    graph = lib_graph(pool.tree.kconf)
    through = [
        "APP_MOTOR",
        "LIB_TENON_API",
        "LIB_TENON_THREAD",
        "LIB_TENON_KERNEL",
        "LIB_CORE_TIMER",
    ]
    path = why(graph, ["APP_MOTOR"], "LIB_CORE_TIMER", through)
    assert [a for a, _, _ in path] == through[:-1]
    assert why(graph, ["APP_MOTOR"], "LIB_CORE_TIMER", ["APP_MOTOR"]) == []
