//! Trees for Tenon: what is accepted, and how the rest is refused.

mod common;

use common::{Builder, guest, task};
use core_manifest::{Guest, limits};

fn refusal(tree: Builder) -> String {
    Guest::parse(&tree.tree())
        .expect_err("a bad tree")
        .to_string()
}

#[test]
fn the_demonstration_is_understood() {
    let tree = guest().tree();
    let guest = Guest::parse(&tree).unwrap();
    assert_eq!((guest.vm, guest.cpus), ("motor", 1));
    assert_eq!(
        (guest.memory.start(), guest.memory.size()),
        (0x4000_0000, 0x100_0000)
    );
    assert_eq!(guest.status.map(|range| range.start()), Some(0x8000_0000));
    assert_eq!(guest.log.map(|range| range.size()), Some(0x1_0000));
    let task = guest.task("control").unwrap();
    assert_eq!((task.period_ns, task.deadline_ns), (1_000_000, 500_000));
    assert_eq!(
        (task.area.start(), task.area.size()),
        (0x8001_1000, 0x20_1000)
    );
    assert_eq!(guest.task("other"), None);
}

#[test]
fn a_guest_needs_neither_log_nor_tasks() {
    let tree = common::root("tenonos,guest-1")
        .text("vm", "small")
        .cells("cpus", &[1])
        .child(Builder::new("memory").wide("reg", &[0x4000_0000, 0x1000]));
    let tree = tree.tree();
    let guest = Guest::parse(&tree).unwrap();
    assert_eq!(
        (guest.status, guest.log, guest.tasks.len()),
        (None, None, 0)
    );
}

#[test]
fn the_rest_is_refused_by_name() {
    let with = |task: Builder| refusal(common::guest_with(task));
    assert_eq!(
        with(task("b", 0x9000_0000).wide("period-ns", &[0])),
        "b: period-ns must not be zero"
    );
    assert_eq!(with(task("b", 0x9000_0000).without("reg")), "b: no reg");
    assert_eq!(
        with(task("b", 0x8000_1000)),
        "log and b have the same address"
    );
    assert_eq!(refusal(guest().without("vm")), "/: no vm");
    let tree = (0..=limits::TASKS as u64).fold(Builder::new("tasks"), |tasks, index| {
        tasks.child(task(&format!("t{index}"), 0x9000_0000 + index * 0x100_0000))
    });
    let tree = common::root("tenonos,guest-1")
        .text("vm", "x")
        .cells("cpus", &[1])
        .child(Builder::new("memory").wide("reg", &[0x4000_0000, 0x1000]))
        .child(tree);
    assert_eq!(refusal(tree), "/: tasks has more than 8 entries");
}
