"""Symbols by their source name."""

import pytest

from tenonos.run.symbols import _pattern


@pytest.mark.parametrize(
    ("symbol", "name", "found"),
    [
        ("tenon_vectors", "tenon_vectors", True),
        ("motor::step", "_ZN5motor4step17h0123456789abcdefE", True),
        ("motor::step", "_RNvCs1a2B_5motor4step", True),
        ("motor::step", "_ZN5motor4step28_$u7b$$u7b$closure$u7d$$u7d$17h0123456789abcdefE", False),
        ("motor::step", "_ZN5motor5Motor4step17h0123456789abcdefE", False),
        ("motor::step", "_RNvMCs1a2B_5motorNtB2_5Motor4step", False),
    ],
)
def test_names_are_recognised(symbol, name, found):
    assert bool(_pattern(symbol).fullmatch(name)) == found
