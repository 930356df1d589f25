//! A vLib where the manifest has it.

use crate::session::{Follow, Order, Refusal, Session};
use core::sync::atomic::{AtomicU64, Ordering};
use core_manifest::{Owner, Vlib};
use core_memory::PhysicalRange;
use core_ring::Area;
use core_sync::TicketLock;
use mortise_partition::{Core, DirectSgi, Machine, Vm};

/// Words of the status page, by their offsets.
const STATE: usize = 0x00;
const BEGUN: usize = 0x08;
const DONE: usize = 0x10;

/// What a VM has to do with a vLib.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    /// It calls.
    Master,
    /// It serves.
    Server,
}

/// A vLib, its status page, and whose it is.
pub(crate) struct Placed {
    session: TicketLock<Session>,
    status: Area<'static>,
    page: PhysicalRange,
    master: usize,
    server: usize,
    interrupt: u32,
    /// How the master is interrupted if its interrupts are its own, otherwise zero.
    bell: AtomicU64,
}

impl Placed {
    /// One as described; nothing if it cannot be.
    pub fn new(described: &Vlib) -> Option<Self> {
        let Owner::Vm(master) = described.master.owner else {
            return None;
        };
        let page = described.status;
        // SAFETY: the manifest's parser has checked that no other use overlaps it; the early table maps
        // all of RAM as normal memory, and so does each core that `is_reached_by` names.
        let status = unsafe { Area::from_raw(page.start() as *mut u8, page.size() as usize) }?;
        status.clear();
        Some(Self {
            session: TicketLock::new(Session::NEW),
            status,
            page,
            master: master.into(),
            server: described.server.into(),
            interrupt: described.master.interrupt.into(),
            bell: AtomicU64::new(0),
        })
    }

    /// What this VM has to do with it.
    pub fn role(&self, vm: usize) -> Option<Role> {
        match vm {
            _ if vm == self.master => Some(Role::Master),
            _ if vm == self.server => Some(Role::Server),
            _ => None,
        }
    }

    /// Its master.
    pub fn master(&self, machine: &Machine) -> Option<&'static Vm> {
        machine.vm(self.master)
    }

    /// Its server.
    pub fn server(&self, machine: &Machine) -> Option<&'static Vm> {
        machine.vm(self.server)
    }

    /// The interrupt by which the master is told of an end.
    pub const fn interrupt(&self) -> u32 {
        self.interrupt
    }

    /// The status page, which is the server's door: it loads from there to listen.
    pub const fn page(&self) -> PhysicalRange {
        self.page
    }

    /// Whether a core may have to do with it.
    pub fn is_reached_by(&self, core: &'static Core) -> bool {
        core.hosts(self.master) || core.hosts(self.server)
    }

    /// How far it is.
    pub fn session(&self) -> Session {
        *self.session.lock()
    }

    /// The master begins, with a bell if its interrupts are its own.
    pub fn master_begins(&self, bell: u64) {
        self.bell.store(bell, Ordering::Release);
    }

    /// Does a step, shows it, and has the server follow: nobody's step comes in between. The number of
    /// the last call; `caller` is the server's vCPU that asks for it.
    pub fn step(
        &self,
        machine: &'static Machine,
        caller: Option<usize>,
        step: impl FnOnce(&mut Session) -> Result<Follow, Refusal>,
    ) -> Result<u64, Refusal> {
        let mut session = self.session.lock();
        let follow = step(&mut session)?;
        let begun = session.begun;
        self.status.store(BEGUN, begun, Ordering::Relaxed);
        self.status.store(DONE, session.done, Ordering::Release);
        // Last: who finds nobody there any more finds what was done before.
        let state = session.state as u64;
        self.status.store(STATE, state, Ordering::Release);
        match (follow.order, self.server(machine)) {
            (Some(Order::Suspend), Some(server)) => server.suspend(machine, caller),
            (Some(Order::Resume), Some(server)) => server.resume(machine),
            _ => {}
        }
        drop(session);
        if follow.tell {
            self.tell(machine);
        }
        Ok(begun)
    }

    /// Tells the master that a call has ended.
    fn tell(&self, machine: &'static Machine) {
        match DirectSgi::from_bits(self.bell.load(Ordering::Acquire)) {
            Some(bell) => bell.send(),
            None => {
                if let Some(master) = self.master(machine) {
                    master.raise(machine, self.interrupt);
                }
            }
        }
    }
}
