"""Retrieval by LightRAG: the Lib-Graph as its knowledge graph, paths through what it finds.

LightRAG stores entities, relations and texts, and finds those near a phrase by their embeddings.
Embeddings are computed here from character n-grams, unless `TENON_EMBEDDING_MODEL` names a model of
the endpoint at `OPENAI_BASE_URL`. No language model is used. The result is a subgraph, in which
paths from the phrase to symbols are scored; a phrase means the best-scored symbols.
"""

from __future__ import annotations

import asyncio
import logging
import os
import tempfile
import weakref
import zlib
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from tenonos.plan.llm.embeddings import Embeddings
from tenonos.plan.planner import SECONDS
from tenonos.plan.retrieval.knowledge import Entry
from tenonos.plan.retrieval.retrieve import NEARER, Hit, Retriever
from tenonos.plan.retrieval.scoring import Edge, scored

if TYPE_CHECKING:
    import networkx
    import numpy

MODEL = "TENON_EMBEDDING_MODEL"
NEAREST = 20
"""The number of entities to find."""
_DIMENSIONS = 1024
_GRAMS = (3, 4)
_TOKENS = 8192


class GraphRetriever(Retriever):
    """The index of a pool's entries in a knowledge graph."""

    def __init__(self, entries: Iterable[Entry], graph: networkx.MultiDiGraph) -> None:
        super().__init__(entries)
        self._graph = graph
        self._places = {entry.symbol: index for index, entry in enumerate(self.entries)}
        self._loop = asyncio.new_event_loop()
        self._folder = tempfile.TemporaryDirectory(prefix="tenon-lightrag-")
        model = os.environ.get(MODEL)
        self._embed = _endpoint(model) if model else _of_grams
        self._rag = self._loop.run_until_complete(self._filled())
        weakref.finalize(self, _close, self._loop, self._rag)

    def _search(self, words: Sequence[str], threshold: float) -> list[Hit]:
        if not any(self._matters(word) for word in words):
            return []
        phrase = " ".join(words)
        near, edges = self._loop.run_until_complete(self._near(phrase))
        hits = {hit.entry.symbol: hit for hit in super()._search(words, threshold)}
        seeds = near | {symbol: hit.evidence for symbol, hit in hits.items()}
        paths = scored(seeds, edges, threshold)
        covered = frozenset(range(len(words)))
        for symbol, path in paths.items():
            if symbol in self._places and symbol not in hits:
                entry = self.entries[self._places[symbol]]
                score = round(path.score, 4)
                matched = tuple(dict.fromkeys(edge[0] for edge in path.edges)) or (symbol,)
                hits[symbol] = Hit(entry, score, NEARER, score, covered, matched, path.edges)
        kept = [hit for symbol, hit in hits.items() if symbol in paths]
        return sorted(kept, key=lambda hit: (-hit.evidence, -hit.exactness, hit.entry.symbol))

    async def _filled(self) -> Any:
        from lightrag import LightRAG
        from lightrag.utils import EmbeddingFunc, Tokenizer

        for name in ("lightrag", "nano-vectordb"):
            logging.getLogger(name).setLevel(logging.ERROR)
        size = len((await self._embed(["size"]))[0])
        rag = LightRAG(
            working_dir=self._folder.name,
            llm_model_func=_nobody,
            embedding_func=EmbeddingFunc(
                embedding_dim=size, max_token_size=_TOKENS, func=self._embed
            ),
            tokenizer=Tokenizer("characters", _Characters()),
        )
        await rag.initialize_storages()
        await rag.ainsert_custom_kg(knowledge(self._graph))
        return rag

    async def _near(self, phrase: str) -> tuple[dict[str, float], list[Edge]]:
        """The nodes that LightRAG finds near a phrase, with the relations between them."""
        from lightrag import QueryParam

        asked = QueryParam(
            mode="local", ll_keywords=[phrase], hl_keywords=[phrase], top_k=NEAREST,
            enable_rerank=False,
        )  # fmt: skip
        # A question of one or two letters would be refused; only its keywords are looked up.
        data = (await self._rag.aquery_data(f"what is {phrase}", asked)).get("data", {})
        names = [found["entity_name"] for found in data.get("entities", ())]
        texts = [found["description"] for found in data.get("entities", ())]
        near = {}
        if names:
            own, *others = await self._embed([phrase, *texts])
            near = {name: float(own @ other) for name, other in zip(names, others, strict=True)}
        edges = [
            (a, data["relation"], b)
            for a, b, data in self._graph.edges(data=True)
            if a in near or b in near
        ]
        return near, edges


def _close(loop: asyncio.AbstractEventLoop, rag: Any) -> None:
    """Cancel LightRAG's remaining tasks, so that no warning appears at exit."""
    loop.run_until_complete(rag.finalize_storages())
    tasks = asyncio.all_tasks(loop)
    for task in tasks:
        task.cancel()
    loop.run_until_complete(asyncio.gather(*tasks, return_exceptions=True))
    loop.close()


def knowledge(graph: networkx.MultiDiGraph) -> dict[str, list[dict[str, Any]]]:
    """The Lib-Graph in LightRAG's format: entities, relations, and their source texts."""
    texts = {name: data.get("text") or data.get("prompt") or name for name, data in _nodes(graph)}
    return {
        "chunks": [
            {"content": text, "source_id": name, "file_path": name} for name, text in texts.items()
        ],
        "entities": [
            {
                "entity_name": name,
                "entity_type": data["type"],
                "description": texts[name],
                "source_id": name,
                "file_path": name,
            }
            for name, data in _nodes(graph)
        ],
        "relationships": [
            {
                "src_id": a,
                "tgt_id": b,
                "description": f"{a} {data['relation']} {b}",
                "keywords": data["relation"],
                "source_id": a,
                "file_path": a,
            }
            for a, b, data in graph.edges(data=True)
        ],
    }


def _nodes(graph: networkx.MultiDiGraph) -> list[tuple[str, Mapping[str, Any]]]:
    return list(graph.nodes(data=True))


async def _nobody(*_: Any, **__: Any) -> str:
    raise RuntimeError("retrieval asks no language model")


async def _of_grams(texts: Sequence[str], **_: Any) -> numpy.ndarray:
    """Texts as counts of their n-grams, hashed: no model, and the same everywhere."""
    import numpy

    rows = numpy.zeros((len(texts), _DIMENSIONS), dtype=numpy.float32)
    for row, text in zip(rows, texts, strict=True):
        bounded = f" {' '.join(text.lower().split())} "
        for size in _GRAMS:
            for at in range(len(bounded) - size + 1):
                row[zlib.crc32(bounded[at : at + size].encode()) % _DIMENSIONS] += 1
        row /= max(1.0, float(numpy.linalg.norm(row)))
    return rows


def _endpoint(model: str) -> Any:
    """The embeddings of the endpoint's model."""
    import numpy

    server = Embeddings(model, SECONDS, 0)
    server.start("", "")

    async def embed(texts: Sequence[str], **_: Any) -> numpy.ndarray:
        rows = numpy.array(server.vectors(texts), dtype=numpy.float32)
        return rows / numpy.linalg.norm(rows, axis=1, keepdims=True).clip(1e-9)

    return embed


class _Characters:
    """A tokenizer that needs no vocabulary."""

    def encode(self, content: str) -> list[int]:
        return [ord(character) for character in content]

    def decode(self, tokens: list[int]) -> str:
        return "".join(map(chr, tokens))
