"""Plans of readings, by readings made here: what becomes a demand, an assumption, or neither."""

import pytest

from tenonos import cli
from tenonos.errors import WorkError
from tenonos.plan import exact
from tenonos.plan.combine import combined
from tenonos.plan.compose import compose
from tenonos.plan.models import Guest, Ignored, Item, Missing, Plan
from tenonos.plan.nearby import amended
from tenonos.plan.planner import Offline
from tenonos.plan.reader import load
from tenonos.plan.reader.reading import Amount, Owner, Reading, Span, Statement, Task, Vm

MS = 1_000_000

LACKING = {
    "driver.i2c": "driver i2c: an I2C bus.",
    "driver.pwm": "driver pwm: pulse-width modulation outputs.",
    "bus.can": "bus can: a CAN bus controller.",
}


class Read(Offline):
    """A planner with a given reading."""

    def __init__(self, reading, **more):
        super().__init__(**more)
        self.given = reading

    def reading(self, objective, pool):
        return self.given

    def lacking(self):
        return LACKING


class Text:
    """An objective, from which pieces are taken by their words."""

    def __init__(self, text):
        self.text = text

    def piece(self, words, sure=0.95):
        return {"span": words, "at": self.text.index(words), "confidence": sure}

    def said(self, words, name, polarity="demanded", sure=0.95):
        return Statement(**self.piece(words, sure), name=name, polarity=polarity)

    def vm(self, words, kind, count=1):
        return Vm(**self.piece(words), kind=kind, count=count)

    def task(self, words, vm=None, count=1):
        return Task(**self.piece(words), count=count, vm=vm)

    def amount(self, words, role, value, *owner, unit="ns"):
        owners = tuple(Owner(**{kind: at}) for kind, at in owner)
        return Amount(**self.piece(words), role=role, value=value, unit=unit, owner=owners)

    def reading(self, *said, **more):
        return Reading(text=self.text, capabilities=said, **more)


PUMP = Text("kiln-feed regulator, 2 kHz, over Zyxbus; Debian for the archive")


def pump(*more, **other):
    return PUMP.reading(
        PUMP.said("regulator", "control.loop"),
        PUMP.said("Debian", "guest.linux"),
        *more,
        vms=(PUMP.vm("Debian", "linux"),),
        tasks=(PUMP.task("regulator"),),
        quantities=(PUMP.amount("2 kHz", "period", 500_000, ("task", 0)),),
        spans=(Span(**PUMP.piece("kiln-feed"), kind="application"),),
        **other,
    )


def demands(answer, *kinds):
    return {(i.kind, i.value) for i in answer.plan if i.stated and i.kind in kinds}


def test_words_of_a_trade_are_no_reason_to_refuse(pool):
    assert not compose(PUMP.text, pool=pool, using=Read(None)).accepted
    answer = compose(PUMP.text, pool=pool, using=Read(pump()))
    assert demands(answer, "period", "capability") == {
        ("period", 500_000),
        ("capability", "control.loop"),
        ("capability", "guest.linux"),
    }
    assert sorted(image.kind for image in answer.images.values()) == ["linux", "mortise", "tenon"]
    assert demands(answer, "application") == {("application", "kiln-feed")}
    assert "assumptions" not in answer.json_dict()


def test_what_is_not_sure_is_an_assumption_and_no_demand(pool):
    answer = compose(
        PUMP.text, pool=pool, using=Read(pump(PUMP.said("archive", "trace", sure=0.6)))
    )
    assert ("capability", "trace") not in demands(answer, "capability")
    (told,) = answer.json_dict()["assumptions"]
    assert told == {
        "from": "archive",
        "taken_as": "no demand",
        "instead_of": "trace",
        "confidence": 0.4,
    }


def test_what_is_probable_and_not_sure_is_a_demand_and_told(pool):
    answer = compose(
        PUMP.text, pool=pool, using=Read(pump(PUMP.said("archive", "trace", sure=0.7)))
    )
    assert ("capability", "trace") in demands(answer, "capability")
    (told,) = answer.json_dict()["assumptions"]
    assert told == {
        "from": "archive",
        "taken_as": "trace",
        "instead_of": "no demand",
        "confidence": 0.7,
    }


@pytest.mark.parametrize("affirmed", [True, False])
def test_an_answer_decides(pool, affirmed):
    using = Read(pump(PUMP.said("archive", "trace", sure=0.6)), answers={"trace": affirmed})
    answer = compose(PUMP.text, pool=pool, using=using)
    assert (("capability", "trace") in demands(answer, "capability")) == affirmed
    assert not answer.assumptions
    assert ("denied when asked" in [said.why for said in answer.ignored]) != affirmed


def test_what_is_forbidden_is_excluded_and_what_is_mentioned_ignored(pool):
    answer = compose(
        PUMP.text,
        pool=pool,
        using=Read(
            pump(
                PUMP.said("Zyxbus", "trace", "forbidden"),
                PUMP.said("archive", "fs.block", "mentioned"),
            )
        ),
    )
    assert answer.accepted
    assert ("forbid", "trace") in demands(answer, "forbid")
    assert "archive" in [said.source for said in answer.ignored]


def test_what_the_pool_lacks_is_missing_by_its_name(pool):
    answer = compose(PUMP.text, pool=pool, using=Read(pump(PUMP.said("Zyxbus", "bus.can"))))
    assert [(m.capability, m.source) for m in answer.missing] == [("bus.can", "Zyxbus")]


def test_an_exact_name_supports_a_statement_that_is_not_probable(pool):
    text = Text("over Zyxbus, an I2C probe, I can wait")
    task = {"tasks": (text.task("probe"),)}
    likely = (text.said("I2C", "driver.i2c", sure=0.1), text.said("can", "bus.can", sure=0.1))
    answer = compose(text.text, pool=pool, using=Read(text.reading(likely=likely, **task)))
    assert [m.capability for m in answer.missing] == ["driver.i2c"]


@pytest.mark.parametrize(
    ("capability", "text", "objective", "there"),
    [
        ("bus.can", "bus can: a CAN bus controller.", "it can wait", False),
        ("bus.can", "bus can: a CAN bus controller.", "over CAN", True),
        ("driver.i2c", "driver i2c: an I2C bus.", "the I²C sensor", True),
        ("fs.littlefs", "fs littlefs: littlefs.", "a Littlefs log", True),
        ("fs.ext4", "fs ext4: ext4 and similar Linux file systems.", "beside Linux", False),
        ("guest.other", "guest other: Zephyr, QNX.", "beside FreeBSD", True),
        ("driver.camera", "driver camera: cameras, MIPI CSI.", "two cameras", True),
    ],
)
def test_the_names_of_a_system_are_exact(capability, text, objective, there):
    assert exact.stands(capability, text, objective) == there


def test_what_the_rules_call_lacking_by_a_name_of_systems_stays_missing(pool):
    text = Text("a 1 kHz control loop on a CAN bus")
    reading = text.reading(text.said("control loop", "control.loop"), tasks=(text.task("loop"),))
    answer = compose(text.text, pool=pool, using=Read(reading))
    assert [missing.capability for missing in answer.missing] == ["bus.can"]


def test_text_addressed_to_the_tool_is_not_obeyed(pool):
    told = Span(**PUMP.piece("Zyxbus"), kind="instruction")
    reading = pump()
    reading = reading.model_copy(update={"spans": (*reading.spans, told)})
    answer = compose(PUMP.text, pool=pool, using=Read(reading))
    assert [said.why for said in answer.ignored if said.source == "Zyxbus"] == [
        "addressed to the tool, which obeys no text"
    ]


def test_a_likely_contradiction_that_is_composed_is_told(pool):
    clash = Span(**PUMP.piece("archive"), kind="conflict")
    reading = pump()
    reading = reading.model_copy(update={"spans": (*reading.spans, clash)})
    answer = compose(PUMP.text, pool=pool, using=Read(reading))
    assert [(a.source, a.taken_as) for a in answer.assumptions] == [("archive", "no contradiction")]


def test_a_contradiction_of_several_pieces_is_refused_with_them(pool):
    words = ("regulator", "2 kHz")
    clash = tuple(Span(**PUMP.piece(each, sure=0.6), kind="conflict") for each in words)
    reading = pump()
    reading = reading.model_copy(update={"spans": (*reading.spans, *clash)})
    answer = compose(PUMP.text, pool=pool, using=Read(reading))
    assert [each.source for each in answer.conflict] == [*words]
    assert "contradict" in answer.reason


def test_a_piece_of_a_contradiction_without_a_demand_is_the_opposite_of_the_other(pool):
    clash = tuple(Span(**PUMP.piece(each), kind="conflict") for each in ("Debian", "Zyxbus"))
    reading = pump()
    reading = reading.model_copy(update={"spans": (*reading.spans, *clash)})
    answer = compose(PUMP.text, pool=pool, using=Read(reading))
    assert [(each.kind, each.value, each.source) for each in answer.conflict] == [
        ("capability", "guest.linux", "Debian"),
        ("forbid", "guest.linux", "Zyxbus"),
    ]


@pytest.mark.parametrize(
    ("name", "linux"),
    [
        ("virt.irq.shared", False),
        ("virt.entropy", False),
        ("virt.partition", False),
        ("virt.bandwidth", True),
        ("virt.dma", True),
        ("ipc.channel", True),
    ],
)
def test_what_a_hypervisor_does_has_vms_though_none_is_named(pool, name, linux):
    text = Text("Zyxbus frob wobble")
    answer = compose(text.text, pool=pool, using=Read(text.reading(text.said("frob", name))))
    assert name in {has for image in answer.images.values() for has in image.capabilities}
    assert ("linux" in answer.images) == linux


def test_what_is_demanded_and_forbidden_is_a_conflict_with_the_words_of_both(pool):
    text = Text("over Zyxbus: frob, no wobble")
    said = [
        text.said("frob", "virt.entropy"),
        text.said("no wobble", "virt.entropy", "forbidden"),
    ]
    answer = compose(text.text, pool=pool, using=Read(text.reading(*said)))
    assert {each.source for each in answer.conflict} == {"frob", "no wobble"}


def test_each_number_belongs_to_the_vm_of_its_owner(pool):
    text = Text("over Zyxbus: guest A regulates at 1 kHz with 8 MiB, guest B at 100 Hz on core 2")
    reading = text.reading(
        vms=(text.vm("guest A", "tenon"), text.vm("guest B", "tenon")),
        tasks=(text.task("regulates", 0),),
        quantities=(
            text.amount("1 kHz", "period", 1_000_000, ("task", 0)),
            text.amount("8 MiB", "ram", 8 << 20, ("vm", 0), unit="bytes"),
            text.amount("100 Hz", "period", 10_000_000, ("vm", 1)),
            text.amount("2", "cpu", (2,), ("vm", 1), unit="cpu"),
        ),
    )
    answer = compose(text.text, pool=pool, using=Read(reading))
    of = {i.image for i in answer.plan if i.value == 1_000_000 and i.kind == "period"}
    assert {i.image for i in answer.plan if i.value == 8 << 20} == of
    (other,) = {i.image for i in answer.plan if i.value == 10_000_000 and i.kind == "period"}
    assert answer.images[other].cpus == [2]


def test_the_number_of_a_core_belongs_to_a_vm_of_its_sentence(pool):
    text = Text("zyx with Zyxbus: a loop, 2 kHz on core 1; Debian has the rest")
    reading = text.reading(
        text.said("loop", "control.loop"),
        text.said("Debian", "guest.linux"),
        vms=(text.vm("Debian", "linux"),),
        tasks=(text.task("loop"),),
        quantities=(
            text.amount("2 kHz", "period", 500_000, ("task", 0)),
            text.amount("1", "cpu", (1,), ("vm", 0), unit="cpu"),
        ),
    )
    answer = compose(text.text, pool=pool, using=Read(reading))
    assert answer.images["motor"].cpus == [1]


def test_a_linux_that_is_named_twice_is_one(pool):
    text = Text("over Zyxbus: a Debian guest, and Linux has the rest")
    reading = text.reading(
        text.said("Debian guest", "guest.linux"),
        vms=(text.vm("Debian guest", "linux"), text.vm("Linux", "linux")),
    )
    answer = compose(text.text, pool=pool, using=Read(reading))
    assert [image.kind for image in answer.images.values()].count("linux") == 1


def test_two_periods_in_one_vm_are_two_tasks(pool):
    text = Text("zyx with Zyxbus: one real-time guest, fast at 1 kHz and slow at 10 Hz")
    reading = text.reading(
        vms=(text.vm("one real-time guest", "tenon"),),
        tasks=(text.task("fast", 0), text.task("slow", 0)),
        quantities=(
            text.amount("1 kHz", "period", 1_000_000, ("task", 0)),
            text.amount("10 Hz", "period", 100_000_000, ("task", 1)),
        ),
    )
    answer = compose(text.text, pool=pool, using=Read(reading))
    assert sum(image.kind == "tenon" for image in answer.images.values()) == 1
    assert answer.files["system.toml"].count("[[vm.task]]") == 2


@pytest.mark.parametrize(
    ("text", "application", "criterion"),
    [
        (
            "optimize for real-time video analytics under power constraints",
            "real-time-video-analytics",
            ("capability", "time.tickless"),
        ),
        (
            "minimize memory consumption for lightweight IoT services",
            "lightweight-iot-services",
            ("utility", "footprint"),
        ),
    ],
)
def test_an_application_and_a_criterion_are_enough(pool, text, application, criterion):
    answer = compose(text, pool=pool, using=Read(Reading(text=text)))
    assert demands(answer, "application") == {("application", application)}
    assert criterion in demands(answer, "capability", "utility")
    assert [image.kind for image in answer.images.values()] == ["mortise", "tenon"]
    assert answer.assumptions
    assert not compose("blorp", pool=pool, using=Read(Reading(text="blorp"))).accepted


@pytest.mark.trained
def test_the_trained_reader_composes_what_the_rules_refuse(pool):
    try:
        load.provide()
    except WorkError:
        pytest.skip("the base model could not be fetched")
    text = "Eine Regelung mit 1 kHz neben Linux"
    assert not compose(text, pool=pool, using=Read(None)).accepted
    answer = compose(text, pool=pool, using=Offline())
    assert demands(answer, "period", "capability") == {
        ("period", 1_000_000),
        ("capability", "control.loop"),
        ("capability", "guest.linux"),
    }


# Beside the rules


def test_where_the_rules_know_every_word_their_plan_stands(pool):
    text = Text("a 1 kHz control loop beside Linux")
    doubt = text.said("loop", "trace", sure=0.99)
    using = Read(text.reading(doubt))
    answer = compose(text.text, pool=pool, using=using)
    assert answer.plan == compose(text.text, pool=pool, using=Read(None)).plan
    assert [each.instead_of for each in answer.assumptions] == ["trace"]
    using.answers = {"trace": True}
    answer = compose(text.text, pool=pool, using=using)
    assert "trace" in answer.images["motor"].capabilities


def test_of_the_same_numbers_and_vms_a_certain_reading_is_taken_and_told(pool):
    text = Text("a 1 kHz control loop beside Linux")
    reading = text.reading(
        text.said("loop", "sampling", sure=0.99),
        text.said("Linux", "guest.linux"),
        vms=(text.vm("Linux", "linux"),),
        tasks=(text.task("loop"),),
        quantities=(text.amount("1 kHz", "period", 1_000_000, ("task", 0)),),
    )
    answer = compose(text.text, pool=pool, using=Read(reading))
    assert ("capability", "sampling") in demands(answer, "capability")
    assert ("capability", "control.loop") not in demands(answer, "capability")
    assert "control.loop" in [each.instead_of for each in answer.assumptions]


def test_where_the_rules_ignore_most_words_the_reading_is_taken(pool):
    text = Text("frob wobble zyxbus, drone")
    item = Item(kind="capability", value="shell", source="drone", span=(20, 25))
    ignored = [Ignored(source="frob wobble zyxbus", why="no text knows it")]
    rules = Plan(objective=text.text, planner="offline", items=[item], ignored=ignored)
    plan = combined(rules, text.reading(text.said("frob", "trace", sure=0.9)), pool, LACKING)
    assert [each.value for each in plan.items] == ["trace"]
    assert [each.instead_of for each in plan.assumptions] == ["shell"]
    plan = combined(rules, text.reading(), pool, LACKING)
    assert plan.items == rules.items


def test_a_time_that_the_rules_misread_is_that_of_the_reading(pool):
    text = Text("We measured 1.8 ms for one pass of the loop, which is released every 50 ms.")
    reading = text.reading(
        text.said("loop", "control.loop"),
        tasks=(text.task("loop"),),
        quantities=(
            text.amount("1.8 ms", "wcet", 1_800_000, ("task", 0)),
            text.amount("50 ms", "period", 50_000_000, ("task", 0)),
        ),
    )
    answer = compose(text.text, pool=pool, using=Read(reading))
    times = {(i.kind, i.value) for i in answer.plan if i.unit == "ns" and i.source}
    assert times == {("wcet", 1_800_000), ("period", 50_000_000)}


def test_what_is_shared_by_threads_is_in_one_vm(pool):
    text = Text(
        "Three kilns, 1 ms, 2 ms and 5 ms, with a lock around the ledger of cobalt glazes, bisque"
    )
    reading = text.reading(
        text.said("Three kilns", "control.loop"),
        text.said("a lock around the ledger", "sync.mutex"),
        tasks=(text.task("Three kilns", count=3),),
        quantities=tuple(
            text.amount(words, "period", value, ("task", 0))
            for words, value in (("1 ms", 1_000_000), ("2 ms", 2_000_000), ("5 ms", 5_000_000))
        ),
    )
    answer = compose(text.text, pool=pool, using=Read(reading))
    assert [*answer.images] == ["mortise", "task-set"]
    assert sorted(i.value for i in answer.plan if i.kind == "period") == [1 * MS, 2 * MS, 5 * MS]


def test_an_application_of_the_user_has_an_image_for_any_task(pool):
    text = Text("Kiln, 20 ms.")
    reading = text.reading(
        text.said("Kiln", "control.loop"),
        tasks=(text.task("Kiln"),),
        quantities=(text.amount("20 ms", "period", 20_000_000, ("task", 0)),),
        spans=(Span(**text.piece("Kiln"), kind="application"),),
    )
    answer = compose(text.text, pool=pool, using=Read(reading))
    assert [*answer.images] == ["mortise", "task-set"]
    assert {"control.loop", "sampling"} <= {*answer.images["task-set"].capabilities}


def test_a_certain_demand_that_the_pool_lacks_refuses_what_the_rules_accept(pool):
    text = Text("a 1 kHz control loop beside Linux")
    reading = text.reading(text.said("beside", "bus.can", sure=0.99))
    answer = compose(text.text, pool=pool, using=Read(reading))
    assert [missing.capability for missing in answer.missing] == ["bus.can"]


def test_an_application_that_is_named_stays(pool):
    text = Text("a team on four cores")
    reading = text.reading(text.said("four cores", "sched.smp", sure=0.99))
    answer = compose(text.text, pool=pool, using=Read(reading))
    assert ("capability", "apps/team") in demands(answer, "capability")


def test_what_a_demanded_application_has_is_not_lacking(pool):
    """The dimmer's keywords have PWM, so that the pool needs no driver of that name for it."""
    text = Text("dim a lamp by PWM at 1 kHz on a GPIO pin")
    reading = text.reading(text.said("PWM", "driver.pwm", sure=0.99))
    answer = compose(text.text, pool=pool, using=Read(reading))
    assert answer.accepted and ("capability", "apps/dimmer") in demands(answer, "capability")


def test_a_contradiction_of_the_user_stays_a_conflict(pool):
    text = Text("a control loop every 1 ms that needs 2 ms of CPU time")
    reading = text.reading(
        tasks=(text.task("loop"),),
        quantities=(text.amount("1 ms", "period", 1_000_000, ("task", 0)),),
    )
    assert compose(text.text, pool=pool, using=Read(reading)).conflict


def test_without_the_base_model_the_rules_read_alone(pool):
    assert not load.there()
    assert Offline().reading("a loop", pool) is None
    assert isinstance(Offline().plan("a loop", _board(), pool), Plan)


def test_one_line_says_how_to_get_the_base_model(capsys):
    assert cli.run(["compose", "--json", "a 1 kHz control loop"]) == 0
    said = capsys.readouterr().err
    assert said.count("\n") == 1
    assert "base model is missing" in said
    assert "fetches it" in said
    assert cli.run(["compose", "--json", "blorp"]) == 2
    assert "fetches it" in capsys.readouterr().err


def _board():
    from tenonos.system import board

    return board.load("qemu-virt")


def test_amounts_of_memory_are_those_of_different_vms(pool):
    text = Text("Linux has 512 MiB, and the pump VM is content with 16 MiB.")
    both = {"vm": 0}.items()
    reading = text.reading(
        text.said("Linux", "guest.linux"),
        vms=(text.vm("Linux", "linux"), text.vm("the pump VM", "tenon")),
        quantities=(
            text.amount("512 MiB", "ram", 512 << 20, *both, unit="bytes"),
            text.amount("16 MiB", "ram", 16 << 20, *both, unit="bytes"),
        ),
    )
    answer = compose(text.text, pool=pool, using=Read(reading))
    memory = {image.kind: image.memory for image in answer.images.values()}
    assert (memory["linux"], memory["tenon"]) == (512 << 20, 16 << 20)
    assert any(each.source == "16 MiB" for each in answer.assumptions)


@pytest.mark.parametrize(
    ("objective", "vms", "linuxes"),
    [
        (
            "Linux of the plant and Linux of the vendor",
            [("Linux of the plant", 1), ("Linux of the vendor", 1)],
            2,
        ),
        ("Drei Linux neben einer Regelung", [("Drei Linux", 3)], 3),
        ("Linux for logs; the Linux stays on core 0", [("Linux", 1), ("the Linux", 1)], 1),
    ],
)
def test_several_linux_vms_that_the_reader_is_certain_of_are_several(pool, objective, vms, linuxes):
    text = Text(objective)
    found = tuple(text.vm(span, "linux", count) for span, count in vms)
    reading = text.reading(text.said("Linux", "guest.linux"), vms=found)
    ones = [Guest(name="linux", kind="linux")]
    rules = Plan(objective=text.text, planner="offline", guests=ones)
    rules = rules.model_copy(update={"missing": [Missing(source=text.text)]})
    plan = combined(rules, reading, pool, LACKING)
    assert sum(guest.kind == "linux" for guest in plan.guests) == linuxes


@pytest.mark.parametrize(
    ("text", "words", "role"),
    [
        ("Yaw: period 8 ms, execution 1 ms", "1 ms", "wcet"),
        ("Jitter of the visor loop: 50 us", "50 us", "jitter"),
        ("40 us of work in the worst case", "40 us", "wcet"),
        ("3 ms is the deadline of the weir", "3 ms", "deadline"),
        ("a tank every 3 ms, with its jitter", "3 ms", "period"),
    ],
)
def test_a_term_beside_a_time_is_its_role(text, words, role):
    said = Text(text)
    reading = amended(said.reading(quantities=(said.amount(words, "period", 1),)))
    assert [each.role for each in reading.quantities] == [role]


def test_what_a_clause_names_belongs_together():
    text = Text("the drum goes to a guest with a loop of 15 ms, the gauge to a second guest, 2 Hz")
    reading = amended(
        text.reading(
            vms=(
                text.vm("drum", "tenon"),
                text.vm("a guest", "tenon"),
                text.vm("second guest", "tenon"),
            ),
            tasks=(text.task("loop", 1), text.task("gauge", 1)),
            quantities=(
                text.amount("15 ms", "period", 15, ("task", 0), ("task", 1)),
                text.amount("2 Hz", "period", 500, ("task", 1)),
            ),
        )
    )
    assert [vm.span for vm in reading.vms] == ["drum", "a guest", "second guest"]
    assert [task.vm for task in reading.tasks] == [1, 2]
    assert [owner.task for owner in reading.quantities[0].owner] == [0]


def test_words_that_name_nothing_are_no_vms():
    text = Text("a guest called arm_r, and the camera VM under Linux")
    reading = amended(
        text.reading(
            vms=(
                text.vm("a guest", "tenon"),
                text.vm("r,", "tenon").model_copy(update={"span": "r"}),
                text.vm("camera VM", "tenon"),
                text.vm("Linux", "linux"),
            ),
            tasks=(text.task("arm", 0), text.task("the", 1)),
        )
    )
    assert [vm.span for vm in reading.vms] == ["a guest", "Linux"]
    assert [(task.span, task.vm) for task in reading.tasks] == [("arm", 0)]
