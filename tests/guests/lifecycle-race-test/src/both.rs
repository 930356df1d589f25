//! VMs with a vCPU on each of two shared cores.

use crate::Outcome;
use crate::guest::{both_run, rests, running};
use tenon::time::{self, Duration};
use tenon_vm::{Error, Vm};

/// Number of pauses or destructions, each at another phase of the round-robin.
const TURNS: u64 = 24;
/// Priorities: above the other VM, and equal to it, with round-robin slices of 1 ms.
const URGENT: u8 = 20;
const BACKGROUND: u8 = 0;

/// Waits for a time that differs in each round.
fn pass(turn: u64) {
    time::sleep(Duration::from_nanos(2_000 + turn * 61_731));
}

pub(crate) fn held() -> Outcome {
    let mut good = true;
    for priority in [URGENT, BACKGROUND] {
        let other = running("other", BACKGROUND)?;
        let vm = running("one", priority)?;
        for turn in 0..TURNS {
            pass(turn);
            vm.pause()?;
            good &= rests(vm)? && both_run(other)?;
            // The other VM too, and it stays at rest when the first is resumed.
            other.pause()?;
            good &= rests(other)? && rests(vm)?;
            vm.resume()?;
            good &= rests(other)? && both_run(vm)?;
            other.resume()?;
        }
        vm.destroy()?;
        good &= both_run(other)?;
        other.destroy()?;
    }
    Ok(good)
}

pub(crate) fn gone() -> Outcome {
    let mut good = true;
    let other = running("other", BACKGROUND)?;
    for turn in 0..TURNS {
        let vm = running("one", if turn % 2 == 0 { URGENT } else { BACKGROUND })?;
        pass(turn);
        if turn % 3 == 0 {
            vm.pause()?;
        }
        vm.destroy()?;
        good &= is_gone(vm) && both_run(other)?;
    }
    other.destroy()?;
    Ok(good)
}

fn is_gone(vm: Vm) -> bool {
    vm.statistics() == Err(Error::NotFound)
}
