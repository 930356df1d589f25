//! Manager that makes the calls.

use crate::{PAUSE, ROUNDS, at, next_beat};
use tenon::time::{self, Duration, Instant};
use tenon_vm::{Blueprint, Error, Image, Listed, RAM, State, Text, Totals, Vm};

/// Core and memory size of created VMs.
const CPU: u8 = 2;
const MEMORY: u64 = 2 << 20;
/// Priority of created VMs, the maximum that this manager may assign.
const PRIORITY: u8 = 20;
/// Time before the start of a period at which it wakes up.
const AWAKE: Duration = Duration::from_micros(20);

/// Image of an endless loop.
static CODE: Image<4096> = Image::of_code(&[0x1400_0000]);

/// A call on the VM in the state after the preceding calls; returns whether the answer is right.
type Call = fn(&mut Vm) -> Result<bool, Error>;

/// Number of calls.
pub(crate) const CALLS: usize = NAMED.len();

/// The calls in order: the life of a VM from an image, then of one from a template.
const NAMED: [(&str, Call); 14] = [
    ("version", |_| Ok(Totals::read()?.version == 1)),
    ("create", |vm| {
        *vm = Vm::create(&Blueprint::new("guest", MEMORY, &[CPU]).priority(PRIORITY))?;
        is(vm, State::Created)
    }),
    ("load", |vm| vm.load(RAM, &CODE).map(|()| true)),
    ("start", |vm| vm.start().map(|()| true)),
    ("pause", |vm| {
        vm.pause()?;
        is(vm, State::Paused)
    }),
    ("statistics", |vm| is(vm, State::Paused)),
    ("resume", |vm| {
        vm.resume()?;
        is(vm, State::Running)
    }),
    ("list", |vm| {
        let listed = Listed::at(vm.handle() & 0xff)?;
        Ok(listed.is_some_and(|listed| listed.vm == *vm && listed.memory == MEMORY))
    }),
    ("console", |vm| Ok(vm.read_console(&mut Text::new())? == 0)),
    ("restart", |vm| {
        let runs = vm.restart()?;
        Ok(!runs && is(vm, State::Created)?)
    }),
    ("destroy", |vm| gone(vm)),
    ("instantiate", |vm| {
        *vm = Vm::instantiate("job")?;
        is(vm, State::Running)
    }),
    ("restart of a template's", |vm| {
        let runs = vm.restart()?;
        Ok(runs && is(vm, State::Running)?)
    }),
    ("destroy of a template's", |vm| gone(vm)),
];

fn is(vm: &Vm, state: State) -> Result<bool, Error> {
    Ok(vm.statistics()?.state == state)
}

fn gone(vm: &Vm) -> Result<bool, Error> {
    vm.destroy()?;
    Ok(vm.statistics() == Err(Error::NotFound))
}

/// Makes all calls in each round; prints for each how often it was paused during the call.
pub(crate) fn train() {
    let before = Totals::read();
    let mut paused = [0; CALLS];
    let mut vm = Vm::from_handle(0);
    let first = next_beat().next_multiple_of(CALLS as u64);
    for step in 0..CALLS as u64 * ROUNDS {
        let which = step as usize % CALLS;
        let (Some((name, call)), Some(paused)) = (NAMED.get(which), paused.get_mut(which)) else {
            continue;
        };
        let beat = at(first + step);
        time::sleep_until(Instant::from_nanoseconds(
            beat.nanoseconds() - AWAKE.as_nanos() as u64,
        ));
        while Instant::now() < beat {}
        match call(&mut vm) {
            Ok(true) => {}
            Ok(false) => tenon::log::info!("FAILED: {name}: not as it should be"),
            Err(error) => tenon::log::info!("FAILED: {name}: {error}"),
        }
        *paused += u32::from(Instant::now().since(beat) >= PAUSE);
    }
    for ((name, _), paused) in NAMED.iter().zip(paused) {
        tenon::log::info!("{name}: paused in {paused} of {ROUNDS}");
    }
    match Totals::read() == before {
        true => tenon::log::info!("all is as before"),
        false => tenon::log::info!("FAILED: {before:?} became {:?}", Totals::read()),
    }
}
