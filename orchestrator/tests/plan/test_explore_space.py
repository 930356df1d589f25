"""What a composition leaves open: settings that can be otherwise, and what they do to its files."""

import pytest

from tenonos.explore.space import Deviation, Space, shortened


@pytest.fixture(scope="module")
def space(composed, pool):
    return Space.of(composed("a 1 kHz motor-control loop without a shell"), pool)


def test_a_setting_is_otherwise_and_every_demand_is_kept(space):
    assert Deviation("motor", "OPTIMISE_SIZE", True) in space.settings
    assert Deviation("motor", "TENON_THREAD_PROTECTION", False) in space.settings
    names = {deviation.symbol for deviation in space.settings}
    # What it is for is not open, and another timer would do something else with less.
    assert not any(name.startswith(("APP_", "LIB_", "IMAGE_", "BOARD_")) for name in names)


def test_what_was_forbidden_is_no_alternative(composed, pool):
    free = Space.of(composed("a 1 kHz motor-control loop"), pool)
    tied = Space.of(composed("a 1 kHz motor-control loop without time slices"), pool)
    slices = Deviation("motor", "TENON_THREAD_SLICING", True)
    assert slices in free.settings and slices not in tied.settings


def test_the_files_of_an_alternative_are_a_configuration(space, pool):
    size = Deviation("motor", "OPTIMISE_SIZE", True)
    files = space.made((size,))
    assert "CONFIG_OPTIMISE_SIZE=y" in files["motor.config"]
    assert files["system.toml"] == space.files["system.toml"]
    back = Space(files, pool)
    assert Deviation("motor", "OPTIMISE_SPEED", True) in back.settings
    again = back.made((Deviation("motor", "OPTIMISE_SPEED", True),))
    assert "OPTIMISE_SIZE" not in again["motor.config"]


def test_two_of_one_choice_are_not_joined(space):
    two = (Deviation("motor", "TENON_IRQCHIP_GICV2", True),)
    three = (Deviation("motor", "TENON_IRQCHIP_GICV3", True),)
    assert space.joined(two, three) is None
    both = space.joined(three, (Deviation("mortise", "OPTIMISE_SIZE", True),))
    assert both is not None
    assert shortened(both) == "mortise: OPTIMISE_SIZE, motor: TENON_IRQCHIP_GICV3"
    assert shortened(()) == "as composed"
