//! Bandwidth regulation record.

use crate::Error;
use crate::tables::Tables;
use zerocopy::{Immutable, KnownLayout, TryFromBytes};

/// Valid intervals in nanoseconds.
const INTERVALS: core::ops::RangeInclusive<u64> = 100_000..=100_000_000;
/// The last supported event: one register tells which of the first 32 common events exist.
const LAST_EVENT: u32 = 31;

/// Budget of a PMU event for the background of all shared cores.
#[derive(Clone, Copy, Debug, PartialEq, Eq, TryFromBytes, KnownLayout, Immutable)]
#[repr(C)]
pub struct Regulation {
    /// Replenishment interval in nanoseconds.
    pub interval: u64,
    /// Number of a common PMU event (Arm ARM, D11.11).
    pub event: u32,
    /// Events that all shared cores together may cause in an interval.
    pub limit: u32,
}

impl Regulation {
    /// Regulation of the manifest at the start of `bytes`, if it has one. Parsed separately, so that
    /// an image without regulation contains no code for it.
    pub fn parse(bytes: &[u8]) -> Result<Option<&Self>, Error<'_>> {
        let Some(regulation) = Tables::open(bytes)?.find::<Self>()? else {
            return Ok(None);
        };
        let invalid = |field, must| Err(Error::invalid("regulation", field, must));
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
