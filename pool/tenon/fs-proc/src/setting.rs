//! [`Setting`]: what is written below `/proc/sys`, for the libraries that obey it.

use core::ops::RangeInclusive;
use core::sync::atomic::{AtomicI32, Ordering};
use tenon_process::Errno;

/// A number that privileged processes set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Setting {
    /// Queues of System V at most (`msgmni`).
    Queues,
    /// Segments of shared memory at most (`shmmni`).
    Segments,
    /// Queues of POSIX at most, but for privileged processes (`queues_max`).
    MessageQueues,
    /// Identifiers that the next set of semaphores, queue and segment get; -1 for any.
    NextSemaphores,
    /// See [`NextSemaphores`](Self::NextSemaphores).
    NextQueue,
    /// See [`NextSemaphores`](Self::NextSemaphores).
    NextSegment,
}

/// Any identifier.
const ANY: i32 = -1;

static VALUES: [AtomicI32; 6] = [
    AtomicI32::new(32000),
    AtomicI32::new(4096),
    AtomicI32::new(256),
    AtomicI32::new(ANY),
    AtomicI32::new(ANY),
    AtomicI32::new(ANY),
];

impl Setting {
    fn place(self) -> &'static AtomicI32 {
        &VALUES[self as usize]
    }

    /// Its value.
    #[must_use]
    pub fn value(self) -> i32 {
        self.place().load(Ordering::Relaxed)
    }

    /// A limit.
    #[must_use]
    pub fn limit(self) -> u32 {
        u32::try_from(self.value()).unwrap_or(0)
    }

    /// Takes the identifier of the next object: it is for one object alone.
    #[must_use]
    pub fn take(self) -> Option<u32> {
        let value = self.place().swap(ANY, Ordering::Relaxed);
        u32::try_from(value).ok()
    }

    /// Values that can be set.
    fn range(self) -> RangeInclusive<i32> {
        match self {
            Self::Queues | Self::Segments => 0..=0x8000,
            Self::MessageQueues | Self::NextSemaphores | Self::NextQueue | Self::NextSegment => {
                0..=i32::MAX
            }
        }
    }

    /// Sets it to what a text states.
    ///
    /// # Errors
    ///
    /// `EINVAL` for a text that is no number, or one out of range.
    pub(crate) fn set(self, text: &[u8]) -> Result<(), Errno> {
        let text = core::str::from_utf8(text).map_err(|_| Errno::EINVAL)?;
        let value = text.trim().parse().map_err(|_| Errno::EINVAL)?;
        if !self.range().contains(&value) {
            return Err(Errno::EINVAL);
        }
        self.place().store(value, Ordering::Relaxed);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_identifier_is_for_one_object() {
        let next = Setting::NextSegment;
        assert_eq!((next.value(), next.take()), (-1, None));
        assert_eq!(next.set(b" 70 "), Ok(()));
        assert_eq!((next.value(), next.take()), (70, Some(70)));
        assert_eq!((next.value(), next.take()), (-1, None));
        for wrong in [&b"-2"[..], b"", b"x", b"4294967296"] {
            assert_eq!(next.set(wrong), Err(Errno::EINVAL));
        }
        assert_eq!(Setting::Queues.set(b"32769"), Err(Errno::EINVAL));
        assert_eq!(Setting::Queues.limit(), 32000);
    }
}
