"""Path scoring: what a likeness to one text says of the symbols around it."""

from hypothesis import given
from hypothesis import strategies as st

from tenonos.plan.retrieval.scoring import WEIGHTS, Path, importance, scored

EDGES = [
    ("CAP_A.help", "describes", "CAP_A"),
    ("LIB_X", "provides", "CAP_A"),
    ("LIB_X", "selects", "LIB_CORE"),
    ("LIB_Y", "selects", "LIB_CORE"),
    ("LIB_X", "parent_of", "OPTION"),
]


def test_a_text_leads_to_its_symbol_and_its_providers():
    found = scored({"CAP_A.help": 0.9}, EDGES, 0.6)
    assert found["CAP_A"] == Path(0.9, (EDGES[0],))
    assert found["LIB_X"] == Path(0.9 * WEIGHTS["provides"], (EDGES[0], EDGES[1]))


def test_words_about_an_option_mean_its_library():
    found = scored({"OPTION": 1.0}, EDGES, 0.7)
    assert found["LIB_X"].edges == (EDGES[4],)
    assert "LIB_CORE" not in found


def test_a_common_dependency_weighs_less_than_a_leaf():
    found = scored({"LIB_CORE": 1.0}, EDGES, 0.5)
    assert found["LIB_CORE"].score == importance(2) < importance(0) == 1


def test_the_better_of_two_ways_counts():
    both = scored({"CAP_A": 0.7, "LIB_X": 0.69}, EDGES, 0.5)
    assert both["LIB_X"] == Path(0.69)


nodes = st.sampled_from("abcdef")
edges = st.lists(st.tuples(nodes, st.sampled_from(sorted(WEIGHTS)), nodes), max_size=20)


@given(seeds=st.dictionaries(nodes, st.floats(0, 1)), edges=edges, least=st.floats(0.1, 1))
def test_every_path_is_one_of_the_graph_and_has_the_least_score(seeds, edges, least):
    for node, path in scored(seeds, edges, least).items():
        assert least <= path.score <= max(seeds.values())
        assert set(path.edges) <= set(edges)
        at = set(path.edges[-1][::2]) if path.edges else set(seeds)
        assert node in at
