//! What a guest says of the VM it wants.

use core::fmt;
use core::mem::offset_of;
use core_memory::{IntermediateRange, PAGE_SIZE};
use zerocopy::{FromBytes, FromZeros, Immutable, IntoBytes, KnownLayout};

/// First field of a descriptor: `TVM1`.
const MAGIC: u32 = u32::from_le_bytes(*b"TVM1");
const VERSION: u32 = 1;
/// Bytes of a name, of which the last is NUL.
const NAME: usize = 32;
/// What stands for no core.
const NO_CPU: u8 = 0xff;
/// vCPUs that a descriptor has room for.
const VCPUS: usize = 8;
/// The most urgent priority.
const PRIORITY_MOST: u8 = 63;

/// Grain of a VM's memory: a block of stage 2.
pub const BLOCK: u64 = 0x20_0000;
/// The most memory that one VM can have.
const MEMORY_MOST: u64 = 128 * BLOCK;
/// Where a VM sees what it shares with Mortise.
pub const WINDOW_BASE: u64 = 0x8000_0000;
/// The part of the window that is mapped by pages: status page, log ring, channels. Its areas, memory
/// of its own, follow.
pub const WINDOW_PAGES: u64 = BLOCK;
/// Where a VM sees its areas.
pub const AREAS: u64 = WINDOW_BASE + WINDOW_PAGES;
/// The largest window.
pub const WINDOW_MOST: u64 = 8 * BLOCK;
/// The smallest window: the status page and the log ring.
const WINDOW_LEAST: u64 = 0x1_2000;

/// A descriptor as it lies in the memory of the guest that makes it. All fields are little endian.
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
    /// Its words, for who reads them one by one.
    pub fn words_mut(&mut self) -> &mut [u64; 32] {
        zerocopy::transmute_mut!(self)
    }

    /// That of a VM that the system itself describes: its name, the bytes of its memory and window, its
    /// first instruction and what that finds in x0, its cores. All is zero or no core that has no room,
    /// and found out by who parses it.
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

/// How a VM is chosen among those of its priority.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Schedule {
    /// In the order in which they became ready.
    Fixed,
    /// Whose deadline is the earliest.
    EarliestDeadline,
}

/// What a VM does whose budget is used up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exhausted {
    /// It waits for the next period.
    Wait,
    /// It has what others leave.
    Background,
}

/// The name of a VM: lower-case letters, digits and hyphens, a letter first.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Name {
    words: [u64; NAME / 8],
}

impl Name {
    /// The name in these words' bytes, which NULs follow, one at least; nothing if they hold none.
    #[must_use]
    pub fn new(words: [u64; NAME / 8]) -> Option<Self> {
        is_name(&words).then_some(Self { words })
    }

    /// Its letters.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        let last = self.words.iter().rposition(|&word| word != 0).unwrap_or(0);
        let unused = self.words.get(last).map_or(0, |word| word.leading_zeros());
        let all = self.words.as_bytes();
        all.get(..8 * (last + 1) - unused as usize / 8)
            .unwrap_or(all)
    }

    /// The same as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        core::str::from_utf8(self.as_bytes()).unwrap_or("")
    }
}

// Its words are its bytes.
const _: () = assert!(cfg!(target_endian = "little"));

/// Whether these words' bytes are a name, which NULs follow, one at least.
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

/// With how many bytes of a name a word begins, which NULs alone follow; nothing if others do. All
/// bytes at once: each is below 128, so that its upper bit tells of a comparison.
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

/// Why a descriptor describes no VM.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Error {
    /// It is something else, or of another version.
    Foreign,
    /// Something is set that has no meaning.
    Reserved,
    /// The name is none.
    Name,
    /// The memory is none, too much, or not whole blocks.
    Memory,
    /// The window is too small, too large, or not whole pages.
    Window,
    /// The first instruction is not in the memory.
    Entry,
    /// The cores are none, named twice or not as many as the vCPUs.
    Cpus,
    /// Priority, schedule, budget or period do not exist or do not fit together.
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

/// What a VM that is to be made is like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Descriptor {
    /// Its name.
    pub name: Name,
    /// Its RAM, as it sees it.
    pub memory: IntermediateRange,
    /// Its areas behind the pages of the window, memory of its own, if it has any; whole blocks.
    pub areas: Option<IntermediateRange>,
    /// Its first instruction.
    pub entry: u64,
    /// What that finds in x0.
    pub argument: u64,
    /// The core of each vCPU; the first [`vcpus`](Self::vcpus) of them.
    cpus: [u8; VCPUS],
    vcpus: u8,
    /// How urgent it is; 0 is background.
    pub priority: u8,
    /// How it is chosen among its priority.
    pub schedule: Schedule,
    /// What it does when its budget is used up.
    pub exhausted: Exhausted,
    /// Nanoseconds it may run in each period, and those of a period, if it has a reservation.
    pub reservation: Option<(u64, u64)>,
}

impl Descriptor {
    /// What a guest wants, whose RAM begins at `ram_base`. Between its steps, of about a hundred
    /// instructions, it asks `go_on`.
    ///
    /// # Errors
    ///
    /// Why the bytes describe no VM, or why not to go on.
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

    /// The core of each vCPU.
    #[must_use]
    pub fn cpus(&self) -> &[u8] {
        self.cpus.get(..usize::from(self.vcpus)).unwrap_or(&[])
    }

    /// The cores as a set.
    #[must_use]
    pub fn cpu_set(&self) -> u64 {
        self.cpus().iter().fold(0, |set, cpu| set | 1 << cpu)
    }

    /// Bytes that it takes of a reserve.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.memory.size() + self.areas.map_or(0, |areas| areas.size())
    }
}

/// The number of vCPUs, each of which has a core of its own.
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

/// How it is to be scheduled.
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
    // Without a period there is no deadline.
    let deadline = schedule == Schedule::Fixed || reservation.is_some();
    if raw.priority > PRIORITY_MOST || !deadline {
        return Err(Error::Schedule);
    }
    Ok((schedule, exhausted, reservation))
}

#[cfg(test)]
mod tests;
