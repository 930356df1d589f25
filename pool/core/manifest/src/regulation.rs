//! By what the background of shared cores is held back.

use crate::Error;
use crate::header::Tables;
use zerocopy::{Immutable, KnownLayout, TryFromBytes};

/// The intervals that there may be, in nanoseconds.
const INTERVALS: core::ops::RangeInclusive<u64> = 100_000..=100_000_000;
/// The last event: the first 32 common ones are known by one register.
const LAST_EVENT: u32 = 31;

/// How much of an event shared cores may cause before their background waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, TryFromBytes, KnownLayout, Immutable)]
#[repr(C)]
pub struct Regulation {
    /// Nanoseconds.
    pub interval: u64,
    /// The number of a common event of the performance monitor (Arm ARM, D11.11).
    pub event: u32,
    /// How many of it all shared cores together may cause in an interval.
    pub limit: u32,
}

impl Regulation {
    /// That of the manifest at the start of `bytes`, if it has one. Looked for by itself: an image
    /// without regulation has no code for it.
    pub fn parse(bytes: &[u8]) -> Result<Option<&Self>, Error<'_>> {
        let Some(regulation) = Tables::open(bytes)?.find::<Self>()? else {
            return Ok(None);
        };
        let invalid = |field, must| {
            Err(Error::Invalid {
                of: "regulation",
                field,
                must,
            })
        };
        if regulation.event > LAST_EVENT {
            return invalid("event", "be one of the first 32 common events");
        }
        if regulation.limit == 0 {
            return invalid("limit", "be at least 1");
        }
        if !INTERVALS.contains(&regulation.interval) {
            return invalid("interval", "be from 100 us to 100 ms");
        }
        Ok(Some(regulation))
    }
}
