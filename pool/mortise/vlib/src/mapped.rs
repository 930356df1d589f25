//! A vLib with its status page, as the manifest describes it.

use crate::session::{Change, Effects, Refusal, Session};
use core::sync::atomic::{AtomicU64, Ordering};
use core_manifest::{Owner, Vlib};
use core_memory::PhysicalRange;
use core_ring::Area;
use core_sync::TicketLock;
use mortise_partition::{Core, DirectSgi, Machine, RaiseInterrupt, Vm};
use mortise_transfer::FirstUse;

/// The words of the status page: the state, the calls begun, and the number of the last call
/// answered.
type Status = [AtomicU64; 3];

/// Role of a VM in a vLib.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    /// The VM that calls.
    Master,
    /// The VM that serves.
    Server,
}

/// A vLib, its status page, and its VMs.
pub(crate) struct MappedVlib {
    session: TicketLock<Session>,
    status: &'static Status,
    page: PhysicalRange,
    memory: FirstUse,
    master: usize,
    server: usize,
    interrupt: u32,
    /// SGI of a master with direct interrupts, otherwise zero.
    sgi: AtomicU64,
}

impl MappedVlib {
    /// A vLib as described; `None` if the description is invalid.
    pub fn new(described: &Vlib) -> Option<Self> {
        let Owner::Vm(master) = described.master.owner else {
            return None;
        };
        let page = described.status;
        // SAFETY: the manifest's parser has checked that no other use overlaps it. The early table
        // maps all RAM as normal memory, and so does each core that `is_reached_by` names.
        let status = unsafe { Area::from_raw(page.start() as *mut u8, page.size() as usize) }?;
        status.clear();
        Some(Self {
            session: TicketLock::new(Session::NEW),
            status: status.first_words()?,
            page,
            memory: FirstUse::new(described.memory),
            master: master.into(),
            server: described.server.into(),
            interrupt: described.master.interrupt.into(),
            sgi: AtomicU64::new(0),
        })
    }

    /// The role of a VM.
    pub fn role(&self, vm: usize) -> Option<Role> {
        match vm {
            _ if vm == self.master => Some(Role::Master),
            _ if vm == self.server => Some(Role::Server),
            _ => None,
        }
    }

    /// The master.
    pub fn master(&self, machine: &Machine) -> Option<&'static Vm> {
        machine.vm(self.master)
    }

    /// The server.
    pub fn server(&self, machine: &Machine) -> Option<&'static Vm> {
        machine.vm(self.server)
    }

    /// INTID of the interrupt by which the master is notified.
    pub const fn interrupt(&self) -> u32 {
        self.interrupt
    }

    /// The status page, from which the server loads to listen.
    pub const fn page(&self) -> PhysicalRange {
        self.page
    }

    /// Whether a core may access the status page.
    pub fn is_reached_by(&self, core: &'static Core) -> bool {
        core.hosts(self.master) || core.hosts(self.server)
    }

    /// The present state.
    pub fn session(&self) -> Session {
        *self.session.lock()
    }

    /// Does a step of the scrub before the first use of the shared memory; returns whether more
    /// follow. Called before one of its VMs is entered.
    pub fn scrub(&self) -> bool {
        let transfer = Core::current().transfer();
        // SAFETY: the windows are those of this core. The manifest's parser has checked that only
        // master and server map the memory, and each is entered after the last step.
        transfer.is_some_and(|transfer| unsafe { self.memory.step(transfer) })
    }

    /// The master's run begins; with an SGI if it has direct interrupts.
    pub fn master_begins(&self, sgi: u64) {
        self.sgi.store(sgi, Ordering::Release);
    }

    /// Executes a step: updates the session and the status page, and suspends or resumes the
    /// server, all under the lock. Returns the number of the last call. `caller` is the server's
    /// vCPU that requests the step.
    pub fn step(
        &self,
        machine: &'static Machine,
        caller: Option<usize>,
        step: impl FnOnce(&mut Session) -> Result<Effects, Refusal>,
    ) -> Result<u64, Refusal> {
        let mut session = self.session.lock();
        let effects = step(&mut session)?;
        let Session { state, begun, done } = *session;
        let [state_word, begun_word, done_word] = self.status;
        begun_word.store(begun.to_le(), Ordering::Relaxed);
        done_word.store(done.to_le(), Ordering::Release);
        // Written last: a reader that sees the new state sees the counters before it.
        state_word.store((state as u64).to_le(), Ordering::Release);
        match (effects.change, self.server(machine)) {
            (Some(Change::Suspend), Some(server)) => server.suspend(machine, caller),
            (Some(Change::Resume), Some(server)) => server.resume(machine),
            _ => {}
        }
        drop(session);
        if effects.notify {
            self.notify(machine);
        }
        Ok(begun)
    }

    /// Notifies the master of the end of a call.
    fn notify(&self, machine: &'static Machine) {
        match DirectSgi::from_bits(self.sgi.load(Ordering::Acquire)) {
            Some(sgi) => sgi.send(),
            None => {
                if let Some(master) = self.master(machine) {
                    master.raise(machine, self.interrupt);
                }
            }
        }
    }
}
