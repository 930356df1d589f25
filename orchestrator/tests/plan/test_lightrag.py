"""Retrieval in LightRAG's knowledge graph, offline and by the embeddings of an endpoint."""

import json
import os

import pytest
from stubs import KEY, served

from tenonos import cli
from tenonos.errors import InputError, WorkError
from tenonos.plan.compose import compose
from tenonos.plan.explain import Explainer
from tenonos.plan.llm.embeddings import BATCH, Embeddings
from tenonos.plan.pool import LIGHTRAG, Pool, pool_by
from tenonos.plan.retrieval.graph import lib_graph
from tenonos.plan.retrieval.lightrag import MODEL, knowledge
from tenonos.settings import SETTINGS
from tenonos.setup import lightrag


@pytest.fixture(scope="module")
def there():
    """What only a machine that was offline may do without."""
    if not lightrag.there() and not os.environ.get("CI"):
        pytest.skip("no LightRAG here")
    assert lightrag.there(), "there is no LightRAG: ./tenon test installs it"


@pytest.fixture(scope="module")
def graph_pool(there):
    return Pool(retrieval=LIGHTRAG)


def rows(count, size=3):
    """What an endpoint answers: vectors that point along an axis, in any order."""
    data = [
        {"index": i, "embedding": [float(i % size == k) for k in range(size)]} for i in range(count)
    ]
    return 200, json.dumps({"data": data[::-1]}).encode()


def vectors(texts, seconds=20):
    server = Embeddings("m", seconds, 0)
    server.start("", "")
    return server.vectors(texts)


def test_the_whole_graph_is_given_to_it(pool):
    graph = lib_graph(pool.tree.kconf)
    given = knowledge(graph)
    assert len(given["entities"]) == len(given["chunks"]) == graph.number_of_nodes()
    assert len(given["relationships"]) == graph.number_of_edges()
    relations = {one["keywords"] for one in given["relationships"]}
    assert {"describes", "provides", "parent_of", "selects"} <= relations


@pytest.mark.parametrize(
    ("objective", "library"),
    [
        ("a 1 kHz control loop beside Linux", "apps/motor"),
        ("a POSIX program in C with message queues", "tenon/posix"),
        ("a 2 kHz servo beside Linux, with supervision and a timer", "tenon/watchdog"),
    ],
)
def test_an_objective_is_answered_as_by_rankings(graph_pool, tmp_path, objective, library):
    """Libraries, configuration, demands and files, not the names of the images alone."""
    answer, ranked = compose(objective, pool=graph_pool), compose(objective, pool=Pool())
    assert answer.images == ranked.images
    assert (answer.plan, answer.ignored) == (ranked.plan, ranked.ignored)
    assert answer.analysis == ranked.analysis
    assert any(library in image.libraries for image in answer.images.values())
    found, meant = (
        looked_up(each, tmp_path / name, pool)
        for name, each, pool in (("graph", answer, graph_pool), ("ranked", ranked, Pool()))
    )
    assert found
    assert all(look.score >= look.threshold and look.path for look in found)
    assert meanings(found) == meanings(meant)
    files = [(tmp_path / name / "system.toml").read_text() for name in ("graph", "ranked")]
    assert files[0] == files[1]


def looked_up(composition, folder, pool):
    """The interpretations of words in a written composition."""
    composition.write(folder)
    return [look for e in Explainer(folder, pool).all() for look in e.found]


def meanings(found):
    """The symbols that words were taken for."""
    return {(look.words, look.path[-1].target) for look in found}


@pytest.mark.parametrize("objective", ["face recognition at 30 Hz", "a loop that blorps"])
def test_what_the_pool_lacks_is_missing(graph_pool, objective):
    assert compose(objective, pool=graph_pool).missing


def test_vectors_come_in_the_order_of_the_texts(monkeypatch):
    with served(monkeypatch, rows(BATCH), rows(2)) as server:
        found = vectors([f"text {i}" for i in range(BATCH + 2)])
    assert found[1] == [0.0, 1.0, 0.0] and found[BATCH] == [1.0, 0.0, 0.0]
    paths, headers, questions = zip(*server.asked, strict=True)
    assert set(paths) == {"/v1/embeddings"}
    assert headers[0]["Authorization"] == f"Bearer {KEY}"
    assert [len(question["input"]) for question in questions] == [BATCH, 2]


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"[]",
        b'{"data": []}',
        b'{"data": [{"index": 1, "embedding": [1.0]}]}',
        b'{"data": [{"index": 0, "embedding": []}]}',
        b'{"data": [{"index": 0, "embedding": [NaN]}]}',
        b'{"data": [{"index": 0, "embedding": ["x"]}]}',
        b'{"data": [{"index": 0, "embedding": 1}]}',
        b'{"data": [{"index": 0, "embedding": [1.0]}, {"index": 0, "embedding": [1.0]}]}',
        b"[" * 100_000,
    ],
)
def test_an_invalid_embedding_is_reported_in_one_line(monkeypatch, body):
    with (
        served(monkeypatch, (200, body)),
        pytest.raises(WorkError, match="is not a list of embeddings"),
    ):
        vectors(["text"])


def test_a_refusing_server_is_reported_without_the_key(monkeypatch):
    with served(monkeypatch, (401, KEY.encode())), pytest.raises(WorkError) as told:
        vectors(["text"])
    assert "status 401: …" in str(told.value) and KEY not in str(told.value)


def test_vectors_of_unlike_lengths_are_refused(monkeypatch):
    with (
        served(monkeypatch, rows(BATCH), rows(1, 4)),
        pytest.raises(WorkError, match="vectors differ in length"),
    ):
        vectors(["text"] * (BATCH + 1))


def test_the_endpoints_embeddings_decide_what_is_near(there, monkeypatch, pool):
    """Words that no text of the pool has mean what their vector is like."""

    def like(text):
        watchful = "watchdog" in text.lower() or "guardian" in text.lower()
        return [1.0, 0.0] if watchful else [0.0, 1.0]

    def answer(handler):
        texts = handler.server.asked[-1][2]["input"]
        data = [{"index": i, "embedding": like(text)} for i, text in enumerate(texts)]
        handler.send_response(200)
        handler.end_headers()
        handler.wfile.write(json.dumps({"data": data}).encode())

    assert not pool.retriever.search(["guardian"])
    monkeypatch.setenv(MODEL, "m")
    with served(monkeypatch, answer):
        found = Pool(retrieval=LIGHTRAG).retriever.search(["guardian"])
    assert "watchdog" in {hit.entry.name for hit in found}
    assert any(hit.path for hit in found)


def test_an_unknown_retrieval_is_refused(capsys):
    assert cli.run(["compose", "hello", "--retrieval", "oracle"]) == 2
    assert 'unknown retrieval "oracle"' in capsys.readouterr().err


def test_its_absence_is_reported_when_offline(monkeypatch):
    monkeypatch.setattr(lightrag, "there", lambda: False)
    monkeypatch.setattr(SETTINGS, "offline", True)
    with pytest.raises(InputError, match="LightRAG is not installed"):
        pool_by(LIGHTRAG)
