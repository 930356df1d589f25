"""`./tenon bench vlib`: costs of vLib calls by component."""

import pytest
from conftest import assert_well


@pytest.mark.long(30, "pool/mortise/vlib", "pool/tenon/vlib")
@pytest.mark.timeout(600)
def test_calls_cost_what_is_said(tenon):
    outcome = tenon("bench", "vlib", "--environment", "mortise-static+linux", limit=580)
    assert_well(outcome)
    rows = {row["name"]: row for row in outcome.result}
    parts = {
        f"{name}_in_{part}"
        for name in ("call", "async_call")
        for part in ("tenon", "mortise", "linux")
    }
    assert rows.keys() == parts | {
        *("call", "async_call", "channel_map", "channel_map_in_linux"),
        *(
            "budget",
            "remote_deschedule",
            "remote_deschedule_order",
            "time_out",
            "time_out_in_tenon",
        ),
    }
    assert all(row["samples"] == 1000 for row in outcome.result)
    median = {name: row["median"] for name, row in rows.items()}
    assert 0 < median["call_in_tenon"] + median["call_in_mortise"] < median["call"]
    assert median["call"] <= rows["call"]["goal"]
    # Only instructions of the program: its kernel is not involved in a call.
    assert 0 < rows["call_in_linux"]["max"] < 100
    assert median["remote_deschedule"] <= rows["remote_deschedule"]["goal"]
    # Instructions of a server that polls memory: the emulator's clocks of different cores are not
    # comparable.
    assert 0 < rows["time_out"]["max"] <= rows["time_out"]["goal"]
    assert median["call"] < median["async_call"]
    # Linux runs for 3 ms in each of 1,000 periods of 10 ms, and no longer.
    assert 2_970_000 <= rows["budget"]["min"] <= rows["budget"]["max"] <= 3_030_000
    assert median["channel_map_in_linux"] < median["channel_map"]
