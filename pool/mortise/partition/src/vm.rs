//! One virtual machine.

use crate::{
    console,
    gic::{MERGE, VmInterrupts},
    machine::Machine,
};
use core::fmt;
use core::sync::atomic::{AtomicBool, Ordering};
use core_manifest::{FaultPolicy, InterruptMode, limits};
use core_paging::GuestMap;
use core_ring::{Area, stream::Consumer};
use core_statistics::{State, StatusWriter};
use core_sync::TicketLock;
use mortise_gic_mediated::{Cpu, Mediated};
use mortise_psci::{Calls, End, Power};
use mortise_vcpu::Traps;
use mortise_vdev_pl011::Pl011;
use mortise_vgic::Virtual;

/// SPIs that a virtual machine can have, in rows of 32: INTID 32 to 287.
const SPI_ROWS: usize = 8;

/// How a virtual machine's interrupts are controlled.
#[expect(
    clippy::large_enum_variant,
    reason = "each stands in a static slot that is as large as the larger one"
)]
pub(crate) enum Interrupts {
    /// By itself; its accesses to the distributor are mediated.
    Direct(Mediated<{ limits::VCPUS }, SPI_ROWS>),
    /// By Mortise, through a controller that it emulates.
    Shared(TicketLock<Virtual<{ limits::VCPUS }, SPI_ROWS>>),
}

impl Interrupts {
    fn new(machine: &Machine, vm: &core_manifest::Vm<'_>) -> Result<Self, VmError> {
        let board = &machine.board;
        let passed = vm.interrupts.iter().map(|&intid| u32::from(intid));
        match vm.interrupt_mode {
            InterruptMode::Direct => {
                let mut gic = Mediated::new(board.doorbell);
                let mut cpus = heapless::Vec::<Cpu, { limits::VCPUS }>::new();
                cpus.extend(vm.cpus.iter().map(|&cpu| {
                    let number = usize::from(cpu);
                    Cpu {
                        number,
                        affinity: board.redistributor(number).affinity(),
                    }
                }));
                gic.set_cpus(&cpus)?;
                gic.add(board.virtual_timer)?;
                for intid in passed {
                    gic.add(intid)?;
                }
                Ok(Self::Direct(gic))
            }
            InterruptMode::Shared => {
                let mut gic = Virtual::new();
                gic.set_vcpus(vm.cpus.len())?;
                gic.add_hardware(board.virtual_timer)?;
                if vm.console == core_manifest::Console::Pl011 {
                    gic.add_virtual(board.uart_irq)?;
                }
                for intid in passed {
                    gic.add_hardware(intid)?;
                }
                Ok(Self::Shared(TicketLock::new(gic)))
            }
        }
    }
}

/// A virtual machine and all that Mortise keeps for it.
pub struct Vm {
    /// Its place in the manifest.
    pub(crate) index: usize,
    /// What the manifest says of it.
    pub(crate) description: &'static core_manifest::Vm<'static>,
    /// Its memory, as it sees it.
    pub(crate) stage2: GuestMap,
    /// Its status page.
    pub(crate) status: StatusWriter<'static>,
    /// Power states of its vCPUs, and how its run ends.
    pub(crate) power: TicketLock<Power>,
    /// Its interrupt controller.
    pub(crate) interrupts: Interrupts,
    /// Its virtual serial port.
    pub(crate) serial: TicketLock<Pl011>,
    /// Its log ring, if it has one instead of a serial port.
    pub(crate) log: TicketLock<Option<Consumer<'static>>>,
    /// Whether it must call for the ring to be emptied.
    kick: bool,
    /// Whether its run ends, for exits to see without the lock.
    ending: AtomicBool,
    /// Whether it has run before.
    started: AtomicBool,
}

impl Vm {
    /// Virtual machine `index` as `description` has it. With `kick` it must call
    /// for its log to be emptied.
    pub(crate) fn new(
        index: usize,
        description: &'static core_manifest::Vm<'static>,
        machine: &'static Machine,
        kick: bool,
    ) -> Result<Self, VmError> {
        let stage2 = crate::memory::guest_map(machine.frames, description)?;
        let page = description.status;
        // SAFETY: the early table maps all of RAM; the manifest's parser has
        // checked that the page is nobody else's, and guests map it read-only.
        let area = unsafe { Area::from_raw(page.start() as *mut u8, page.size() as usize) };
        let vcpus = description.cpus.len();
        let restarts = match description.on_fault {
            FaultPolicy::Restart { limit } => limit,
            FaultPolicy::Stop => 0,
        };
        let status = area
            .and_then(|area| StatusWriter::create(area, description.name, vcpus).ok())
            .ok_or(VmError::Status)?;
        Ok(Self {
            index,
            stage2,
            status,
            power: TicketLock::new(Power::new(vcpus, restarts)),
            interrupts: Interrupts::new(machine, description)?,
            serial: TicketLock::new(Pl011::new()),
            log: TicketLock::new(console::open_ring(description, kick)),
            kick,
            ending: AtomicBool::new(false),
            started: AtomicBool::new(false),
            description,
        })
    }

    /// Its name.
    pub(crate) fn name(&self) -> &'static str {
        self.description.name
    }

    /// Whether its interrupts come through Mortise.
    pub(crate) fn is_shared(&self) -> bool {
        self.description.interrupt_mode == InterruptMode::Shared
    }

    /// The core that vCPU `vcpu` is pinned to; beyond the last one, the first.
    pub(crate) fn cpu(&self, vcpu: usize) -> usize {
        let cpus = &self.description.cpus;
        cpus.get(vcpu)
            .or(cpus.first())
            .map_or(0, |&cpu| usize::from(cpu))
    }

    /// The vCPU that is pinned to core `cpu`.
    pub(crate) fn vcpu_on(&self, cpu: usize) -> Option<usize> {
        self.description
            .cpus
            .iter()
            .position(|&own| usize::from(own) == cpu)
    }

    /// Number of its vCPUs.
    pub(crate) fn vcpus(&self) -> usize {
        self.description.cpus.len()
    }

    /// The traps that hold its vCPUs.
    pub(crate) fn traps(&self) -> Traps {
        Traps {
            interrupts: match self.description.interrupt_mode {
                InterruptMode::Direct => mortise_vcpu::InterruptMode::Direct,
                InterruptMode::Shared => mortise_vcpu::InterruptMode::Shared,
            },
            trap_wait: self.description.wait == core_manifest::WaitPolicy::Trap,
        }
    }

    /// Whether its vCPUs are to rest at the end of their exits.
    pub(crate) fn is_ending(&self) -> bool {
        self.ending.load(Ordering::Acquire)
    }

    /// Ends its run as vCPU `vcpu` wants, unless its end is decided already.
    pub(crate) fn end(&self, vcpu: usize, end: End, machine: &Machine) {
        let calls = self.power.lock().end(vcpu, end);
        self.call_in(calls, machine);
    }

    /// Ends its run because vCPU `vcpu` faulted; false if its end is decided already.
    pub(crate) fn fail(&self, vcpu: usize, machine: &Machine) -> bool {
        let calls = self.power.lock().fail(vcpu);
        self.call_in(calls, machine);
        calls.is_some()
    }

    /// The flag is set before anybody can notice otherwise. Whoever decided still
    /// executes, so that nobody renews the run in between.
    ///
    /// The doorbell is the quick way. A guest that owns its interrupts can make
    /// its core deaf to it (`ICC_AP1R0_EL1` at the highest priority), so its
    /// memory is withdrawn too: the next access of any kind comes here. Called on
    /// a core of this virtual machine, whose VMID is the one in use.
    fn call_in(&self, calls: Option<Calls>, machine: &Machine) {
        if let Some(calls) = calls {
            self.ending.store(true, Ordering::Release);
            self.stage2.withdraw();
            mortise_vcpu::invalidate_translations();
            self.call(calls, machine);
        }
    }

    /// Calls the cores of these vCPUs to Mortise.
    pub(crate) fn call(&self, calls: Calls, machine: &Machine) {
        calls.iter().for_each(|vcpu| machine.ring(self.cpu(vcpu)));
    }

    /// Takes down what it does.
    pub(crate) fn set_state(&self, state: State) {
        self.status.set_state(state);
    }

    /// Takes down that it runs, and after how long if this is its first start.
    pub(crate) fn note_running(&self, after: u64) {
        if !self.started.swap(true, Ordering::Relaxed) {
            self.status.set_boot_time(after);
        }
        self.set_state(State::Running);
    }

    /// Takes its devices back to their first state, for a start from the payload.
    pub(crate) fn renew(&'static self, machine: &'static Machine) {
        self.stage2.restore();
        self.ending.store(false, Ordering::Release);
        *self.serial.lock() = Pl011::new();
        console::drain_ring(machine, self);
        console::finish(machine, self);
        *self.log.lock() = console::open_ring(self.description, self.kick);
    }

    /// Sends its shared interrupts to its first core, where they go until it says
    /// otherwise: never to a core that is not its own.
    pub(crate) fn route(&self, machine: &Machine) {
        let affinity = machine.board.redistributor(self.cpu(0)).affinity();
        for &intid in &self.description.interrupts {
            machine.board.distributor().route(intid.into(), affinity);
        }
    }

    /// Takes its shared interrupts back to their first state, as no vCPU runs.
    pub(crate) fn silence(&'static self, machine: &'static Machine) {
        match &self.interrupts {
            Interrupts::Shared(gic) => gic.lock().reset(&mut VmInterrupts { machine, vm: self }),
            Interrupts::Direct(gic) => {
                let distributor = machine.board.distributor();
                let _guard = MERGE.lock();
                gic.shared().for_each(|intid| distributor.reset(intid));
            }
        }
        self.route(machine);
    }
}

/// Why a virtual machine of the manifest cannot be made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum VmError {
    /// Its memory cannot be mapped.
    Memory(core_paging::Error),
    /// Its status page is not usable.
    Status,
    /// Its interrupts cannot be mediated.
    Mediated(mortise_gic_mediated::Error),
    /// Its interrupts are not those of a virtual interrupt controller.
    Virtual(mortise_vgic::Error),
}

impl From<core_paging::Error> for VmError {
    fn from(error: core_paging::Error) -> Self {
        Self::Memory(error)
    }
}

impl From<mortise_gic_mediated::Error> for VmError {
    fn from(error: mortise_gic_mediated::Error) -> Self {
        Self::Mediated(error)
    }
}

impl From<mortise_vgic::Error> for VmError {
    fn from(error: mortise_vgic::Error) -> Self {
        Self::Virtual(error)
    }
}

impl fmt::Display for VmError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Memory(error) => write!(f, "memory: {error}"),
            Self::Status => f.write_str("status page: not a page of its own"),
            Self::Mediated(error) => write!(f, "interrupts: {error}"),
            Self::Virtual(error) => write!(f, "interrupts: {error}"),
        }
    }
}
