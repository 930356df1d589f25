//! A machine with a vCPU on each of two cores that another one has as well.

use crate::Outcome;
use crate::guest::{both_run, rests, running};
use tenon::time::{self, Duration};
use tenon_vm::{Error, Vm};

/// How often one is paused, or destroyed, each time at another moment of its others' turns.
const TURNS: u64 = 24;
/// Priorities: above the other one, and beside it, where both have turns of 1 ms.
const URGENT: u8 = 20;
const BACKGROUND: u8 = 0;

/// Lets some time pass, another one in each turn.
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
            // The other one as well, and it stays so when the first goes on.
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
