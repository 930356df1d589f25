//! Attacks on the console: forged lines of other VMs, terminal controls, the log ring itself.

use crate::attack::{Attack, Expect, Trial};
use crate::code::{self, RET};
use crate::places::SHARED;

/// The log ring (`core-ring`): header, then bytes.
const RING: u64 = SHARED + 0x1000;
const HEAD: u64 = RING + 0x40;
const DATA: u64 = RING + 0x100;
const KICK: u64 = 0xc600_0000;

/// The attacks and their expected outcomes.
pub const ATTACKS: &[Attack] = &[
    // Each ends in a restart, which reinitialises the ring.
    Attack::new("console/forge", 1, Expect::Restarted, |t| {
        let text = b"\n[00000.000000001] linux| forged\r\n[00000.000000001] mortise| forged\r\
            [00000.000000001] motor+ forged\x0b\x0c\x1c\x85\xe2\x80\xa8linux| forged\n";
        write(t, text);
        reset(t);
    }),
    Attack::new("console/control-bytes", 1, Expect::Restarted, |t| {
        let mut text = [0; 256];
        for (byte, value) in text.iter_mut().zip(0..=255) {
            *byte = value;
        }
        write(t, &text);
        write(t, b"\x14\x140\x141\x142\x149\x1b[2J\x1bc\x1b]0;x\x07\n");
        reset(t);
    }),
    Attack::new("console/endless", 1, Expect::Restarted, |t| {
        for line in 0..20 {
            let mut text = [b'x'; 250];
            text[249] = if line % 2 == 0 { b'\n' } else { b'\r' };
            write(t, &text);
        }
        reset(t);
    }),
    Attack::new("console/lying-ring", 8, Expect::Restarted, |t| {
        let wild = t.random.next();
        let lies = [
            0,
            u64::MAX,
            1 << 63,
            wild,
            wild & 0xffff,
            0x1_0000,
            7,
            !wild,
        ];
        let value = t.choice(&lies);
        for offset in [0x00, 0x08, 0x40, 0x48, 0x80] {
            store(t, RING + offset, value);
            kick(t);
        }
        kick(t);
        reset(t);
    }),
];

fn store(trial: &mut Trial, address: u64, value: u64) {
    trial.execute(&[code::access(true, 3), RET], &[value, address]);
}

fn kick(trial: &mut Trial) {
    trial.execute(&[code::call(false, 0), RET], &[KICK]);
}

fn reset(trial: &mut Trial) {
    trial.execute(&[code::call(false, 0), RET], &[0x8400_0009]);
}

/// Appends bytes to the ring as a producer would.
fn write(trial: &mut Trial, text: &[u8]) {
    let load = |t: &mut Trial, address| {
        let registers = t.execute(&[code::access(false, 3), RET], &[0, address]);
        registers.map_or(0, |registers| registers[0])
    };
    let head = load(trial, HEAD);
    let capacity = (load(trial, RING) >> 32).max(1);
    trial.execute(&[code::access(true, 0), RET], &[0, DATA + head % capacity]);
    for (index, byte) in (head..).zip(text) {
        trial.repeat(&[u64::from(*byte), DATA + index % capacity]);
    }
    store(trial, HEAD, head + text.len() as u64);
    kick(trial);
}
