//! Doorbell of an end: wake-up of its thread, or hypercall to the peer's VM.

use crate::Error;
use core::cell::Cell;
use core_ring::message::Doorbell;
use tenon_thread::time::Instant;
use tenon_thread::wait::{Guarded, WaitQueue};

/// Hypercall that rings the doorbell of another VM's end: fast, 64 bits, vendor-specific hypervisor
/// range (Arm DEN 0028, 2.5).
const RING: u32 = 0xc600_0200;

struct State {
    /// Rung while no thread waited.
    rung: Cell<bool>,
    waiter: WaitQueue,
}

/// What an end waits for; rung by a thread, or by an interrupt handler for another VM.
pub(crate) struct Bell(Guarded<State>);

impl Bell {
    pub const fn new() -> Self {
        Self(Guarded::new(State {
            rung: Cell::new(false),
            waiter: WaitQueue::new(),
        }))
    }

    /// Wakes the waiter, or lets the next wait return at once.
    pub fn ring(&self) {
        self.0.try_or_wake(
            |state, _| state.waiter.is_empty().then(|| state.rung.set(true)),
            |state, waking| {
                state.waiter.wake(waking);
            },
        );
    }

    /// Waits until it is rung, or was rung since the last wait.
    #[cold]
    pub fn wait(&'static self, deadline: Option<Instant>) -> Result<(), Error> {
        self.0.try_or_wait(
            |state, _| state.rung.take().then_some(Ok(())),
            |_, waiting| {
                let turn = waiting.wait(|state| &state.waiter, deadline);
                turn.map_err(|_| Error::TimedOut)
            },
        )
    }
}

/// The peer.
#[derive(Clone, Copy)]
pub(crate) enum Peer {
    /// In this image.
    Thread(&'static Bell),
    /// In another VM, with this channel number.
    Vm(u32),
}

impl Peer {
    /// Rings the peer's doorbell if it waits.
    #[inline(always)]
    pub fn ring_if_waiting(&self, doorbell: Doorbell) {
        if doorbell == Doorbell::Ring {
            self.ring();
        }
    }

    /// Rings the peer's doorbell.
    #[cold]
    pub fn ring(&self) {
        match *self {
            Self::Thread(bell) => bell.ring(),
            // The result does not matter: only the owner of an end gets here.
            Self::Vm(number) => _ = hw_arch::firmware::hypercall1(RING, number.into()),
        }
    }
}
