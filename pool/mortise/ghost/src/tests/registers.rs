//! Control registers: the constants of Mortise pass, and every other bit is a violation.

use crate::*;
use mortise_vcpu::{InterruptMode, Traps, vmpidr};

fn sound(shared: bool, trap_wait: bool, core_shared: bool) -> (Control, Expected) {
    let traps = Traps {
        interrupts: if shared {
            InterruptMode::Shared
        } else {
            InterruptMode::Direct
        },
        trap_wait: trap_wait || core_shared,
        trap_pmu_and_debug: core_shared,
        trap_physical_timer: core_shared,
    };
    let vttbr = 2 << 48 | 0x4030_0000;
    let is = Control {
        hcr: traps.hcr(),
        vttbr,
        vtcr: 0x8002_3559,
        cptr: 0x4010_33ff,
        mdcr: 0x8_4c06 | if core_shared { 0x260 } else { 0 },
        hstr: 0,
        cnthctl: if core_shared { 1 } else { 3 },
        vmpidr: vmpidr(1),
        sre: 7,
        ich_hcr: u64::from(shared),
    };
    let of = Expected {
        shared,
        trap_wait,
        core_shared,
        cores_shared: core_shared,
        keys: true,
        ras: true,
        regions: true,
        vttbr,
        vcpu: 1,
    };
    (is, of)
}

#[test]
fn values_that_mortise_sets_pass() {
    for bits in 0..8 {
        let (is, of) = sound(bits & 1 != 0, bits & 2 != 0, bits & 4 != 0);
        // No VM with direct interrupts runs on a shared core.
        if of.shared || !of.core_shared {
            assert_eq!(check_control(&is, &of), Ok(()), "{of:?}");
        }
    }
}

#[test]
fn each_wrong_bit_of_traps_and_of_the_stage_2_root_is_found() {
    let (is, of) = sound(true, false, false);
    for bit in 0..64 {
        let hcr = Control {
            hcr: is.hcr ^ 1 << bit,
            ..is
        };
        let vttbr = Control {
            vttbr: is.vttbr ^ 1 << bit,
            ..is
        };
        let vmpidr = Control {
            vmpidr: is.vmpidr ^ 1 << bit,
            ..is
        };
        let cptr = Control {
            cptr: is.cptr ^ 1 << bit,
            ..is
        };
        for (wrong, name) in [
            (hcr, "HCR_EL2"),
            (vttbr, "VTTBR_EL2"),
            (vmpidr, "VMPIDR_EL2"),
            (cptr, "CPTR_EL2"),
        ] {
            // Alone on a core, a guest may read the core's identification.
            if (name, bit) == ("HCR_EL2", 18) {
                continue;
            }
            let found = check_control(&wrong, &of).unwrap_err();
            assert!(matches!(found, Violation::Control { register, .. } if register == name));
        }
    }
    for wrong in [
        Control { ich_hcr: 0, ..is },
        Control { sre: 0x5, ..is },
        Control { cnthctl: 1, ..is },
        Control { cnthctl: 2, ..is },
        Control {
            mdcr: is.mdcr ^ 1 << 9,
            ..is
        },
        Control {
            mdcr: is.mdcr & !(1 << 10),
            ..is
        },
        Control {
            vtcr: is.vtcr ^ 1,
            ..is
        },
        Control { hstr: 1, ..is },
    ] {
        assert!(check_control(&wrong, &of).is_err(), "{wrong:?}");
    }
}
