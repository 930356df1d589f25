"""What stands beside a claim of a reading amends it."""

import pytest

from tenonos.plan import contradictions
from tenonos.plan.models import Item
from tenonos.plan.nearby import amended
from tenonos.plan.pool import Pool
from tenonos.plan.reader.reading import Amount, Owner, Reading, Span, Statement, Task, Vm


def _piece(text, words, sure=0.9, which=0):
    at = -1
    for _ in range(which + 1):
        at = text.index(words, at + 1)
    return {"span": words, "at": at, "confidence": sure}


def _vm(text, words, sure=0.9, which=0, kind="tenon", count=1):
    return Vm(**_piece(text, words, sure, which), kind=kind, count=count)


def _task(text, words, count=1):
    return Task(**_piece(text, words), count=count)


def _amount(text, words, role, *owner):
    owners = tuple(Owner(**{kind: at}) for kind, at in owner)
    return Amount(**_piece(text, words), role=role, value=1, unit=None, owner=owners)


def test_vm_named_again_is_the_same():
    text = "The pump loop runs in a VM. The VM has 16 MiB."
    reading = Reading(
        text=text,
        vms=(_vm(text, "a VM"), _vm(text, "The VM")),
        quantities=(_amount(text, "16 MiB", "ram", ("vm", 1)),),
    )
    found = amended(reading)
    assert [vm.span for vm in found.vms] == ["a VM"]
    assert found.quantities[0].owner == (Owner(vm=0),)


def test_unsure_words_beside_a_named_vm_are_none():
    text = "Gate: one VM, the barrier at 5 Hz."
    reading = Reading(text=text, vms=(_vm(text, "Gate", 0.6), _vm(text, "one VM", 0.95)))
    assert [vm.span for vm in amended(reading).vms] == ["one VM"]


def test_first_vm_named_with_an_article_stays():
    text = "The guest has 16 MiB, a second guest 8 MiB."
    reading = Reading(text=text, vms=(_vm(text, "The guest"), _vm(text, "a second guest")))
    assert amended(reading).vms == reading.vms


@pytest.mark.parametrize("more", ["another", "a second", "the other", "a second VM"])
def test_vm_named_by_its_order_is_one_more(more):
    text = f"The rake runs in one VM, the kettle in {more}."
    found = amended(Reading(text=text, vms=(_vm(text, "one VM"),)))
    assert [vm.span for vm in found.vms] == ["one VM", more]


def test_order_of_something_else_is_no_vm():
    text = "One VM has a second tank and another valve."
    assert len(amended(Reading(text=text, vms=(_vm(text, "One VM"),))).vms) == 1


@pytest.mark.parametrize(
    ("words", "count"), [("Three loops", 3), ("deux boucles", 2), ("one loop", 1), ("9 loops", 1)]
)
def test_count_is_that_of_the_words(words, count):
    text = f"{words} in a VM."
    found = amended(Reading(text=text, tasks=(_task(text, words),)))
    assert [task.count for task in found.tasks] == [count]


def test_number_before_a_claim_counts_it():
    text = "Linux beside three pump guests."
    assert amended(Reading(text=text, vms=(_vm(text, "pump guests"),))).vms[0].count == 3


@pytest.mark.parametrize("words", ["execution", "jitter", "of execution", "at worst"])
def test_term_of_time_is_no_task(words):
    text = f"The loop, 5 ms {words}."
    reading = Reading(text=text, tasks=(_task(text, "The loop"), _task(text, words)))
    assert [task.span for task in amended(reading).tasks] == ["The loop"]


@pytest.mark.parametrize(
    ("text", "role"),
    [
        ("A channel of 256 KiB to Linux.", "size"),
        ("Linux has a RAM disk of 256 KiB.", "disk"),
        ("A queue with room for 256 KiB.", "size"),
        ("Linux has 256 KiB.", "ram"),
    ],
)
def test_size_is_of_what_stands_before_it(text, role):
    reading = Reading(text=text, quantities=(_amount(text, "256 KiB", "ram"),))
    assert amended(reading).quantities[0].role == role


@pytest.mark.parametrize(
    ("words", "role"),
    [
        ("and needs 2 ms", "wcet"),
        ("and takes about 2 ms", "wcet"),
        ("with 2 ms of work", "wcet"),
        ("and is done within 2 ms", "deadline"),
        ("and also 2 ms", "period"),
    ],
)
def test_second_time_of_a_task_is_no_period(words, role):
    text = f"The loop runs every 9 ms {words}."
    times = [_amount(text, t, "period", ("task", 0)) for t in ("every 9 ms", "2 ms")]
    reading = Reading(text=text, tasks=(_task(text, "The loop"),), quantities=tuple(times))
    assert [q.role for q in amended(reading).quantities] == ["period", role]


def test_time_that_a_task_takes_alone_stays_a_period():
    text = "The loop takes 2 ms."
    time = _amount(text, "2 ms", "period", ("task", 0))
    reading = Reading(text=text, tasks=(_task(text, "The loop"),), quantities=(time,))
    assert amended(reading).quantities[0].role == "period"


def test_size_without_owner_is_of_the_vm_of_its_clause():
    text = "The clay guest has 16 MiB, the kiln guest 20 MiB, and Linux the rest."
    reading = Reading(
        text=text,
        vms=(
            _vm(text, "The clay guest"),
            _vm(text, "the kiln guest"),
            _vm(text, "Linux", kind="linux"),
        ),
        quantities=(_amount(text, "20 MiB", "ram"),),
    )
    assert amended(reading).quantities[0].owner == (Owner(vm=1),)


def test_numbers_of_a_list_have_owners_in_order():
    text = "Read oil and water at 10 Hz and 20 Hz."
    own = ("task", 0), ("task", 1)
    reading = Reading(
        text=text,
        tasks=(_task(text, "oil"), _task(text, "water")),
        quantities=tuple(_amount(text, t, "period", *own) for t in ("10 Hz", "20 Hz")),
    )
    found = [q.owner for q in amended(reading).quantities]
    assert found == [(Owner(task=0),), (Owner(task=1),)]


def _item(kind, text, words, value):
    first = text.index(words)
    return Item(kind=kind, value=value, source=words, span=(first, first + len(words)))


def test_rules_that_read_both_are_a_contradiction():
    text = "You forbid serial ports, I need the UART."
    items = [
        _item("forbid", text, "serial ports", "driver.serial"),
        _item("capability", text, "UART", "driver.serial"),
    ]
    said = Statement(**_piece(text, "UART"), name="driver.serial", polarity="demanded")
    spoken = Reading(text=text, capabilities=(said,))
    found = [*contradictions.of_rules(items, spoken, Pool())]
    assert [(i.kind, i.value) for i in found] == [
        ("capability", "driver.serial"),
        ("forbid", "driver.serial"),
    ]
    assert not [*contradictions.of_rules(items, Reading(text=text), Pool())]


def test_guest_named_beside_a_prohibition_is_no_contradiction():
    text = "A program for Linux, but no Linux."
    first, last = text.index("Linux"), text.rindex("Linux")
    items = [
        Item(kind="capability", value="guest.linux", source="Linux", span=(first, first + 5)),
        Item(kind="forbid", value="guest.linux", source="Linux", span=(last, last + 5)),
    ]
    said = Statement(**_piece(text, "no Linux"), name="guest.linux", polarity="forbidden")
    spoken = Reading(text=text, capabilities=(said,))
    assert not [*contradictions.of_rules(items, spoken, Pool())]


@pytest.mark.parametrize(("sure", "count"), [(0.55, 0), (0.7, 2)])
def test_unsure_pieces_are_no_contradiction(sure, count):
    text = "No pins, but blink a pin."
    items = [_item("capability", text, "blink a pin", "driver.gpio")]
    spans = tuple(
        Span(**_piece(text, words, sure), kind="conflict") for words in ("No pins", "blink a pin")
    )
    found = [*contradictions.contradictory(Reading(text=text, spans=spans), items)]
    assert len(found) == count


@pytest.mark.parametrize(
    ("text", "total", "named", "left"),
    [
        ("Two VMs, four cores. Arm VM: 1 core. Linux: 3 cores.", "Two VMs", "Arm VM", []),
        ("Three VMs: a pump, a fan, Linux.", "Three VMs", "fan", ["Three VMs"]),
        ("Two VMs, fan and Linux, have 8 MiB each.", "Two VMs", "fan", []),
        ("Two VMs at 1 kHz. Linux and a fan VM and a pump VM.", "Two VMs", "fan VM", ["Two VMs"]),
    ],
)
def test_a_total_counts_no_vm_that_is_named(text, total, named, left):
    vms = [_vm(text, total), _vm(text, named), _vm(text, "Linux", kind="linux")]
    if "pump VM" in text:
        vms.append(_vm(text, "pump VM"))
    found = amended(Reading(text=text, vms=tuple(vms))).vms
    own = [vm for vm in found if vm.span == total]
    assert [vm.span for vm in own] == left
    assert sum(vm.count for vm in found) == (5 if "pump VM" in text else len(own) + 2)


def test_each_of_a_count_has_a_vm():
    text = "Three toy cranes, each in a VM with a loop."
    assert amended(Reading(text=text, vms=(_vm(text, "a VM"),))).vms[0].count == 3


@pytest.mark.parametrize(
    ("words", "count"),
    [("four identical radar channel guests", 4), ("a pair of guests", 2), ("the pump guests", 1)],
)
def test_a_number_some_words_before_counts_vms(words, count):
    text = f"It has {words}."
    assert amended(Reading(text=text, vms=(_vm(text, "guests"),))).vms[0].count == count


def test_words_of_one_noun_phrase_are_one_vm():
    text = "The tank farm guest has 8 MiB, and the pump guest plus a fan guest 4 MiB."
    vms = (_vm(text, "tank"), _vm(text, "guest"), _vm(text, "pump guest"), _vm(text, "a fan guest"))
    reading = Reading(text=text, vms=vms, quantities=(_amount(text, "8 MiB", "ram", ("vm", 0)),))
    found = amended(reading)
    assert [vm.span for vm in found.vms] == ["guest", "pump guest", "a fan guest"]
    assert found.quantities[0].owner == (Owner(vm=0),)


def test_a_vm_that_is_named_again_by_its_name_is_the_same():
    text = "Malt on core 1, grist on core 2; malt and grist exchange weights."
    vms = tuple(_vm(text, words, which=at) for words, at in (("grist", 0), ("grist", 1)))
    assert len(amended(Reading(text=text, vms=vms)).vms) == 1


@pytest.mark.parametrize(
    ("again", "count"), [("the winch", 2), ("the winch guest", 2), ("a winch", 3), ("the fan", 3)]
)
def test_a_vm_named_with_the_article_was_named_before(again, count):
    text = f"A main winch guest and a lighting guest; {again} has 8 MiB."
    words = ("A main winch guest", "a lighting guest", again)
    found = amended(Reading(text=text, vms=tuple(_vm(text, each) for each in words)))
    assert len(found.vms) == count


@pytest.mark.parametrize(("sure", "count"), [(0.5, 0), (0.99, 1)])
def test_a_linux_that_is_excluded_is_none(sure, count):
    text = "No Linux, only the mill."
    said = Statement(**_piece(text, "No Linux"), name="guest.linux", polarity="forbidden")
    vms = (_vm(text, "Linux", sure, kind="linux"),)
    found = amended(Reading(text=text, vms=vms, capabilities=(said,)))
    assert len(found.vms) == count


def test_a_part_of_a_time_is_a_budget():
    text = "The fan and the pump have 5 ms and 3 ms of every 10 ms, the mill 2 ms."
    times = ("5 ms", "3 ms", "every 10 ms", "2 ms")
    reading = Reading(text=text, quantities=tuple(_amount(text, t, "period") for t in times))
    roles = [amount.role for amount in amended(reading).quantities]
    assert roles == ["budget", "budget", "period", "period"]


@pytest.mark.parametrize(
    ("text", "time", "role"),
    [
        ("A loop every 800 us with a deadline at 600 us.", "every 800 us", "period"),
        ("A loop every 800 us with a deadline at 600 us.", "600 us", "deadline"),
        ("The mill has 6 ms and a jitter of 100 us.", "6 ms", "period"),
        ("A loop with 250 us jitter at 4 kHz.", "250 us", "jitter"),
        ("A loop at 1 kHz, computing 70 us.", "70 us", "wcet"),
        ("Onduleur : temps de calcul 40 us.", "40 us", "wcet"),
        ("The mill must be through within 9 ms.", "9 ms", "deadline"),
    ],
)
def test_a_term_belongs_to_the_time_beside_it(text, time, role):
    reading = Reading(text=text, quantities=(_amount(text, time, "period"),))
    assert amended(reading).quantities[0].role == role


@pytest.mark.parametrize(
    "text", ["Image: 96 KB tops.", "El surtidor con 96 KB de imagen.", "Borne, image de 96 KB."]
)
def test_a_size_of_an_image_is_no_memory(text):
    reading = Reading(text=text, quantities=(_amount(text, "96 KB", "ram"),))
    assert amended(reading).quantities[0].role == "image"
