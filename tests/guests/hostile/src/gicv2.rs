//! Attacks on a GICv2 and by means of it; its CPU interface is a page of this VM.

use crate::attack::{Attack, Expect, Trial};
use crate::code::{self, MASK, RET, SPIN, UNMASK, WFI};
use crate::machine::UPPER;
use crate::places::{GICC, GICD};

const FRAME: u64 = 0x1_0000;
const PAGE: u64 = 0x1000;

const IGROUPR0: u64 = 0x080;
const ISENABLER0: u64 = 0x100;
const ICENABLER0: u64 = 0x180;
const ISPENDR0: u64 = 0x200;
const IPRIORITYR0: u64 = 0x400;
const ITARGETSR: u64 = 0x800;
const SGIR: u64 = 0xf00;

/// Registers of the CPU interface: control, priority mask, acknowledge, end of interrupt, active
/// priorities, and deactivate on the second page.
const CTLR: u64 = 0x00;
const PMR: u64 = 0x04;
const IAR: u64 = 0x0c;
const EOIR: u64 = 0x10;
const APR0: u64 = 0xd0;
const DIR: u64 = PAGE;

/// The attacks and their expected outcomes.
pub const ATTACKS: &[Attack] = &[
    Attack::new("gic/load-every-register", 8, Expect::Contained, |t| {
        sweep(t, false);
    }),
    Attack::new("gic/store-every-register", 8, Expect::Contained, |t| {
        sweep(t, true);
    }),
    Attack::new("gic/deactivate-any-interrupt", 2, DATA, |t| {
        let code = code::access(t.case == 1, 2);
        t.execute(&[code, RET], &[33, GICC + DIR]);
    }),
    Attack::new("gic/end-any-interrupt", 1, Expect::Contained, |t| {
        t.execute(&[code::access(true, 2), RET], &[1023, GICC + EOIR]);
        for intid in 0..1024 {
            t.repeat(&[intid, GICC + EOIR]);
        }
    }),
    Attack::new("gic/take-any-interrupt", 4, Expect::Contained, |t| {
        // Every SPI enabled, pending and routed to a random core.
        for register in (0..0x80).step_by(4) {
            store(t, GICD + ISENABLER0 + register, u64::MAX);
        }
        let targets = t.choice(&[0xff, 1, 0x0f, 0xfc]) * 0x0101_0101;
        for register in (0..0x400).step_by(4) {
            store(t, GICD + ITARGETSR + register, targets);
        }
        for register in (4..0x80).step_by(4) {
            store(t, GICD + ISPENDR0 + register, u64::MAX);
        }
    }),
    Attack::new("gic/send-to-anybody", 1, Expect::Contained, |t| {
        store(t, GICD + SGIR, 0);
        for intid in 0..16 {
            for targets in [0xff << 16, 1 << 16, 8 << 16, 1 << 24, 3 << 24, 0xffff_8000] {
                t.repeat(&[targets | intid, GICD + SGIR]);
            }
            for _ in 0..8 {
                let wild = t.random.next();
                t.repeat(&[wild & !0x0300_000f | intid, GICD + SGIR]);
            }
        }
    }),
    Attack::new("gic/interrupts-at-random", 4, Expect::Any, |t| {
        // Everything enabled and pending, and taken: acknowledge, perhaps end, spin for a while.
        for register in [ISENABLER0, ISPENDR0] {
            store(t, GICD + register, u64::MAX);
        }
        for (register, value) in [(PMR, 0xff), (CTLR, 3)] {
            store(t, GICC + register, value);
        }
        for _ in 0..64 {
            t.execute(&[UNMASK, code::ISB, MASK, RET], &[]);
            let taken = t.execute(&[code::access(false, 2), RET], &[0, GICC + IAR]);
            if let (0, Some([intid, ..])) = (t.random.below(2), taken) {
                store(t, GICC + EOIR, intid);
            }
        }
    }),
    Attack::new("gic/disable-the-doorbell", 1, Expect::Endless, |t| {
        for (register, value) in [
            (ICENABLER0, u64::MAX),
            (IGROUPR0, u64::MAX),
            (IPRIORITYR0 + 12, u64::MAX),
            (0, 0), // GICD_CTLR
        ] {
            store(t, GICD + register, value);
        }
        t.execute(&[MASK, SPIN], &[]);
    }),
    Attack::new("gic/mask-the-doorbell", 1, Expect::Endless, |t| {
        close(t);
        t.execute(&[MASK, SPIN], &[]);
    }),
    Attack::new("gic/mask-it-asleep", 1, Expect::Endless, |t| {
        close(t);
        t.execute(&[MASK, WFI, code::AGAIN], &[]);
    }),
    Attack::new("gic/outrank-the-doorbell", 1, Expect::Endless, |t| {
        store(t, GICC + APR0, 1);
        t.execute(&[MASK, SPIN], &[]);
    }),
    Attack::new("gic/outrank-it-asleep", 1, Expect::Endless, |t| {
        store(t, GICC + APR0, 1);
        t.execute(&[MASK, WFI, code::AGAIN], &[]);
    }),
];

const DATA: Expect = Expect::Stopped("data abort");

fn store(trial: &mut Trial, address: u64, value: u64) {
    trial.execute(&[code::access(true, 2), RET], &[value, address]);
}

/// Disables this core's CPU interface.
fn close(trial: &mut Trial) {
    for register in [PMR, CTLR] {
        store(trial, GICC + register, 0);
    }
}

/// Accesses every register of a frame with one access size, also misaligned.
fn sweep(trial: &mut Trial, write: bool) {
    let size = trial.case % 4;
    let step = [7, 5, 4, 8][size as usize];
    let (frame, length) = [(GICD, FRAME), (GICC, PAGE)][trial.case as usize / 4];
    trial.execute(&[code::access(write, size), RET], &[0, UPPER + frame]);
    for offset in (0..length - 8)
        .step_by(step)
        .chain((0..PAGE - 8).step_by(3))
    {
        let value = trial.random.next();
        trial.repeat(&[value, UPPER + frame + offset]);
    }
}
