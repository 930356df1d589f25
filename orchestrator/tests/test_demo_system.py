"""The demo's system as it is checked in is the one its sentence is composed to."""

from tenonos import catalogue, cli, system
from tenonos.build.images import space
from tenonos.system.schema import parse

SENTENCE = (
    "a 1 kHz motor-control loop with bounded jitter beside Linux on four cores, smallest footprint"
)


def test_composed_and_checked_in_are_equal(tmp_path):
    folder = tmp_path / "motor-linux"
    assert cli.run(["compose", SENTENCE, "-o", str(folder)]) == 0
    composed, checked_in = (
        parse((place / "system.toml").read_text(), "")
        for place in (folder, catalogue.systems()["motor-linux"])
    )
    assert composed[0] == checked_in[0]
    for image in ("mortise", "motor"):
        configs = [space(system.load(f)).evaluate(image) for f in (folder, "motor-linux")]
        assert configs[0].values == configs[1].values
