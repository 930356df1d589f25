//! Benchmark of exits, for `./tenon bench exits`.
//!
//! Each exit is made many times between two marks, and the plugin counts Mortise's instructions there.
//! The names are printed at the end, in the order of the marks, because printing is an exit too.

#![no_std]
#![expect(unsafe_code, reason = "reaches for the distributor")]

use core::hint::spin_loop;
use core::sync::atomic::{AtomicU32, Ordering::Relaxed};
use hw_arch::{firmware, mmio::Mmio};
use hw_irqchip_gicv3::{Group, cpu_interface};
use tenon::irq::{self, Trigger};
use tenon::time::{self, Duration, Instant, Timer};
use tenon_channel::{Error, Receiver, Sender};

/// Number of samples per exit.
const SAMPLES: u32 = 200;

const PSCI_VERSION: u32 = 0x8400_0000;
const SMCCC_VERSION: u32 = 0x8000_0000;
/// An unused SGI.
const SGI: u32 = 3;
/// Enable bits of the first SPIs (IHI 0069, 12.9.24).
const ISENABLER1: usize = 0x104;
/// Address of the distributor on `qemu-virt`.
// SAFETY: Tenon's GIC driver has mapped the distributor; the accesses here change no state.
const DISTRIBUTOR: Mmio = unsafe { Mmio::new(0x0800_0000, 0x1_0000) };

/// Number of delivered interrupts.
static CAME: AtomicU32 = AtomicU32::new(0);
static TIMER: Timer = Timer::new(|| {
    CAME.fetch_add(1, Relaxed);
});

/// Main thread: makes all measurements.
pub fn main() {
    if let Err(error) = irq::register(SGI, Trigger::Edge, |_| {
        CAME.fetch_add(1, Relaxed);
    }) {
        tenon::log::error!("no interrupt {SGI}: {error}");
    }
    let own = [
        measure("irq", || {
            interrupted(|| TIMER.start(Instant::from_nanoseconds(0)))
        }),
        measure("hypercall", || firmware::hypercall0(PSCI_VERSION)),
        measure("gicd_read", || _ = DISTRIBUTOR.read32(ISENABLER1)),
        measure("gicd_write_zero", || DISTRIBUTOR.write32(ISENABLER1, 0)),
        measure("sgi_self", || {
            interrupted(|| cpu_interface::send_sgi(Group::One, SGI, 0));
        }),
    ];
    for function in [PSCI_VERSION, SMCCC_VERSION] {
        let answer = firmware::hypercall4(function, [1, 2, 3, 4]);
        tenon::log::info!("call {function:#x} answers {answer:x?}");
    }
    let doorbells = ["to-shared", "to-direct"].map(ring);
    for name in own {
        tenon::log::info!("measured {name} samples={SAMPLES}");
    }
    for channel in doorbells.into_iter().flatten() {
        tenon::log::info!("measured doorbell_send {channel} samples={SAMPLES}");
        tenon::log::info!("measured doorbell_receive {channel} samples={SAMPLES}");
    }
    tenon::log::info!("end of exits");
    for name in ["to-shared", "to-direct"] {
        if let Ok(receiver) = Receiver::open(name) {
            listen(receiver);
        }
    }
}

/// Makes an exit repeatedly.
fn measure(name: &'static str, mut exit: impl FnMut()) -> &'static str {
    for _ in 0..SAMPLES {
        let _ = hw_pmu::begin();
        exit();
        let _ = hw_pmu::end();
    }
    name
}

/// Raises an interrupt and waits until it is handled.
fn interrupted(cause: impl FnOnce()) {
    let before = CAME.load(Relaxed);
    cause();
    while CAME.load(Relaxed) == before {
        spin_loop();
    }
}

/// Sends messages to a VM that blocks for each, if this VM has that channel: first for the cost of the
/// doorbell at the sender, then at the receiver.
fn ring(channel: &'static str) -> Option<&'static str> {
    let mut sender = Sender::open(channel).ok()?;
    while !sender.is_connected() {
        time::sleep(Duration::from_millis(1));
    }
    for there in [false, true] {
        for _ in 0..SAMPLES {
            // The other core blocks in the meantime.
            time::sleep(Duration::from_micros(100));
            let _ = hw_pmu::begin();
            let sent = sender.try_send(&[0; 8]);
            if !there {
                let _ = hw_pmu::end();
            }
            while sender.count() > 0 {
                spin_loop();
            }
            // No effect if the peer has ended.
            let _ = hw_pmu::end();
            if let Err(error) = sent {
                tenon::log::error!("{channel}: {error}");
            }
        }
    }
    Some(channel)
}

/// Receives messages for ever, blocking for each.
fn listen(mut receiver: Receiver) {
    let mut message = [0; 8];
    while !matches!(receiver.read(&mut message), Err(Error::PeerGone)) {}
}
