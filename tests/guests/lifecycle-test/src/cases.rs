//! Test cases: correct use of the life-cycle hypercalls.

use crate::guests;
use tenon::time::{self, Duration};
use tenon_vm::{Blueprint, Error, Image, Listed, RAM, State, Text, Totals, Vm};

type Outcome = Result<bool, Error>;

/// Core of VMs created at run time.
const CPU: u8 = 1;
/// Number of pauses of a running VM.
const PAUSES: u64 = 300;
/// Minimum memory size in bytes.
const LEAST: u64 = 2 << 20;

/// A running VM of this image.
pub(crate) fn made<const N: usize>(image: &Image<N>) -> Result<Vm, Error> {
    let vm = Vm::create(&blueprint("guest"))?;
    vm.load(RAM, image)?;
    vm.start()?;
    Ok(vm)
}

pub(crate) fn blueprint(name: &str) -> Blueprint {
    Blueprint::new(name, LEAST, &[CPU])
}

/// Whether it reaches a state within the time limit.
fn becomes(vm: Vm, state: State) -> Outcome {
    for _ in 0..1000 {
        if vm.statistics()?.state == state {
            return Ok(true);
        }
        time::sleep(Duration::from_micros(100));
    }
    Ok(false)
}

pub(crate) fn turns_off() -> Outcome {
    let vm = made(&guests::OFF)?;
    let off = becomes(vm, State::Off)?;
    let statistics = vm.statistics()?;
    vm.destroy()?;
    let [_, calls, ..] = statistics.exits;
    Ok(off && calls == 1 && statistics.vcpus == 1 && statistics.memory == LEAST)
}

pub(crate) fn faults() -> Outcome {
    let vm = made(&guests::FAULT)?;
    let stopped = becomes(vm, State::Stopped)?;
    vm.destroy()?;
    Ok(stopped)
}

pub(crate) fn pauses() -> Outcome {
    let calls = |vm: Vm| vm.statistics().map(|told| told.exits[1]);
    let vm = made(&guests::CALLS)?;
    time::sleep(Duration::from_millis(1));
    vm.pause()?;
    let at_pause = calls(vm)?;
    time::sleep(Duration::from_millis(1));
    let still = calls(vm)?;
    vm.resume()?;
    time::sleep(Duration::from_millis(1));
    let later = calls(vm)?;
    vm.pause()?;
    vm.destroy()?;
    Ok(at_pause > 0 && at_pause == still && later > still)
}

pub(crate) fn pauses_in_calls() -> Outcome {
    let vm = made(&guests::TRIES)?;
    let (mut good, mut before) = (true, 0);
    for turn in 0..PAUSES {
        // During each of its calls, and between them.
        time::sleep(Duration::from_nanos(20_000 + turn * 137));
        vm.pause()?;
        let calls = vm.statistics()?.exits[1];
        good &= calls > before;
        before = calls;
        vm.resume()?;
    }
    let told = vm.statistics()?;
    vm.destroy()?;
    Ok(good && told.state == State::Running && told.denied > PAUSES)
}

pub(crate) fn states() -> Outcome {
    let busy = |result: Result<(), Error>| result == Err(Error::Busy);
    let vm = Vm::create(&blueprint("guest"))?;
    let restart = |vm: &Vm| vm.restart().map(drop);
    let created = busy(vm.pause()) && busy(vm.resume()) && busy(restart(&vm));
    vm.load(RAM, &guests::CALLS)?;
    vm.start()?;
    let running = busy(vm.start()) && busy(vm.resume()) && busy(vm.load(RAM, &guests::OFF));
    vm.pause()?;
    let paused = busy(vm.start()) && busy(vm.pause()) && busy(vm.load(RAM, &guests::OFF));
    vm.resume()?;
    vm.destroy()?;
    let vm = made(&guests::OFF)?;
    let off = becomes(vm, State::Off)? && busy(vm.start()) && busy(vm.pause()) && busy(vm.resume());
    vm.destroy()?;
    Ok(created && running && paused && off && vm.destroy() == Err(Error::NotFound))
}

pub(crate) fn restarts() -> Outcome {
    let vm = made(&guests::ONCE)?;
    let first = becomes(vm, State::Off)?;
    let has_image = vm.restart()?;
    let created = vm.statistics()?.state == State::Created;
    vm.load(RAM, &guests::ONCE)?;
    vm.start()?;
    // It faults if its memory was not cleared.
    let second = becomes(vm, State::Off)?;
    vm.destroy()?;
    Ok(first && !has_image && created && second)
}

pub(crate) fn instantiates() -> Outcome {
    let unknown = Vm::instantiate("nobody") == Err(Error::NotFound);
    let vm = Vm::instantiate("job")?;
    let second = Vm::instantiate("job") == Err(Error::Busy);
    let text = Text::new();
    let mut text = text;
    let mut greeted = false;
    for _ in 0..100 {
        time::sleep(Duration::from_millis(1));
        let count = vm.read_console(&mut text)?;
        let bytes = text.bytes();
        let said = bytes.get(..count).unwrap_or(&[]);
        greeted |= said.windows(5).any(|word| word == b"hello");
        if greeted {
            break;
        }
    }
    let again = vm.restart()?;
    let running = becomes(vm, State::Running)?;
    vm.destroy()?;
    Ok(unknown && second && greeted && again && running)
}

pub(crate) fn exhausts() -> Outcome {
    let free = Totals::read()?.free;
    let whole = Vm::create(&Blueprint::new("whole", free, &[CPU]))?;
    let none = Vm::create(&blueprint("more")) == Err(Error::NoMemory);
    whole.destroy()?;
    let too_much = Vm::create(&Blueprint::new("whole", free + LEAST, &[CPU]));
    let names = ["one", "two", "three"];
    let mut vms = [None; 3];
    for (vm, name) in vms.iter_mut().zip(names) {
        *vm = Some(Vm::create(&blueprint(name))?);
    }
    let no_place = Vm::create(&blueprint("four")) == Err(Error::NoMemory);
    for vm in vms.into_iter().flatten() {
        vm.destroy()?;
    }
    Ok(none && too_much == Err(Error::NoMemory) && no_place)
}

pub(crate) fn handles() -> Outcome {
    let first = Vm::create(&blueprint("guest"))?;
    let twice = Vm::create(&blueprint("guest")) == Err(Error::Invalid);
    let mut listed = 0;
    let mut slot = 0;
    while let Ok(place) = Listed::at(slot) {
        listed += u32::from(place.is_some_and(|it| it.vm == first && it.memory == LEAST));
        slot += 1;
    }
    first.destroy()?;
    let second = Vm::create(&blueprint("guest"))?;
    let stale = first.start() == Err(Error::NotFound) && first.destroy() == Err(Error::NotFound);
    second.destroy()?;
    Ok(twice && listed == 1 && stale && first != second)
}

pub(crate) fn cycles() -> Outcome {
    for cycle in 0..crate::CYCLES {
        let vm = made(&guests::CALLS)?;
        if cycle % 2 == 0 {
            vm.pause()?;
        }
        vm.destroy()?;
    }
    Ok(true)
}
