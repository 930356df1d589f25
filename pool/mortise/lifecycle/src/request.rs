//! Parsing of life cycle hypercalls.

use crate::Error;
use core_memory::{IntermediateRange, PAGE_SIZE};
use mortise_hypercall::Call;
use mortise_instance::{BLOCK, Handle, Name};

/// First function of the group: a fast call, SMC64, in the range of vendor-specific hypervisor
/// services (SMCCC, 6.2).
pub const FIRST: u32 = 0xc600_0100;
/// Last function that the group claims.
pub const LAST: u32 = 0xc600_01ff;

/// Bytes of a descriptor and of the reply to [`Request::Statistics`].
pub(crate) const DESCRIPTOR: u64 = 256;
/// Granularity of LOAD, in bytes.
const GRAIN: u64 = 64;
/// Most bytes of one LOAD.
const LOAD_MOST: u64 = 1 << 31;

/// A call with valid arguments. Authority of the caller and ownership of the memory are checked
/// later.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Request {
    /// Version of the calls, number of slots and free memory.
    Version,
    /// Create a VM from a descriptor.
    Create(IntermediateRange),
    /// Copy memory of the caller into a VM.
    Load {
        /// The VM.
        handle: Handle,
        /// Target, in the VM's IPA space.
        target: IntermediateRange,
        /// Source, in the caller's IPA space.
        source: IntermediateRange,
    },
    /// Start a VM.
    Start(Handle),
    /// Pause a VM.
    Pause(Handle),
    /// Resume a paused VM.
    Resume(Handle),
    /// Restart a VM.
    Restart(Handle),
    /// Destroy a VM.
    Destroy(Handle),
    /// Describe the occupant of a slot.
    List(usize),
    /// Copy statistics of a VM into the caller's memory.
    Statistics(Handle, IntermediateRange),
    /// Copy console output of a VM into the caller's memory.
    ConsoleRead(Handle, IntermediateRange),
    /// Create and start a VM from this template.
    Instantiate(Name),
}

impl Request {
    /// Parses a call.
    ///
    /// # Errors
    ///
    /// [`Error::NotSupported`] for unknown functions, [`Error::NotFound`] for a malformed
    /// handle, [`Error::Invalid`] for other invalid arguments.
    pub fn parse(call: &Call) -> Result<Self, Error> {
        let handle = || Handle::from_register(call.argument(1)).ok_or(Error::NotFound);
        let range = |start: usize, size: u64| {
            IntermediateRange::new(call.argument(start), size).ok_or(Error::Invalid)
        };
        Ok(match call.function().wrapping_sub(FIRST) {
            0x0 => Self::Version,
            0x1 => Self::Create(in_one_page(range(1, DESCRIPTOR)?)?),
            0x2 => {
                let (handle, size) = (handle()?, call.argument(4));
                let (target, source) = (range(2, size)?, range(3, size)?);
                if size > LOAD_MOST || !target.is_aligned(GRAIN) || !source.is_aligned(GRAIN) {
                    return Err(Error::Invalid);
                }
                Self::Load {
                    handle,
                    target,
                    source,
                }
            }
            0x3 => Self::Start(handle()?),
            0x4 => Self::Pause(handle()?),
            0x5 => Self::Resume(handle()?),
            0x6 => Self::Restart(handle()?),
            0x7 => Self::Destroy(handle()?),
            0x8 => Self::List(usize::try_from(call.argument(1)).unwrap_or(usize::MAX)),
            0x9 => {
                let handle = handle()?;
                if call.argument(3) < DESCRIPTOR {
                    return Err(Error::Invalid);
                }
                Self::Statistics(handle, in_one_page(range(2, DESCRIPTOR)?)?)
            }
            0xa => Self::ConsoleRead(handle()?, in_one_page(range(2, call.argument(3))?)?),
            0xb => Self::Instantiate(name(call).ok_or(Error::NotFound)?),
            _ => return Err(Error::NotSupported),
        })
    }
}

/// Checks that a range of words crosses no page.
fn in_one_page(range: IntermediateRange) -> Result<IntermediateRange, Error> {
    let last = range.end() - 1;
    let whole = range.start() / PAGE_SIZE == last / PAGE_SIZE && range.start().is_multiple_of(8);
    whole.then_some(range).ok_or(Error::Invalid)
}

/// The name in x1 and x2: up to 16 bytes, padded with zeros.
fn name(call: &Call) -> Option<Name> {
    Name::new([call.argument(1), call.argument(2), 0, 0])
}

const _: () = assert!(BLOCK.is_multiple_of(GRAIN));

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn parse(function: u32, arguments: [u64; 4]) -> Result<Request, Error> {
        let [x1, x2, x3, x4] = arguments;
        Request::parse(&Call::new([u64::from(function), x1, x2, x3, x4, 0, 0, 0]))
    }

    #[test]
    fn good_calls_are_understood() {
        let handle = Handle {
            slot: 3,
            generation: 1,
        };
        let x1 = handle.to_register();
        let range = |start, size| IntermediateRange::new(start, size).unwrap();
        assert_eq!(parse(FIRST, [0; 4]), Ok(Request::Version));
        assert_eq!(
            parse(FIRST + 1, [0x4000_0f00, 0, 0, 0]),
            Ok(Request::Create(range(0x4000_0f00, 256)))
        );
        assert_eq!(
            parse(FIRST + 2, [x1, 0x4000_0000, 0x8000, 0x40]),
            Ok(Request::Load {
                handle,
                target: range(0x4000_0000, 0x40),
                source: range(0x8000, 0x40)
            })
        );
        assert_eq!(
            parse(FIRST + 7, [x1, 0, 0, 0]),
            Ok(Request::Destroy(handle))
        );
        let [x1, x2] = [
            u64::from_le_bytes(*b"sixteen-"),
            u64::from_le_bytes(*b"letters1"),
        ];
        let Ok(Request::Instantiate(name)) = parse(FIRST + 0xb, [x1, x2, 0, 0]) else {
            panic!("a name of 16 letters");
        };
        assert_eq!(name.as_str(), "sixteen-letters1");
    }

    #[test]
    fn mistakes_are_refused() {
        let none = Err(Error::NotFound);
        let wrong = Err(Error::Invalid);
        for unknown in [0xc, 0xe, 0xff] {
            let parsed = parse(FIRST + unknown, [0x100, 0, 0x4000_0000, 8]);
            assert_eq!(parsed, Err(Error::NotSupported));
        }
        assert_eq!(parse(FIRST + 3, [0; 4]), none);
        assert_eq!(parse(FIRST + 3, [u64::MAX, 0, 0, 0]), none);
        assert_eq!(parse(FIRST + 0xb, [0; 4]), none);
        assert_eq!(parse(FIRST + 1, [0x4000_0f08, 0, 0, 0]), wrong, "two pages");
        assert_eq!(parse(FIRST + 1, [0x4000_0004, 0, 0, 0]), wrong);
        assert_eq!(parse(FIRST + 1, [u64::MAX, 0, 0, 0]), wrong, "wraps");
        for load in [
            [0x100, 0, 0, 0],
            [0x100, 0x20, 0, 0x40],
            [0x100, 0, 0x20, 0x40],
            [0x100, 0, 0, 0x48],
            [0x100, 0, 0, LOAD_MOST + 0x40],
            [0x100, u64::MAX - 0x3f, 0, 0x80],
        ] {
            assert_eq!(parse(FIRST + 2, load), wrong, "{load:x?}");
        }
        assert_eq!(parse(FIRST + 9, [0x100, 0, 255, 0]), wrong);
        assert_eq!(parse(FIRST + 0xa, [0x100, 0, 0, 0]), wrong);
    }

    proptest! {
        #[test]
        fn any_registers_give_a_request_or_an_error(
            function in FIRST..=LAST, registers in any::<[u64; 4]>(), small in any::<bool>(),
        ) {
            let registers = if small { registers.map(|x| x & 0xffff) } else { registers };
            match parse(function, registers) {
                Ok(Request::Create(range) | Request::Statistics(_, range)) => {
                    prop_assert_eq!(range.size(), DESCRIPTOR);
                }
                Ok(Request::Load { target, source, .. }) => {
                    prop_assert_eq!(target.size(), source.size());
                    prop_assert!(target.size().is_multiple_of(GRAIN) && target.size() <= LOAD_MOST);
                }
                Ok(Request::ConsoleRead(_, range)) => {
                    prop_assert!(range.size() <= PAGE_SIZE);
                }
                _ => {}
            }
        }
    }
}
