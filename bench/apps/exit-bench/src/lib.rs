//! What a guest's exits cost: makes each of them many times, for `./tenon bench exits`.
//!
//! Each time lies between two marks, and what Mortise executes there is counted from outside. The
//! names follow when all is measured, in the order of the marks: to print is an exit too.

#![no_std]
#![expect(unsafe_code, reason = "reaches for the distributor")]

use core::hint::spin_loop;
use core::sync::atomic::{AtomicU32, Ordering::Relaxed};
use hw_arch::{firmware, mmio::Mmio};
use hw_irqchip_gicv3::{Group, cpu_interface};
use tenon::irq::{self, Trigger};
use tenon::time::{self, Duration, Instant, Timer};
use tenon_channel::{Error, Receiver, Sender};

/// How often each exit is made.
const SAMPLES: u32 = 200;

const PSCI_VERSION: u32 = 0x8400_0000;
const SMCCC_VERSION: u32 = 0x8000_0000;
/// An SGI that nobody else uses.
const SGI: u32 = 3;
/// Enable bits of the first shared interrupts (IHI 0069, 12.9.24).
const ISENABLER1: usize = 0x104;
/// Where the distributor of the board `qemu-virt` is.
// SAFETY: a driver of Tenon's has mapped the distributor; what is accessed here has no effect.
const DISTRIBUTOR: Mmio = unsafe { Mmio::new(0x0800_0000, 0x1_0000) };

/// Interrupts that came.
static CAME: AtomicU32 = AtomicU32::new(0);
static TIMER: Timer = Timer::new(|| {
    CAME.fetch_add(1, Relaxed);
});

/// The main thread: what it measures is only disturbed by what Mortise has to do itself.
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
        measure("hypercall", || firmware::call_hypervisor(PSCI_VERSION)),
        measure("gicd_read", || _ = DISTRIBUTOR.read32(ISENABLER1)),
        measure("gicd_write_zero", || DISTRIBUTOR.write32(ISENABLER1, 0)),
        measure("sgi_self", || {
            interrupted(|| cpu_interface::send_sgi(Group::One, SGI, 0));
        }),
    ];
    for function in [PSCI_VERSION, SMCCC_VERSION] {
        let answer = firmware::ask_hypervisor(function, [1, 2, 3, 4]);
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
    tenon::log::info!("end of exit-bench");
    for name in ["to-shared", "to-direct"] {
        if let Ok(receiver) = Receiver::open(name) {
            listen(receiver);
        }
    }
}

/// Makes an exit, again and again.
fn measure(name: &'static str, mut exit: impl FnMut()) -> &'static str {
    for _ in 0..SAMPLES {
        let _ = hw_pmu::begin();
        exit();
        let _ = hw_pmu::end();
    }
    name
}

/// Causes an interrupt and has it served.
fn interrupted(cause: impl FnOnce()) {
    let before = CAME.load(Relaxed);
    cause();
    while CAME.load(Relaxed) == before {
        spin_loop();
    }
}

/// Sends messages to a VM that waits for each, if this one has that channel: first to find out what
/// the doorbell costs here, then what it costs there.
fn ring(channel: &'static str) -> Option<&'static str> {
    let mut sender = Sender::open(channel).ok()?;
    while !sender.is_connected() {
        time::sleep(Duration::from_millis(1));
    }
    for there in [false, true] {
        for _ in 0..SAMPLES {
            // The other core's turn to wait comes meanwhile.
            time::sleep(Duration::from_micros(100));
            let _ = hw_pmu::begin();
            let sent = sender.try_send(&[0; 8]);
            if !there {
                let _ = hw_pmu::end();
            }
            while sender.count() > 0 {
                spin_loop();
            }
            // Nothing, if it ended before.
            let _ = hw_pmu::end();
            if let Err(error) = sent {
                tenon::log::error!("{channel}: {error}");
            }
        }
    }
    Some(channel)
}

/// Waits for message after message.
fn listen(mut receiver: Receiver) {
    let mut message = [0; 8];
    while !matches!(receiver.read(&mut message), Err(Error::PeerGone)) {}
}
