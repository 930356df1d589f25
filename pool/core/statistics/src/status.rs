//! The status page of a VM.

use crate::summary::Summary;
use crate::{BudgetCount, BudgetCounters, Error, ExitCount, NAME_LENGTH, field, text};
use core::mem::offset_of;
use core::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use core_ring::Area;
use zerocopy::{FromBytes, FromZeros, Immutable, IntoBytes, KnownLayout};

mod fault;

/// Number of vCPUs for which the page has counters.
pub const MAX_VCPUS: usize = 8;

const MAGIC: u32 = u32::from_le_bytes(*b"TNST");
const VERSION: u32 = 1;
const EXIT_KINDS: usize = 6;

/// Layout of the page in memory. All fields are little endian.
#[derive(Clone, Copy, Debug, FromBytes, IntoBytes, Immutable, KnownLayout)]
#[repr(C)]
pub struct StatusPage {
    /// `TNST`.
    pub magic: u32,
    /// Version of this format.
    pub version: u32,
    pub(crate) name: [u8; NAME_LENGTH],
    state: u32,
    pub(crate) reason: u32,
    /// Number of restarts of the VM.
    pub restarts: u32,
    /// Number of vCPUs of the VM.
    pub vcpus: u32,
    /// Time from the first instruction of Mortise to the first one of the guest, at its first
    /// start.
    pub boot_ns: u64,
    /// Registers of the last fault.
    pub fault: FaultRegisters,
    /// The vCPU that faulted.
    pub fault_vcpu: u32,
    /// The number by which a manager names an instance; zero for other VMs.
    pub handle: u32,
    /// The cores of an instance, one for each vCPU; 0xff for none.
    pub cpus: [u8; MAX_VCPUS],
    /// Number of denied hypercalls and DMA accesses.
    pub denied: u64,
    /// General registers at the last fault.
    pub x: [u64; 31],
    reserved: [u8; 8],
    pub(crate) reason_text: [u8; REASON_WORDS * 8],
    /// Exits of each vCPU by [`ExitKind`].
    pub exits: [ExitCounters; MAX_VCPUS],
    /// The budget of each vCPU, in an image that counts the use of budgets.
    pub budgets: [BudgetCounters; MAX_VCPUS],
    reserved2: [u8; 0xa00],
}

/// The syndrome registers of a fault (Arm ARM, D19).
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, FromBytes, IntoBytes, Immutable, KnownLayout,
)]
#[repr(C)]
pub struct FaultRegisters {
    /// ESR_EL2: the syndrome.
    pub esr: u64,
    /// FAR_EL2: the virtual address.
    pub far: u64,
    /// HPFAR_EL2: the page of the IPA.
    pub hpfar: u64,
    /// ELR_EL2: the address of the instruction.
    pub elr: u64,
    /// SPSR_EL2: the processor state.
    pub spsr: u64,
}

/// Words of eight bytes of the reason as text.
pub const REASON_WORDS: usize = 16;

/// Exits of one vCPU, one cache line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, FromBytes, IntoBytes, Immutable, KnownLayout)]
#[repr(C)]
pub struct ExitCounters {
    /// Indexed by [`ExitKind`].
    pub by_kind: [u64; EXIT_KINDS],
    reserved: [u64; 2],
}

const _: () = {
    assert!(size_of::<StatusPage>() == 0x1000);
    assert!(offset_of!(StatusPage, name) == 0x008);
    assert!(offset_of!(StatusPage, state) == 0x028);
    assert!(offset_of!(StatusPage, restarts) == 0x030);
    assert!(offset_of!(StatusPage, boot_ns) == 0x038);
    assert!(offset_of!(StatusPage, fault) == 0x040);
    assert!(offset_of!(StatusPage, fault_vcpu) == 0x068);
    assert!(offset_of!(StatusPage, handle) == 0x06c);
    assert!(offset_of!(StatusPage, cpus) == 0x070);
    assert!(offset_of!(StatusPage, denied) == 0x078);
    assert!(offset_of!(StatusPage, x) == 0x080);
    assert!(offset_of!(StatusPage, reason_text) == 0x180);
    assert!(offset_of!(StatusPage, exits) == 0x200);
    assert!(offset_of!(StatusPage, budgets) == 0x400);
    assert!(size_of::<ExitCounters>() == 64);
};

/// Defines an enumeration with numbers and the conversion from a number.
macro_rules! numbered {
    ($(#[$doc:meta])* $name:ident { $($(#[$case_doc:meta])* $case:ident = $value:literal,)* }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[repr(u32)]
        pub enum $name { $($(#[$case_doc])* $case = $value,)* }

        impl $name {
            /// The variant of this number, if there is one.
            pub const fn from_number(number: u32) -> Option<Self> {
                match number {
                    $($value => Some(Self::$case),)*
                    _ => None,
                }
            }
        }
    };
}

numbered! {
    /// State of a VM.
    State {
        /// Not started yet.
        Empty = 0,
        /// Its payload is being copied.
        Starting = 1,
        /// Running.
        Running = 2,
        /// Stopped after a fault.
        Stopped = 3,
        /// Powered off by the guest (PSCI SYSTEM_OFF).
        Off = 4,
        /// Its payload is being copied for a restart.
        Restarting = 5,
        /// Created at run time, not started yet.
        Created = 6,
        /// Paused.
        Paused = 7,
        /// Being destroyed.
        Destroying = 8,
        /// Destroyed. The page is unchanged until the slot has another VM.
        Destroyed = 9,
        /// Its run ends, and one of its cores is lost.
        Lost = 10,
    }
}

numbered! {
    /// Why a VM was stopped.
    Reason {
        /// It was not stopped.
        None = 0,
        /// It accessed memory that is not mapped.
        DataAbort = 1,
        /// It executed memory that is not mapped.
        InstructionAbort = 2,
        /// It executed an undefined instruction.
        Undefined = 3,
        /// It executed an instruction or accessed a register that is denied to it.
        Privileged = 4,
        /// An asynchronous error of the memory system (SError).
        SystemError = 5,
        /// Any other reason; the text states it.
        Other = 6,
        /// It faulted more often than its restart limit allows.
        RestartLimit = 7,
    }
}

numbered! {
    /// Kinds of exits from a VM to Mortise.
    ExitKind {
        /// A physical interrupt.
        Interrupt = 0,
        /// HVC or SMC.
        Hypercall = 1,
        /// An access to an emulated device.
        Mmio = 2,
        /// A trapped system register.
        SystemRegister = 3,
        /// A trapped wait for an interrupt.
        Wait = 4,
        /// Anything else.
        Other = 5,
    }
}

impl StatusPage {
    /// The VM's name.
    pub fn name(&self) -> &str {
        text(&self.name)
    }

    /// The VM's state, if its number is known.
    pub const fn state(&self) -> Option<State> {
        State::from_number(self.state)
    }

    /// The reason for which the VM was stopped, if its number is known.
    pub const fn reason(&self) -> Option<Reason> {
        Reason::from_number(self.reason)
    }

    /// The reason for which the VM was stopped, as text.
    pub fn reason_text(&self) -> &str {
        text(&self.reason_text)
    }
}

/// The byte offset of a counter; none beyond the last vCPU.
pub(crate) fn counter(vcpu: usize, kind: usize) -> Option<usize> {
    let line = size_of::<ExitCounters>();
    (vcpu < MAX_VCPUS).then(|| offset_of!(StatusPage, exits) + vcpu * line + kind * 8)
}

/// Writer of one VM's status page: Mortise.
#[derive(Clone, Copy, Debug)]
pub struct StatusWriter<'a> {
    pub(crate) area: Area<'a>,
}

impl<'a> StatusWriter<'a> {
    /// Creates an empty page in `area`, with the state [`State::Empty`].
    pub fn create(area: Area<'a>, name: impl AsRef<[u8]>, vcpus: usize) -> Result<Self, Error> {
        let area = area
            .part(0, size_of::<StatusPage>())
            .ok_or(Error::TooSmall)?;
        if vcpus > MAX_VCPUS {
            return Err(Error::TooManyVcpus);
        }
        let page = Self { area };
        area.clear();
        page.set_name(name);
        area.store_half(offset_of!(StatusPage, version), VERSION, Relaxed);
        area.store_half(offset_of!(StatusPage, vcpus), vcpus as u32, Relaxed);
        // The magic number is written last: a reader that finds it finds an empty page.
        area.store_half(offset_of!(StatusPage, magic), MAGIC, Release);
        Ok(page)
    }

    /// Sets the name of the VM on a page that was [cleared](Self::clear).
    pub fn set_name(&self, name: impl AsRef<[u8]>) {
        let name = field::<NAME_LENGTH>(name.as_ref());
        for (word, bytes) in name.as_chunks::<8>().0.iter().enumerate() {
            let offset = offset_of!(StatusPage, name) + word * 8;
            self.area.store(offset, u64::from_le_bytes(*bytes), Relaxed);
        }
    }

    /// Clears one part of a page of a former VM, in about a hundred instructions. Returns false
    /// after the last part. For [`renew`](Self::renew).
    pub fn clear(&self, part: usize) -> bool {
        const WORDS: usize = 8;
        /// The budgets are cleared when a vCPU gets one, and the bytes after them are never written.
        const END: usize = offset_of!(StatusPage, budgets);
        let first = part.saturating_mul(WORDS * 8);
        for word in 0..WORDS {
            self.area.store((first + word * 8).min(END), 0, Relaxed);
        }
        first + WORDS * 8 < END
    }

    /// Assigns the page to an instance on these cores, after all of it was [cleared](Self::clear)
    /// and the name [set](Self::set_name).
    pub fn renew(&self, handle: u32, cpus: &[u8]) {
        let mut places = [0xff; MAX_VCPUS];
        for (place, cpu) in places.iter_mut().zip(cpus) {
            *place = *cpu;
        }
        let places = u64::from_le_bytes(places);
        self.area
            .store(offset_of!(StatusPage, cpus), places, Relaxed);
        self.area
            .store_half(offset_of!(StatusPage, handle), handle, Relaxed);
        let vcpus = cpus.len().min(MAX_VCPUS) as u32;
        self.area
            .store_half(offset_of!(StatusPage, vcpus), vcpus, Relaxed);
        self.set_state(State::Created);
        let first = u64::from(VERSION) << u32::BITS | u64::from(MAGIC);
        self.area.store(0, first, Release);
    }

    /// Records the state of the VM.
    pub fn set_state(&self, state: State) {
        self.area
            .store_half(offset_of!(StatusPage, state), state as u32, Release);
    }

    /// Counts a restart of the VM.
    pub fn count_restart(&self) {
        let offset = offset_of!(StatusPage, restarts);
        let count = self.area.load_half(offset, Relaxed).saturating_add(1);
        self.area.store_half(offset, count, Relaxed);
    }

    /// Records the number of denied hypercalls and DMA accesses.
    pub fn set_denied(&self, count: u64) {
        self.area
            .store(offset_of!(StatusPage, denied), count, Relaxed);
    }

    /// Records the duration of the VM's first start.
    pub fn set_boot_time(&self, nanoseconds: u64) {
        self.area
            .store(offset_of!(StatusPage, boot_ns), nanoseconds, Relaxed);
    }

    /// Counts an exit of `vcpu`. To be called on the core that runs it, the only writer of the
    /// counter.
    #[inline]
    pub fn count_exit(&self, vcpu: usize, kind: ExitKind) {
        if let Some(offset) = counter(vcpu, kind as usize) {
            let count = self.area.load(offset, Relaxed);
            self.area.store(offset, count.wrapping_add(1), Relaxed);
        }
    }

    /// The summary of the page for a manager.
    #[must_use]
    pub const fn summary(&self) -> Summary<'a> {
        Summary::new(self.area)
    }

    /// The exit counters of one vCPU, for code that counts many exits.
    pub fn exits(&self, vcpu: usize) -> Option<ExitCount<'a>> {
        let line = size_of::<ExitCounters>();
        counter(vcpu, 0)
            .and_then(|offset| self.area.part(offset, line))
            .and_then(|counters| counters.first_words())
            .map(ExitCount::new)
    }

    /// The budget counters of one vCPU.
    #[inline]
    pub fn budget(&self, vcpu: usize) -> Option<BudgetCount<'a>> {
        let line = size_of::<BudgetCounters>();
        let offset = offset_of!(StatusPage, budgets) + vcpu.min(MAX_VCPUS) * line;
        let counters = self.area.part(offset, line)?;
        (vcpu < MAX_VCPUS).then_some(BudgetCount::new(counters.first_words()?))
    }

    /// The page as written so far.
    pub fn snapshot(&self) -> StatusPage {
        snapshot(&self.area)
    }
}

/// Reader of a status page: any other core, the VM or the host.
#[derive(Clone, Copy, Debug)]
pub struct StatusReader<'a> {
    area: Area<'a>,
    vcpus: usize,
}

impl<'a> StatusReader<'a> {
    /// Attaches to the page that Mortise writes in `area`.
    pub fn attach(area: Area<'a>) -> Result<Self, Error> {
        let area = area
            .part(0, size_of::<StatusPage>())
            .ok_or(Error::TooSmall)?;
        let magic = area.load_half(offset_of!(StatusPage, magic), Acquire);
        let version = area.load_half(offset_of!(StatusPage, version), Relaxed);
        if (magic, version) != (MAGIC, VERSION) {
            return Err(Error::Foreign);
        }
        let vcpus = area.load_half(offset_of!(StatusPage, vcpus), Relaxed) as usize;
        Ok(Self {
            area,
            vcpus: vcpus.min(MAX_VCPUS),
        })
    }

    /// The number of exits of all vCPUs and kinds: six loads for each vCPU.
    #[inline]
    pub fn exits(&self) -> u64 {
        let counters = (0..self.vcpus)
            .flat_map(|vcpu| (0..EXIT_KINDS).filter_map(move |kind| counter(vcpu, kind)));
        counters.fold(0, |sum, offset| {
            sum.wrapping_add(self.area.load(offset, Relaxed))
        })
    }

    /// A copy of the page.
    pub fn snapshot(&self) -> StatusPage {
        snapshot(&self.area)
    }
}

fn snapshot(area: &Area<'_>) -> StatusPage {
    let mut page = StatusPage::new_zeroed();
    area.read(0, page.as_mut_bytes());
    page
}
