//! The status page of a VM.

use crate::ExitCount;
use crate::{Error, NAME_LENGTH, field, text};
use core::mem::offset_of;
use core::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use core_ring::Area;
use zerocopy::{FromBytes, FromZeros, Immutable, IntoBytes, KnownLayout};

/// vCPUs the page has counters for.
pub const MAX_VCPUS: usize = 8;

const MAGIC: u32 = u32::from_le_bytes(*b"TNST");
const VERSION: u32 = 1;
const EXIT_KINDS: usize = 6;

/// The page as it lies in memory. All fields are little endian.
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
    /// How often the VM was started again.
    pub restarts: u32,
    /// vCPUs the VM has.
    pub vcpus: u32,
    /// From the first instruction of Mortise to the first of the guest, at its first start.
    pub boot_ns: u64,
    /// Registers of the last fault.
    pub fault: FaultRegisters,
    /// The vCPU that faulted.
    pub fault_vcpu: u32,
    /// By what a manager names a VM made at run time; zero for others.
    pub handle: u32,
    /// The cores of a VM made at run time, one for each vCPU; 0xff for none.
    pub cpus: [u8; MAX_VCPUS],
    /// Hypercalls that were denied it, and accesses of its devices.
    pub denied: u64,
    /// General registers at the last fault.
    pub x: [u64; 31],
    reserved: [u8; 8],
    pub(crate) reason_text: [u8; REASON_WORDS * 8],
    /// Exits of each vCPU by [`ExitKind`].
    pub exits: [ExitCounters; MAX_VCPUS],
    reserved2: [u8; 0xc00],
}

/// The syndrome registers of a fault (Arm ARM, D19).
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, FromBytes, IntoBytes, Immutable, KnownLayout,
)]
#[repr(C)]
pub struct FaultRegisters {
    /// ESR_EL2: why.
    pub esr: u64,
    /// FAR_EL2: at which virtual address.
    pub far: u64,
    /// HPFAR_EL2: at which intermediate physical page.
    pub hpfar: u64,
    /// ELR_EL2: at which instruction.
    pub elr: u64,
    /// SPSR_EL2: in which state.
    pub spsr: u64,
}

/// Words of eight bytes that say why a VM was stopped.
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
    assert!(size_of::<ExitCounters>() == 64);
};

/// Numbers a set of cases and makes them back from a number.
macro_rules! numbered {
    ($(#[$doc:meta])* $name:ident { $($(#[$case_doc:meta])* $case:ident = $value:literal,)* }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[repr(u32)]
        pub enum $name { $($(#[$case_doc])* $case = $value,)* }

        impl $name {
            /// The case of this number, or nothing for a number without one.
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
    /// What a VM is doing.
    State {
        /// Not started yet.
        Empty = 0,
        /// Being copied into place.
        Starting = 1,
        /// Running.
        Running = 2,
        /// Stopped after a fault.
        Stopped = 3,
        /// Switched off by itself (PSCI SYSTEM_OFF).
        Off = 4,
        /// Being copied into place again.
        Restarting = 5,
        /// Made at run time, and not started yet.
        Created = 6,
        /// Kept from running.
        Paused = 7,
        /// Being taken apart.
        Destroying = 8,
        /// No more. The page stays as it was until the slot has another VM.
        Destroyed = 9,
        /// Its run ends, and a core of it does not come back.
        Lost = 10,
    }
}

numbered! {
    /// Why a VM was stopped.
    Reason {
        /// It was not.
        None = 0,
        /// It accessed memory it does not have.
        DataAbort = 1,
        /// It executed memory it does not have.
        InstructionAbort = 2,
        /// It executed an instruction that does not exist.
        Undefined = 3,
        /// It executed an instruction, or used a register, it may not.
        Privileged = 4,
        /// An asynchronous error of the memory system (SError).
        SystemError = 5,
        /// Anything else; the text says what.
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

    /// The VM's state, if its number has a name.
    pub const fn state(&self) -> Option<State> {
        State::from_number(self.state)
    }

    /// Why the VM was stopped, if its number has a name.
    pub const fn reason(&self) -> Option<Reason> {
        Reason::from_number(self.reason)
    }

    /// Why the VM was stopped, for people.
    pub fn reason_text(&self) -> &str {
        text(&self.reason_text)
    }
}

/// The byte offset of a counter, or nothing beyond the last vCPU.
pub(crate) fn counter(vcpu: usize, kind: usize) -> Option<usize> {
    let line = size_of::<ExitCounters>();
    (vcpu < MAX_VCPUS).then(|| offset_of!(StatusPage, exits) + vcpu * line + kind * 8)
}

/// Mortise's side: all updates of one VM's page.
#[derive(Clone, Copy, Debug)]
pub struct StatusWriter<'a> {
    pub(crate) area: Area<'a>,
}

impl<'a> StatusWriter<'a> {
    /// Makes an empty page in `area`, its state [`State::Empty`].
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
        // The magic number last: whoever sees it sees an empty page.
        area.store_half(offset_of!(StatusPage, magic), MAGIC, Release);
        Ok(page)
    }

    /// Sets what the VM is named, on a page that was [cleared](Self::clear) for another one.
    pub fn set_name(&self, name: impl AsRef<[u8]>) {
        let name = field::<NAME_LENGTH>(name.as_ref());
        for (word, bytes) in name.as_chunks::<8>().0.iter().enumerate() {
            let offset = offset_of!(StatusPage, name) + word * 8;
            self.area.store(offset, u64::from_le_bytes(*bytes), Relaxed);
        }
    }

    /// Clears a part of a page that another VM left, each of them about a hundred instructions; false
    /// behind the last. For [`renew`](Self::renew).
    pub fn clear(&self, part: usize) -> bool {
        const WORDS: usize = 8;
        /// What follows is never written.
        const END: usize = offset_of!(StatusPage, reserved2);
        let first = part.saturating_mul(WORDS * 8);
        for word in 0..WORDS {
            self.area.store((first + word * 8).min(END), 0, Relaxed);
        }
        first + WORDS * 8 < END
    }

    /// Makes the page that of another VM, after all of it was [cleared](Self::clear) and its name
    /// [set](Self::set_name): one made at run time, on these cores.
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

    /// Notes what the VM is doing.
    pub fn set_state(&self, state: State) {
        self.area
            .store_half(offset_of!(StatusPage, state), state as u32, Release);
    }

    /// Notes that the VM was started again.
    pub fn count_restart(&self) {
        let offset = offset_of!(StatusPage, restarts);
        let count = self.area.load_half(offset, Relaxed).saturating_add(1);
        self.area.store_half(offset, count, Relaxed);
    }

    /// Notes how many hypercalls, and accesses of its devices, were denied it.
    pub fn set_denied(&self, count: u64) {
        self.area
            .store(offset_of!(StatusPage, denied), count, Relaxed);
    }

    /// Notes how long the VM's first start took.
    pub fn set_boot_time(&self, nanoseconds: u64) {
        self.area
            .store(offset_of!(StatusPage, boot_ns), nanoseconds, Relaxed);
    }

    /// Counts an exit of `vcpu`. Called on the core that runs it, the counter's only writer.
    #[inline]
    pub fn count_exit(&self, vcpu: usize, kind: ExitKind) {
        if let Some(offset) = counter(vcpu, kind as usize) {
            let count = self.area.load(offset, Relaxed);
            self.area.store(offset, count.wrapping_add(1), Relaxed);
        }
    }

    /// The counters of one vCPU's exits, for whoever counts many.
    pub fn exits(&self, vcpu: usize) -> Option<ExitCount<'a>> {
        let line = size_of::<ExitCounters>();
        counter(vcpu, 0)
            .and_then(|offset| self.area.part(offset, line))
            .and_then(|counters| counters.first_words())
            .map(ExitCount::new)
    }

    /// Everything written so far.
    pub fn snapshot(&self) -> StatusPage {
        snapshot(&self.area)
    }
}

/// Everybody else's side.
#[derive(Clone, Copy, Debug)]
pub struct StatusReader<'a> {
    area: Area<'a>,
    vcpus: usize,
}

impl<'a> StatusReader<'a> {
    /// Finds the page that Mortise keeps in `area`.
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

    /// Exits of all vCPUs and kinds so far: six loads for each vCPU.
    #[inline]
    pub fn exits(&self) -> u64 {
        let counters = (0..self.vcpus)
            .flat_map(|vcpu| (0..EXIT_KINDS).filter_map(move |kind| counter(vcpu, kind)));
        counters.fold(0, |sum, offset| {
            sum.wrapping_add(self.area.load(offset, Relaxed))
        })
    }

    /// The page at this moment.
    pub fn snapshot(&self) -> StatusPage {
        snapshot(&self.area)
    }
}

fn snapshot(area: &Area<'_>) -> StatusPage {
    let mut page = StatusPage::new_zeroed();
    area.read(0, page.as_mut_bytes());
    page
}
