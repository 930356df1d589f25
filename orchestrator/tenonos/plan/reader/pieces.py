"""Tokens of a text: the most probable split into pieces of the vocabulary, with positions."""

from __future__ import annotations

from dataclasses import dataclass

from tenonos.plan.reader.base import Vocabulary

_SPACE = "\u2581"
_UNKNOWN = 10.0
"""An unknown character costs this much more than the least probable piece."""


@dataclass(frozen=True, slots=True)
class Piece:
    """A piece, and the characters [start, end) of the text that it covers."""

    index: int
    start: int
    end: int


def pieces_of(text: str, vocabulary: Vocabulary) -> list[Piece]:
    """The pieces of a text, between a first and a last one."""
    characters, origins = _normalised(text, vocabulary)
    encoded = [character.encode() for character in characters]
    split = _split(encoded, vocabulary)
    found = [Piece(vocabulary.first, 0, 0)]
    for start, end, index in split:
        while start < end - 1 and characters[start] == _SPACE:
            start += 1
        found.append(Piece(index, origins[start], origins[end - 1] + 1))
    return [*found, Piece(vocabulary.last, len(text), len(text))]


def _normalised(text: str, vocabulary: Vocabulary) -> tuple[list[str], list[int]]:
    """The characters after normalisation, each with its position in the text."""
    characters, origins = [_SPACE], [0]
    for at, written in enumerate(text):
        for character in vocabulary.normalised.get(written, written):
            shown = _SPACE if character == " " else character
            if shown != _SPACE or characters[-1] != _SPACE:
                characters.append(shown)
                origins.append(at)
    return characters, origins


def _split(encoded: list[bytes], vocabulary: Vocabulary) -> list[tuple[int, int, int]]:
    """The best split (Viterbi): start, end and index of each piece."""
    count = len(encoded)
    worst = float(vocabulary.scores.min()) - _UNKNOWN
    best = [0.0] + [float("-inf")] * count
    back = [(0, vocabulary.unknown)] * (count + 1)
    for start in range(count):
        if best[start] + worst > best[start + 1]:
            best[start + 1] = best[start] + worst
            back[start + 1] = start, vocabulary.unknown
        piece = b""
        for end in range(start + 1, count + 1):
            piece += encoded[end - 1]
            if len(piece) > vocabulary.longest:
                break
            index = vocabulary.pieces.get(piece)
            if index is None or index == vocabulary.unknown:
                continue
            score = best[start] + float(vocabulary.scores[index])
            if score > best[end]:
                best[end] = score
                back[end] = start, index
    found = []
    end = count
    while end:
        start, index = back[end]
        found.append((start, end, index))
        end = start
    return found[::-1]
