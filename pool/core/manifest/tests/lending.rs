//! Cores that a VM lends: what is accepted, and how the rest is refused.

mod common;

use common::{Builder, lender, linux, motor, shared, system};
use core_manifest::{Lending, System};

fn parse(vms: [Builder; 2]) -> Result<Option<Lending>, String> {
    let tree = system(vms).text("mode", "dynamic").tree();
    let mut room = common::room();
    let system = System::parse(&tree, &mut room).map_err(|error| format!("system: {error}"))?;
    let [motor, linux, ..] = Lending::parse(&tree, &system).map_err(|error| error.to_string())?;
    assert!(motor.is_none(), "it lends nothing");
    Ok(linux)
}

#[test]
fn what_a_vm_lends_is_understood() {
    assert!(parse([motor(), linux()]).unwrap().is_none());
    let lending = parse([motor(), lender()]).unwrap().unwrap();
    assert_eq!(
        (&lending.vcpus[..], lending.interrupt),
        (&[2, 1][..], 48 + 2)
    );
    let cell = |vcpu| {
        let (ipa, page) = lending.cell(vcpu)?;
        assert_eq!(page.size(), 0x1000);
        Some((ipa, page.start()))
    };
    assert_eq!(cell(2), Some((0x9300_0000, 0x5300_0000)));
    assert_eq!(cell(1), Some((0x9300_1000, 0x5300_1000)));
    assert_eq!((cell(0), cell(3), cell(usize::MAX)), (None, None, None));
}

#[test]
fn what_is_wrong_is_named() {
    let one = |area| lender().with("shared", shared(&[area]));
    for (vm, expected) in [
        (lender().cells("lends", &[0]), "lends"),
        (lender().cells("lends", &[1, 1]), "lends"),
        (lender().cells("lends", &[1, 3]), "lends"),
        (lender().cells("lends", &[1]), "lends-cells"),
        (lender().without("lends-cells"), "lends-cells"),
        (lender().without("lends-interrupt"), "lends-interrupt"),
        (lender().cells("lends-interrupt", &[49]), "lends-interrupt"),
        (lender().cells("lends-interrupt", &[31]), "lends-interrupt"),
        (
            lender().cells("lends-interrupt", &[0x1_0030]),
            "lends-interrupt",
        ),
        (one([0x9300_0000, 0x5300_0000, 0x2000, 0]), "lends-cells"),
        (one([0x9300_0000, 0x5300_0000, 0x3000, 1]), "lends-cells"),
        (one([0x9300_0000, 0x5300_1000, 0x2000, 1]), "lends-cells"),
        (lender().text("irq-mode", "direct"), "lends"),
    ] {
        let error = parse([motor(), vm]).unwrap_err();
        let named = format!("{error} ").contains(&format!(" {expected} "));
        assert!(named && error.starts_with("linux: "), "{error}");
    }
}

#[test]
fn what_others_have_is_not_to_be_lent() {
    let neighbour = || motor().text("irq-mode", "shared");
    let error = parse([neighbour().cells("cpus", &[2]), lender()]).unwrap_err();
    assert!(error.contains("linux: lends "), "{error}");
    let cells = [
        [0x8000_0000, 0x5100_0000, 0x1000, 0],
        [0x9000_0000, 0x5300_1000, 0x1000, 0],
    ];
    let error = parse([neighbour().with("shared", shared(&cells)), lender()]).unwrap_err();
    assert!(error.contains("out of others' reach"), "{error}");
}
