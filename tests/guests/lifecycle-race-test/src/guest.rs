//! Managed VMs with two vCPUs: the first reads a version from Mortise in a loop, the second makes calls
//! that are denied.

use crate::Outcome;
use hw_arch::firmware::hypercall4;
use tenon::thread::{Priority, Storage};
use tenon::time::{self, Duration};
use tenon_vm::{Blueprint, Error, Image, RAM, Totals, Vm};

/// Cores and memory size.
const CPUS: [u8; 2] = [2, 3];
pub(crate) const MEMORY: u64 = 2 << 20;
/// SMCCC_VERSION.
const VERSION: u32 = 0x8000_0000;
/// Time within which both vCPUs make progress beside others with slices of 1 ms.
const SOON: u64 = 400;

/// The image.
static CODE: Image<64> = Image::of_code(&[
    0x1000_0162, // adr x2, .+44
    0xd280_0021, // movz x1, #1
    0xd280_0060, // movz x0, #3
    0xf2b8_8000, // movk x0, #0xc400, lsl #16
    0xd280_0003, // movz x3, #0
    0xd400_0002, // hvc #0: CPU_ON
    0xd503_203f, // yield
    0xd280_0000, // movz x0, #0
    0xf2b0_0000, // movk x0, #0x8000, lsl #16
    0xd400_0002, // hvc #0: the version of the convention
    0x17ff_fffc, // b .-16
    0xd503_203f, // yield
    0xd280_2000, // movz x0, #0x100
    0xf2b8_c000, // movk x0, #0xc600, lsl #16
    0xd400_0002, // hvc #0: the version of life cycles
    0x17ff_fffc, // b .-16
]);

static SECOND: Storage<4096> = Storage::new();

/// Body of a managed Tenon VM.
pub(crate) fn run() {
    let calls = || {
        loop {
            let _denied = Totals::read();
            time::sleep(Duration::from_micros(20));
        }
    };
    if let Err(error) = SECOND.spawn_on(1, "second", Priority::new(20), calls) {
        tenon::log::info!("FAILED: {error}");
    }
    loop {
        let _version = hypercall4(VERSION, [0; 4]);
        time::sleep(Duration::from_micros(20));
    }
}

/// A VM from an image file, loaded and not started.
pub(crate) fn created(name: &str, priority: u8) -> Result<Vm, Error> {
    let vm = Vm::create(&Blueprint::new(name, MEMORY, &CPUS).priority(priority))?;
    load(vm)?;
    Ok(vm)
}

/// Loads its image.
pub(crate) fn load(vm: Vm) -> Result<(), Error> {
    vm.load(RAM, &CODE)
}

/// A running VM from an image file.
pub(crate) fn running(name: &str, priority: u8) -> Result<Vm, Error> {
    let vm = created(name, priority)?;
    vm.start()?;
    Ok(vm)
}

/// Progress of each vCPU.
fn beats(vm: Vm) -> Result<[u64; 2], Error> {
    let told = vm.statistics()?;
    let [_, calls, ..] = told.exits;
    Ok([calls.wrapping_sub(told.denied), told.denied])
}

/// Whether both vCPUs make progress.
pub(crate) fn both_run(vm: Vm) -> Outcome {
    let before = beats(vm)?;
    for _ in 0..SOON {
        time::sleep(Duration::from_micros(50));
        let now = beats(vm)?;
        if now.iter().zip(before).all(|(now, before)| *now != before) {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Whether no vCPU makes progress.
pub(crate) fn rests(vm: Vm) -> Outcome {
    let before = beats(vm)?;
    time::sleep(Duration::from_micros(300));
    Ok(beats(vm)? == before)
}
