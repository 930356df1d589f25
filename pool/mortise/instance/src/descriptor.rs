//! VM descriptor: the binary record by which a guest describes a VM to create.

use core::fmt;
use core::mem::offset_of;
use core_memory::{IntermediateRange, PAGE_SIZE};
use zerocopy::{FromBytes, FromZeros, Immutable, IntoBytes, KnownLayout};

/// First field of a descriptor: `TVM1`.
const MAGIC: u32 = u32::from_le_bytes(*b"TVM1");
const VERSION: u32 = 1;
/// Bytes of a name with its final NUL.
const NAME: usize = 32;
/// Padding of the list of cores.
const NO_CPU: u8 = 0xff;
/// Most vCPUs of a descriptor.
const VCPUS: usize = 8;
/// Highest priority.
const PRIORITY_MOST: u8 = 63;

/// Granularity of a VM's memory: a block of stage 2.
pub const BLOCK: u64 = 0x20_0000;
/// Most memory of one VM.
const MEMORY_MOST: u64 = 128 * BLOCK;
/// IPA of the areas that a VM shares with Mortise.
pub const WINDOW_BASE: u64 = 0x8000_0000;
/// The part of the window that is mapped by pages: status page, log ring, channels. The VM's own
/// areas follow.
pub const WINDOW_PAGES: u64 = BLOCK;
/// IPA of a VM's areas.
pub const AREAS: u64 = WINDOW_BASE + WINDOW_PAGES;
/// Size of the largest window.
pub const WINDOW_MOST: u64 = 8 * BLOCK;
/// Size of the smallest window: the status page and the log ring.
const WINDOW_LEAST: u64 = 0x1_2000;

/// A descriptor in the memory of the calling guest. All fields are little endian.
#[derive(Clone, Debug, FromBytes, IntoBytes, Immutable, KnownLayout)]
#[repr(C, align(64))]
pub struct RawDescriptor {
    magic: u32,
    version: u32,
    name: [u64; NAME / 8],
    memory: u64,
    window: u64,
    entry: u64,
    argument: u64,
    vcpus: u8,
    cpus: [u8; VCPUS],
    priority: u8,
    schedule: u8,
    exhausted: u8,
    zero: u32,
    budget_ns: u64,
    period_ns: u64,
    rest: [u64; 19],
}

const _: () = {
    assert!(size_of::<RawDescriptor>() == 0x100);
    assert!(offset_of!(RawDescriptor, memory) == 0x28);
    assert!(offset_of!(RawDescriptor, vcpus) == 0x48);
    assert!(offset_of!(RawDescriptor, priority) == 0x51);
    assert!(offset_of!(RawDescriptor, budget_ns) == 0x58);
    assert!(offset_of!(RawDescriptor, rest) == 0x68);
};

impl RawDescriptor {
    /// The descriptor as words, to be filled one by one.
    pub fn words_mut(&mut self) -> &mut [u64; 32] {
        zerocopy::transmute_mut!(self)
    }

    /// Descriptor of a VM that the system itself describes: its name, the bytes of its memory and
    /// window, its entry point with the value of x0, and its cores. What does not fit is left zero
    /// or `NO_CPU`, and rejected by [`Descriptor::parse`].
    #[must_use]
    pub fn new(
        name: &str,
        memory: u64,
        window: u64,
        (entry, argument): (u64, u64),
        cpus: &[u8],
    ) -> Self {
        let mut raw = Self::new_zeroed();
        raw.magic = MAGIC.to_le();
        raw.version = VERSION.to_le();
        for (to, from) in raw.name.as_mut_bytes().iter_mut().zip(name.bytes()) {
            *to = from;
        }
        raw.memory = memory.to_le();
        raw.window = window.to_le();
        raw.entry = entry.to_le();
        raw.argument = argument.to_le();
        raw.vcpus = u8::try_from(cpus.len()).unwrap_or(0);
        raw.cpus = [NO_CPU; VCPUS];
        for (to, from) in raw.cpus.iter_mut().zip(cpus) {
            *to = *from;
        }
        raw
    }
}

/// Order of VMs of equal priority.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Schedule {
    /// First in, first out.
    Fixed,
    /// Earliest deadline first.
    EarliestDeadline,
}

/// Behaviour of a VM with a depleted budget.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exhausted {
    /// It waits for the next period.
    Wait,
    /// It runs in the background.
    Background,
}

/// The name of a VM: lower-case letters, digits and hyphens, a letter first.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Name {
    words: [u64; NAME / 8],
}

impl Name {
    /// Parses a name that is padded with NULs, at least one.
    #[must_use]
    pub fn new(words: [u64; NAME / 8]) -> Option<Self> {
        is_name(&words).then_some(Self { words })
    }

    /// The name without padding.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        let last = self.words.iter().rposition(|&word| word != 0).unwrap_or(0);
        let unused = self.words.get(last).map_or(0, |word| word.leading_zeros());
        let all = self.words.as_bytes();
        all.get(..8 * (last + 1) - unused as usize / 8)
            .unwrap_or(all)
    }

    /// The name as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        core::str::from_utf8(self.as_bytes()).unwrap_or("")
    }
}

// Bytes of a word in memory order are those of the name.
const _: () = assert!(cfg!(target_endian = "little"));

/// Whether these words hold a valid name, padded with NULs, at least one.
fn is_name(words: &[u64; NAME / 8]) -> bool {
    let mut ended = false;
    for &word in words {
        match letters(word) {
            Some(letters) if !ended || letters == 0 => ended = letters < 8,
            _ => return false,
        }
    }
    ended && words[0].to_le_bytes()[0].is_ascii_lowercase()
}

/// Number of letters at the start of a word; `None` if anything but NULs follows them. All bytes
/// are compared at once: each is below 128, so that its upper bit holds the result of a comparison.
fn letters(word: u64) -> Option<u32> {
    if word == 0 {
        return Some(0);
    }
    const UPPER: u64 = 0x8080_8080_8080_8080;
    let not_below = |byte: u8| ((word | UPPER) - u64::from_le_bytes([byte; 8])) & UPPER;
    let within = |first: u8, last: u8| not_below(first) & !not_below(last + 1);
    let allowed = within(b'a', b'z') | within(b'0', b'9') | within(b'-', b'-');
    let bits = (!allowed & UPPER).trailing_zeros() & !7;
    let rest = word.checked_shr(bits).unwrap_or(0);
    (word & UPPER == 0 && rest == 0).then_some(bits / 8)
}

impl fmt::Debug for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Reason why a descriptor is invalid.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Error {
    /// Wrong magic number or version.
    Foreign,
    /// A reserved field is not zero.
    Reserved,
    /// Invalid name.
    Name,
    /// The memory is empty, too large, or not in whole blocks.
    Memory,
    /// The window is too small, too large, or not in whole pages.
    Window,
    /// The entry point lies outside the memory.
    Entry,
    /// No cores, a core named twice, or not as many as vCPUs.
    Cpus,
    /// Invalid priority, schedule, budget or period, or an invalid combination.
    Schedule,
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Foreign => "it is no descriptor of version 1",
            Self::Reserved => "something is set that has no meaning",
            Self::Name => "its name is not one of lower-case letters, digits and hyphens",
            Self::Memory => "its memory is not 1 to 128 blocks of 2 MiB",
            Self::Window => "its window is not whole pages, from 72 KiB to 16 MiB",
            Self::Entry => "its first instruction is not in its memory",
            Self::Cpus => "its cores are none, or not as many as its vCPUs",
            Self::Schedule => "priority, schedule, budget and period do not fit",
        })
    }
}

impl core::error::Error for Error {}

/// A parsed descriptor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Descriptor {
    /// Name of the VM.
    pub name: Name,
    /// RAM, in IPA space.
    pub memory: IntermediateRange,
    /// Areas after the pages of the window, in memory of the VM; whole blocks.
    pub areas: Option<IntermediateRange>,
    /// Entry point.
    pub entry: u64,
    /// Value of x0 at the entry point.
    pub argument: u64,
    /// Core of each vCPU; the first [`vcpus`](Self::vcpus) are valid.
    cpus: [u8; VCPUS],
    vcpus: u8,
    /// Priority; 0 is background.
    pub priority: u8,
    /// Order among VMs of equal priority.
    pub schedule: Schedule,
    /// Behaviour when the budget is depleted.
    pub exhausted: Exhausted,
    /// Budget and period of the reservation in nanoseconds, if it has one.
    pub reservation: Option<(u64, u64)>,
}

impl Descriptor {
    /// Parses a descriptor of a guest with RAM at `ram_base`. `go_on` is called between steps of
    /// about a hundred instructions and may end the parsing.
    ///
    /// # Errors
    ///
    /// The reason why the bytes are no descriptor, or the error of `go_on`.
    pub fn parse<E: From<Error>>(
        raw: &RawDescriptor,
        ram_base: u64,
        go_on: impl Fn() -> Result<(), E>,
    ) -> Result<Self, E> {
        if !is_name(&raw.name) {
            return Err(Error::Name.into());
        }
        go_on()?;
        let (vcpus, (schedule, exhausted, reservation)) = (cpus(raw)?, scheduling(raw)?);
        go_on()?;
        if (u32::from_le(raw.magic), u32::from_le(raw.version)) != (MAGIC, VERSION) {
            return Err(Error::Foreign.into());
        }
        if raw.zero != 0 || raw.rest.iter().fold(0, |all, word| all | word) != 0 {
            return Err(Error::Reserved.into());
        }
        go_on()?;
        let size = u64::from_le(raw.memory);
        let memory = IntermediateRange::new(ram_base, size)
            .filter(|_| size.is_multiple_of(BLOCK) && size <= MEMORY_MOST)
            .ok_or(Error::Memory)?;
        let window = u64::from_le(raw.window);
        if !window.is_multiple_of(PAGE_SIZE) || !(WINDOW_LEAST..=WINDOW_MOST).contains(&window) {
            return Err(Error::Window.into());
        }
        let areas = window.saturating_sub(WINDOW_PAGES).next_multiple_of(BLOCK);
        let entry = u64::from_le(raw.entry);
        if !memory.holds(entry) || !entry.is_multiple_of(4) {
            return Err(Error::Entry.into());
        }
        Ok(Self {
            name: Name { words: raw.name },
            memory,
            areas: IntermediateRange::new(AREAS, areas),
            entry,
            argument: u64::from_le(raw.argument),
            cpus: raw.cpus,
            vcpus,
            priority: raw.priority,
            schedule,
            exhausted,
            reservation,
        })
    }

    /// Core of each vCPU.
    #[must_use]
    pub fn cpus(&self) -> &[u8] {
        self.cpus.get(..usize::from(self.vcpus)).unwrap_or(&[])
    }

    /// The cores as a set.
    #[must_use]
    pub fn cpu_set(&self) -> u64 {
        self.cpus().iter().fold(0, |set, cpu| set | 1 << cpu)
    }

    /// Bytes that the VM takes from a reserve.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.memory.size() + self.areas.map_or(0, |areas| areas.size())
    }
}

/// Checks the cores and returns the number of vCPUs.
fn cpus(raw: &RawDescriptor) -> Result<u8, Error> {
    let named = raw.cpus.get(..usize::from(raw.vcpus)).ok_or(Error::Cpus)?;
    let rest = raw.cpus.get(named.len()..).unwrap_or(&[]);
    let mut set = 0u64;
    for &cpu in named {
        if cpu >= 64 || set >> cpu & 1 != 0 {
            return Err(Error::Cpus);
        }
        set |= 1 << cpu;
    }
    if set == 0 || rest.iter().any(|&cpu| cpu != NO_CPU) {
        return Err(Error::Cpus);
    }
    Ok(raw.vcpus)
}

type Scheduling = (Schedule, Exhausted, Option<(u64, u64)>);

/// Checks the scheduling parameters.
fn scheduling(raw: &RawDescriptor) -> Result<Scheduling, Error> {
    let schedule = match raw.schedule {
        0 => Schedule::Fixed,
        1 => Schedule::EarliestDeadline,
        _ => return Err(Error::Schedule),
    };
    let exhausted = match raw.exhausted {
        0 => Exhausted::Wait,
        1 => Exhausted::Background,
        _ => return Err(Error::Schedule),
    };
    let (budget, period) = (u64::from_le(raw.budget_ns), u64::from_le(raw.period_ns));
    let reservation = match (budget, period) {
        (0, 0) => None,
        (0, _) | (_, 0) => return Err(Error::Schedule),
        _ if budget > period => return Err(Error::Schedule),
        both => Some(both),
    };
    // A deadline is the end of a period.
    let deadline = schedule == Schedule::Fixed || reservation.is_some();
    if raw.priority > PRIORITY_MOST || !deadline {
        return Err(Error::Schedule);
    }
    Ok((schedule, exhausted, reservation))
}

#[cfg(test)]
mod tests;
