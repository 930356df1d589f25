//! Interrupts for a core with a more urgent VM, for `./tenon bench storm`.
//!
//! The VM `hostile` has a vCPU on the victim's core and senders on others, which use one path after the
//! other without a pause. The victim computes meanwhile, between two marks per path; the plugin counts
//! Mortise's instructions on its core there. All VMs read one counter, by which they agree on the
//! times.

#![no_std]
#![expect(unsafe_code, reason = "reaches for the interrupt controller")]

use core::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use hw_arch::{cpu, firmware, mmio::Mmio};
use hw_irqchip_gicv3::{Group, cpu_interface};
use tenon::irq::{self, Trigger};
use tenon::thread::{Priority, Storage};
use tenon::time::{self, Duration, Instant};
use tenon_channel::{Error, Receiver, Sender};

/// The paths, in the order of their times. At the first one no VM sends: the marks are exits on a
/// shared core.
const PATHS: [&str; 6] = [
    "none",
    "sgi",
    "redistributor",
    "distributor",
    "psci",
    "channel",
];

/// The first path's time, and those of a path and of the part of it in which the victim computes. In
/// the rest the vCPUs behind it have the core.
const BEGIN: u64 = 60_000_000;
const TIME: u64 = 8_000_000;
const COMPUTES: u64 = 6_000_000;

/// An SGI of the hostile VM, and its vCPU on the victim's core.
const SGI: u32 = 5;
const SIBLING: u64 = 1;

const CPU_ON: u32 = 0xc400_0003;

/// Registers of the redistributor of vCPU 1, on `qemu-virt` (IHI 0069, 12.11).
// SAFETY: Tenon's GIC driver has mapped the redistributors; only the storm uses this SGI.
const REDISTRIBUTOR: Mmio = unsafe { Mmio::new(0x080a_0000 + 0x2_0000 + 0x1_0000, 0x1_0000) };
/// The distributor.
// SAFETY: as above; only the storm uses the channel's SPI in this way.
const DISTRIBUTOR: Mmio = unsafe { Mmio::new(0x0800_0000, 0x1_0000) };
const ISENABLER: usize = 0x100;
const ISPENDR: usize = 0x200;
const IROUTER: usize = 0x6000;

/// Whether the vCPU on the victim's core is there.
static READY: AtomicBool = AtomicBool::new(false);
/// Interrupts that this vCPU has taken, and those that were sent.
static TAKEN: AtomicU64 = AtomicU64::new(0);
static SENT: AtomicU64 = AtomicU64::new(0);

static RECEIVER: Storage<4096> = Storage::new();
static SENDERS: [Storage<4096>; 2] = [const { Storage::new() }; 2];

/// Main thread: takes the part of the VM, which its channels tell.
pub fn main() {
    if let Ok(sender) = Sender::open("ring") {
        hostile(sender);
    } else if let Ok(receiver) = Receiver::open("ring") {
        listen(receiver);
    } else {
        victim();
    }
}

/// The time from the start of the counter.
fn now() -> u64 {
    Instant::now().nanoseconds()
}

/// The path of this time, if any.
fn path() -> Option<usize> {
    let index = now().checked_sub(BEGIN)? / TIME;
    (index < PATHS.len() as u64).then_some(index as usize)
}

/// Computes between marks, at the time of each path.
fn victim() {
    for path in 0..PATHS.len() as u64 {
        let begin = BEGIN + path * TIME;
        time::sleep_until(Instant::from_nanoseconds(begin));
        let _ = hw_pmu::begin();
        while now() < begin + COMPUTES {
            cpu::relax();
        }
        let _ = hw_pmu::end();
    }
    for path in PATHS {
        tenon::log::info!("measured {path} samples=1");
    }
    // The others say how much they sent.
    time::sleep(Duration::from_millis(40));
    tenon::log::info!("end of storm");
}

/// Starts the vCPU on the victim's core and a sender on each other core.
fn hostile(sender: Sender) {
    let receiver = RECEIVER.spawn_on(SIBLING as usize, "receiver", Priority::new(20), || {
        let taken = irq::register(SGI, Trigger::Edge, |_| {
            TAKEN.fetch_add(1, Relaxed);
        });
        REDISTRIBUTOR.write32(ISENABLER, 1 << SGI);
        tenon::log::info!("the receiver is there: {}", taken.is_ok());
        READY.store(true, Relaxed);
        loop {
            time::sleep(Duration::from_millis(1000));
        }
    });
    tenon::log::info!("the receiver starts: {}", receiver.is_ok());
    while !READY.load(Relaxed) {
        time::sleep(Duration::from_millis(1));
    }
    for (storage, core) in SENDERS.iter().zip(2..) {
        let _fewer_cores = storage.spawn_on(core, "sender", Priority::new(20), || send(None));
    }
    send(Some(sender));
    tenon::log::info!("sent {}, taken {}", SENT.load(Relaxed), TAKEN.load(Relaxed));
}

/// Uses each path without a pause at its time.
fn send(mut sender: Option<Sender>) {
    while now() < BEGIN {
        cpu::relax();
    }
    while let Some(path) = path() {
        SENT.fetch_add(u64::from(path != 0), Relaxed);
        match PATHS[path] {
            "none" => {}
            "sgi" => cpu_interface::send_sgi(Group::One, SGI, SIBLING),
            "redistributor" => REDISTRIBUTOR.write32(ISPENDR, 1 << SGI),
            "distributor" => pend_spi(),
            "psci" => {
                let _on = firmware::hypercall4(CPU_ON, [SIBLING, 0, 0, 0]);
            }
            _ => {
                let _full = sender.as_mut().map(|sender| sender.try_send(&[0; 8]));
            }
        }
        cpu::relax();
    }
}

/// Routes the VM's first enabled SPI to the vCPU on the victim's core and makes it pending.
fn pend_spi() {
    for word in 1..8 {
        let enabled = DISTRIBUTOR.read32(ISENABLER + word * 4);
        if enabled != 0 {
            let intid = word * 32 + enabled.trailing_zeros() as usize;
            DISTRIBUTOR.write64(IROUTER + intid * 8, SIBLING);
            DISTRIBUTOR.write32(ISPENDR + word * 4, enabled & enabled.wrapping_neg());
            return;
        }
    }
}

/// Receives messages for ever, blocking for each.
fn listen(mut receiver: Receiver) {
    let mut message = [0; 8];
    while !matches!(receiver.read(&mut message), Err(Error::PeerGone)) {}
}
