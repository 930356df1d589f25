"""Native tasks of an objective: a part of the hypervisor each, and what they cannot do."""

import tomllib

import pytest
from test_claims import Read, Text

from tenonos import system
from tenonos.build.images import images
from tenonos.plan.allocate import Infeasible
from tenonos.plan.combine import combined
from tenonos.plan.compose import compose
from tenonos.plan.models import Guest, Item, Plan
from tenonos.plan.native_tasks import check
from tenonos.system import board as boards

BESIDE = "a native task with a period of 500 us, beside a 1 kHz control loop and Linux"


def kinds(answer):
    return {name: image.kind for name, image in answer.images.items()}


def tables(answer, *keys):
    (*natives,) = tomllib.loads(answer.files["system.toml"]).get("native", ())
    return [tuple(native.get(key) for key in keys) for native in natives]


def test_a_native_task_beside_vms_has_its_core_and_its_period(pool, tmp_path):
    answer = compose(BESIDE, pool=pool)
    assert kinds(answer) == {
        "mortise": "mortise",
        "motor": "tenon",
        "linux": "linux",
        "native": "native",
    }
    assert answer.images["native"].cpus == [3]
    assert {"virt.native", "sched.periodic"} <= {*answer.images["native"].capabilities}
    assert "virt.native" in answer.images["mortise"].capabilities
    assert tables(answer, "name", "app", "cpus", "rights", "period") == [
        ("native", "beat", [3], ["time", "console"], "500us")
    ]
    answer.write(tmp_path)
    mortise, _ = images(system.load(tmp_path))
    assert [(task.name, task.app.id, task.cpu, task.period) for task in mortise.natives] == [
        ("native", "apps/beat", 3, 500_000)
    ]


def test_alone_it_is_a_hypervisor_without_vms(pool, tmp_path):
    answer = compose("a native task with a period of 500 us, on a core of its own", pool=pool)
    assert kinds(answer) == {"mortise": "mortise", "native": "native"}
    assert answer.images["native"].cpus == [0]
    assert "virt.partition" not in answer.images["mortise"].capabilities
    answer.write(tmp_path)
    (mortise,) = images(system.load(tmp_path))
    assert mortise.root.id == "core/bare"


@pytest.mark.parametrize(
    ("text", "native"),
    [
        ("The 20 kHz control loop runs inside the hypervisor itself, beside Linux", "50us"),
        # Named after what the VM does, it is another task.
        ("a 1 kHz control loop beside Linux, and a native task", None),
        ("a native task beside Linux", None),
    ],
)
def test_the_words_say_which_task_is_native(pool, text, native):
    answer = compose(text, pool=pool)
    assert tables(answer, "period") == [(native,)]
    assert "linux" in answer.images


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("a native task with POSIX threads", "time and a console, and no api.posix"),
        ("a native task with 4 MiB of memory", "time and a console, and no ram"),
        ("a native task with a period of 10 ns", "the least on qemu-virt is 50ns"),
        ("a native task on core 3", "on core 0: ask for a VM too"),
    ],
)
def test_what_it_cannot_do_is_refused_with_the_reason(pool, text, reason):
    answer = compose(text, pool=pool)
    assert not answer.accepted and answer.conflict
    assert reason in answer.reason


def test_a_native_task_has_one_core(pool):
    place = {"kind": "cores", "unit": "cpu", "image": "native", "rule": "stated"}
    items = [Item(value=cpu, **place) for cpu in (2, 3)]
    with pytest.raises(Infeasible, match="one core, not 2"):
        check([Guest(name="native", kind="native")], items, pool, boards.load("qemu-virt"))


VALVES = Text("Two gas valves inside Mortise, 2 ms each; Purge sequence: 10 ms; Linux for the log.")


def valves(*vms, **more):
    return VALVES.reading(
        VALVES.said("inside Mortise", "virt.native"),
        VALVES.said("Purge sequence", "control.loop"),
        VALVES.said("Linux", "guest.linux"),
        vms=(VALVES.vm("Two gas valves", "native", 2), *vms),
        tasks=(VALVES.task("gas valves", 0, 2), VALVES.task("Purge sequence", 1)),
        quantities=(
            VALVES.amount("2 ms", "period", 2_000_000, ("task", 0)),
            VALVES.amount("10 ms", "period", 10_000_000, ("task", 1)),
        ),
        **more,
    )


def test_the_reader_counts_native_tasks_and_gives_each_its_demands(pool):
    reading = valves(VALVES.vm("Purge", "tenon"), VALVES.vm("Linux", "linux"))
    answer = compose(VALVES.text, pool=pool, using=Read(reading))
    assert tables(answer, "name", "cpus", "period") == [
        ("native", [2], "2ms"),
        ("native-2", [3], "2ms"),
    ]
    periods = {(i.image, i.value) for i in answer.plan if i.kind == "period"}
    assert periods == {("native", 2_000_000), ("native-2", 2_000_000), ("motor", 10_000_000)}
    assert sorted(kinds(answer).values()) == ["linux", "mortise", "native", "native", "tenon"]


def test_several_without_a_vm_are_refused(pool):
    reading = valves().model_copy(update={"tasks": (), "quantities": ()})
    kept = tuple(said for said in reading.capabilities if said.name == "virt.native")
    reading = reading.model_copy(update={"capabilities": kept})
    answer = compose(VALVES.text, pool=pool, using=Read(reading))
    assert answer.reason == "without a VM there is one native task: ask for a VM too"


LOOP = Text("a loop at 25 kHz, native, jitter below 500 ns")


def test_what_the_reader_is_certain_of_makes_the_rules_vm_a_native_task(pool):
    """The rules read all numbers, and pass over the word that the reader is certain of."""
    reading = LOOP.reading(
        LOOP.said("loop", "control.loop", sure=0.99),
        LOOP.said("native", "virt.native", sure=0.99),
        vms=(LOOP.vm("native", "native"),),
        tasks=(LOOP.task("a loop"),),
        quantities=(LOOP.amount("25 kHz", "period", 40_000, ("task", 0)),),
    )
    answer = compose(LOOP.text, pool=pool, using=Read(reading))
    assert kinds(answer) == {"mortise": "mortise", "native": "native"}
    assert tables(answer, "period") == [("40us",)]
    assert ("jitter", 500) in {(i.kind, i.value) for i in answer.plan}


def test_a_task_that_the_rules_do_not_place_is_the_readers(pool):
    text = Text("Native: strobe, 50 us. VM: motion, 1 ms.")
    reading = text.reading(
        text.said("Native", "virt.native", sure=0.99),
        vms=(text.vm("Native", "native"), text.vm("VM", "tenon")),
        tasks=(text.task("strobe", 0), text.task("motion", 1)),
    )
    rules = Plan(objective=text.text, planner="rules")
    assert [guest.kind for guest in combined(rules, reading, pool, {}).guests] == [
        "tenon",
        "native",
    ]


def test_of_several_tasks_the_nearest_to_its_words_is_native(pool):
    text = Text("Winder 1 ms, edge guide 4 ms, camera trigger 40 us, that one in Mortise.")
    tasks = ("Winder", "edge guide", "camera trigger")
    amounts = (("1 ms", 1_000_000), ("4 ms", 4_000_000), ("40 us", 40_000))
    reading = text.reading(
        text.said("in Mortise", "virt.native"),
        *(text.said(task, "control.loop") for task in tasks[:2]),
        vms=(text.vm("in Mortise", "native"),),
        tasks=tuple(map(text.task, tasks)),
        quantities=tuple(
            text.amount(words, "period", value, ("task", at))
            for at, (words, value) in enumerate(amounts)
        ),
    )
    answer = compose(text.text, pool=pool, using=Read(reading))
    assert tables(answer, "period") == [("40us",)]
    periods = {i.value for i in answer.plan if i.kind == "period" and i.image != "native"}
    assert periods == {1_000_000, 4_000_000}


@pytest.mark.parametrize("finds_vm", [False, True])
def test_the_plan_with_a_vm_beside_the_native_task_is_taken(pool, finds_vm):
    """Where both know the native task, the reading without the VM beside it is the worse one."""
    text = Text(BESIDE if not finds_vm else "a native task, a sampler at 1 kHz in a VM, and Linux")
    words, name = ("sampler", "sampling") if finds_vm else ("control loop", "control.loop")
    vm = (text.vm("VM", "tenon"),) if finds_vm else ()
    reading = text.reading(
        text.said("native task", "virt.native", sure=0.99),
        text.said(words, name, sure=0.99),
        vms=(text.vm("native task", "native"), *vm, text.vm("Linux", "linux")),
        tasks=(text.task(words, 1 if finds_vm else 0),),
        quantities=(text.amount("1 kHz", "period", 1_000_000, ("task", 0)),),
    )
    answer = compose(text.text, pool=pool, using=Read(reading))
    assert sorted(kinds(answer).values()) == ["linux", "mortise", "native", "tenon"]
    (tenon,) = [image for image in answer.images.values() if image.kind == "tenon"]
    assert name in tenon.capabilities
