//! Attacks on the GIC and by means of it.

use crate::attack::{Attack, BURST, Expect, Trial};
use crate::code::{self, ISB, MASK, RET, SPIN, System, UNMASK, WFI};
use crate::machine::{UPPER, prepare_code};
use crate::places::{GICD, GICR, REDISTRIBUTOR};

const FRAME: u64 = 0x1_0000;
/// The emulated frames: the distributor, and both frames of each vCPU's redistributor.
const FRAMES: [u64; 5] = [
    GICD,
    GICR,
    GICR + FRAME,
    GICR + REDISTRIBUTOR,
    GICR + REDISTRIBUTOR + FRAME,
];
/// Cases of a sweep: each frame with each access size.
const SWEEPS: u32 = FRAMES.len() as u32 * 4;

const IGROUPR0: u64 = 0x80;
const ISENABLER0: u64 = 0x100;
const ICENABLER0: u64 = 0x180;
const ISPENDR0: u64 = 0x200;
const ICACTIVER0: u64 = 0x380;
const IPRIORITYR0: u64 = 0x400;

/// Group 1 registers: acknowledge, end of interrupt, highest pending, binary point, control, enable.
const IAR1: System = System(3, 0, 12, 12, 0);
const EOIR1: System = System(3, 0, 12, 12, 1);
const DIR: System = System(3, 0, 12, 11, 1);
const EOIR0: System = System(3, 0, 12, 8, 1);
const PMR: System = System(3, 0, 4, 6, 0);
const AP1R0: System = System(3, 0, 12, 9, 0);
const IGRPEN0: System = System(3, 0, 12, 12, 6);
const IGRPEN1: System = System(3, 0, 12, 12, 7);
const CTLR: System = System(3, 0, 12, 12, 4);
const SGI1R: System = System(3, 0, 12, 11, 5);
const ASGI1R: System = System(3, 0, 12, 11, 6);
const SGI0R: System = System(3, 0, 12, 11, 7);

/// The virtual timer: compare value and control.
const CVAL: System = System(3, 3, 14, 3, 2);
const CTL: System = System(3, 3, 14, 3, 1);

/// The attacks and their expected outcomes.
pub const ATTACKS: &[Attack] = &[
    Attack::new("gic/load-every-register", SWEEPS, Expect::Contained, |t| {
        sweep(t, false);
    }),
    Attack::new("gic/store-every-register", SWEEPS, Expect::Contained, |t| {
        sweep(t, true);
    }),
    Attack::new("gic/other-redistributors", 6, DATA, |t| {
        let frame = GICR + u64::from(2 + t.case / 2) * REDISTRIBUTOR;
        let code = code::access(t.case % 2 == 1, 2);
        t.execute(&[code, RET], &[u64::MAX, frame + FRAME + ISENABLER0]);
    }),
    Attack::new("gic/end-any-interrupt", 1, Expect::Contained, |t| {
        for register in [EOIR1, EOIR0, DIR] {
            t.execute(&[register.write(0), RET], &[0]);
            for intid in (0..1024).chain(8192..8200) {
                t.repeat(&[intid]);
            }
        }
    }),
    Attack::new("gic/send-to-anybody", 3, Expect::Contained, |t| {
        let register = t.choice(&[SGI1R, ASGI1R, SGI0R]);
        t.execute(&[register.write(0), RET], &[0]);
        for intid in 0..16 {
            for targets in [0xffff, 1, 2, 4, 8, 1 << 40, 1 << 40 | 0xffff] {
                t.repeat(&[intid << 24 | targets]);
            }
            for _ in 0..8 {
                let wild = t.random.next();
                t.repeat(&[wild & !(1 << 40)]);
            }
        }
    }),
    Attack::new("gic/interrupts-at-random", 4, Expect::Any, |t| {
        // Everything enabled and pending, and taken: acknowledge, perhaps end, spin for a while.
        for own in [GICR, GICR + REDISTRIBUTOR] {
            for register in [ISENABLER0, ISPENDR0] {
                store(t, own + FRAME + register, 0xffff_ffff);
            }
        }
        t.execute(&[IGRPEN1.write(0), ISB, RET], &[1]);
        for _ in 0..64 {
            t.execute(&[UNMASK, ISB, MASK, IAR1.read(0), RET], &[]);
            if t.random.below(2) == 0 {
                t.execute(&[IAR1.read(0), EOIR1.write(0), RET], &[]);
            }
        }
    }),
    Attack::new("gic/disable-the-doorbell", 1, Expect::Endless, |t| {
        for own in [GICR, GICR + REDISTRIBUTOR] {
            for (register, value) in [
                (ICENABLER0, 0xffff_ffff),
                (IGROUPR0, 0xffff_ffff),
                (IPRIORITYR0, 0xffff_ffff),
            ] {
                store(t, own + FRAME + register, value);
            }
            store(t, own + 0x14, 2); // GICR_WAKER.ProcessorSleep
        }
        store(t, GICD, 0); // GICD_CTLR
        t.execute(&[SPIN], &[]);
    }),
    Attack::new("gic/mask-the-doorbell", 1, Expect::Endless, |t| {
        let code = [
            PMR.write(0),
            IGRPEN0.write(0),
            CTLR.write(1),
            EOIR0.write(0),
            ISB,
            MASK,
            SPIN,
        ];
        t.execute(&code, &[0, 2]);
    }),
    Attack::new("gic/outrank-the-doorbell", 1, Expect::Endless, |t| {
        t.execute(&[AP1R0.write(0), ISB, MASK, SPIN], &[1]);
    }),
    Attack::new("gic/outrank-it-asleep", 1, Expect::Endless, |t| {
        t.execute(&[AP1R0.write(0), ISB, MASK, WFI, code::AGAIN], &[1]);
    }),
];

/// Random accesses to the emulated frames, of any size and value.
pub fn any(trial: &mut Trial) {
    let size = trial.random.below(4) as u32;
    let write = trial.random.below(2) == 1;
    let frame = UPPER + trial.random.one_of(&FRAMES);
    prepare_code(&[code::access(write, size), RET]);
    for _ in 0..BURST {
        let reach = trial.random.one_of(&[0x100, 0x800, 0x1000, FRAME]);
        let mut offset = trial.random.below(reach);
        if trial.random.below(16) != 0 {
            offset &= !0 << size;
        }
        let wild = trial.random.next();
        let value = trial.random.one_of(&[wild, 1 << (wild & 31), u64::MAX]);
        trial.repeat(&[value, frame + offset.min(FRAME - 8)]);
    }
}

/// An SGI to random targets, without the bit for all other PEs.
pub fn sgi(trial: &mut Trial) {
    let register = trial.random.one_of(&[SGI1R, SGI1R, ASGI1R, SGI0R]);
    let targets = trial.random.below(0x1_0000) | trial.random.below(2) << 40;
    let value = trial.random.below(16) << 24 | targets;
    trial.execute(&[register.write(0), RET], &[value]);
}

/// Raises the virtual timer's interrupt, acknowledges the pending interrupt, and ends it or not.
pub fn take(trial: &mut Trial) {
    store(trial, GICD, 2); // GICD_CTLR.EnableGrp1A
    for register in [ICACTIVER0, ISENABLER0] {
        store(trial, GICR + REDISTRIBUTOR + FRAME + register, 1 << 27);
    }
    trial.execute(&[PMR.write(0), IGRPEN1.write(1), ISB, RET], &[0xff, 1]);
    trial.execute(&[CVAL.write(0), CTL.write(1), ISB, RET], &[0, 1]);
    trial.execute(&[UNMASK, ISB, MASK, RET], &[]);
    let end = trial.random.one_of(&[EOIR1, EOIR1, DIR, EOIR0]);
    trial.execute(&[CTL.write(1), IAR1.read(0), end.write(0), RET], &[]);
}

const DATA: Expect = Expect::Stopped("data abort");

fn store(trial: &mut Trial, address: u64, value: u64) {
    trial.execute(&[code::access(true, 2), RET], &[value, address]);
}

/// Accesses every register of a frame with one access size, also misaligned.
fn sweep(trial: &mut Trial, write: bool) {
    let size = trial.case % 4;
    let frame = UPPER + FRAMES[trial.case as usize / 4];
    let step = [7, 5, 4, 8][size as usize];
    trial.execute(&[code::access(write, size), RET], &[0, frame]);
    for offset in (0..FRAME - 8).step_by(step) {
        let value = trial.random.next();
        trial.repeat(&[value, frame + offset]);
    }
    for offset in (0..0x1000).step_by(3) {
        let value = trial.random.next();
        trial.repeat(&[value, frame + offset]);
    }
}
