"""Names of applications and systems: unique over their folders, former ones explained."""

import pytest

from tenonos import catalogue, system
from tenonos.build import images
from tenonos.errors import InputError


@pytest.mark.parametrize("asked", ["systems/motor-linux", "/clone/systems/motor-linux"])
def test_a_system_that_moved_is_named_by_its_place(asked):
    with pytest.raises(InputError, match='write "motor-linux", which is in examples/systems/motor'):
        system.find(asked)


def test_a_former_name_leads_to_the_new_one():
    with pytest.raises(InputError, match='write "random-exits", which is in tests/systems/random'):
        system.find("wild")


def test_an_application_that_was_renamed_is_named(tmp_path):
    text = system.find("lifecycle").read_text().replace('"lifecycle-test"', '"steward"')
    (tmp_path / "system.toml").write_text(text)
    with pytest.raises(InputError, match='no application "steward"; write "lifecycle-test", which'):
        images.space(system.load(tmp_path))


def test_an_application_beside_its_system_is_never_taken_for_one_of_the_clone(tmp_path):
    (tmp_path / "system.toml").write_text(system.find("one-core").read_text())
    (tmp_path / "motor").mkdir()
    (tmp_path / "motor/main.c").write_text("int main(void) { return 0; }\n")
    (tmp_path / "motor/Kconfig").write_text('config APP_MOTOR\n\tbool "motor"\n')
    assert images.space(system.load(tmp_path)).apps["motor"].path == tmp_path / "motor"


def test_former_names_lead_to_what_exists():
    assert set(catalogue.RENAMED_SYSTEMS.values()) <= catalogue.systems().keys()
    assert set(catalogue.RENAMED_APPS.values()) <= catalogue.apps().keys()


def test_two_systems_of_one_name_are_refused(tmp_path):
    for place in catalogue.SYSTEMS[:2]:
        (tmp_path / place / "hello").mkdir(parents=True)
        (tmp_path / place / "hello" / "system.toml").touch()
    message = 'tests/systems/hello: two folders of the system "hello"; rename it or examples/'
    with pytest.raises(InputError, match=message):
        catalogue.systems(tmp_path)
