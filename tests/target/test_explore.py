"""`./tenon explore` and `report`: from the objective to the front, and to a page of all of it."""

import json


def test_the_composition_and_an_alternative_are_measured_and_found_again(tenon, tmp_path):
    folder = tmp_path / "found"
    asked = ["explore", "a 1 kHz control loop", "--most", "2", "--seconds", "0.1", "--json"]
    first = tenon(*asked, "-o", folder, json_file=False)
    found = json.loads(first.stdout)["alternatives"]
    composed, other = found
    assert composed["deviations"] == [] and len(other["deviations"]) == 1
    for verdict in found:
        assert verdict["built"] and verdict["booted"] and verdict["good"], verdict["why"]
        assert min(verdict[name] for name in ("size", "latency", "boot")) > 0
    kept = (folder / "explored.jsonl").read_text()
    again = tenon(*asked, "-o", folder, json_file=False)
    assert json.loads(again.stdout)["alternatives"] == found
    assert (folder / "explored.jsonl").read_text() == kept
    page = tmp_path / "page.html"
    tenon("report", folder, "--html", page, "--seconds", "0.1", json_file=False)
    text = page.read_text()
    assert "of 100 releases lost or late" in text and "2 of 2 alternatives are good" in text
