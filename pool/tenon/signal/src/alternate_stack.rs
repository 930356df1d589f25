//! [`AlternateStack`] of a thread, on which handlers of signals run.

/// `SS_DISABLE` and `SS_AUTODISARM`.
const DISABLE: u32 = 2;
const AUTODISARM: u32 = 1 << 31;

/// The alternate stack of a thread, as `sigaltstack` has it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AlternateStack {
    /// The lowest address.
    pub start: u64,
    /// Bytes; zero if there is none.
    pub size: u64,
    /// The stack is disabled while a handler runs on it (`SS_AUTODISARM`).
    pub disarms: bool,
}

impl AlternateStack {
    /// Whether a stack pointer lies on it.
    #[must_use]
    pub fn has(&self, sp: u64) -> bool {
        // The stack grows down, so that its end is on it and its start is not.
        !self.disarms && sp > self.start && sp - self.start <= self.size
    }

    /// `stack_t`.
    #[must_use]
    pub fn encode(&self) -> [u8; 24] {
        let mut flags = if self.size == 0 { DISABLE } else { 0 };
        if self.disarms {
            flags |= AUTODISARM;
        }
        let mut bytes = [0; 24];
        bytes[..8].copy_from_slice(&self.start.to_le_bytes());
        bytes[8..12].copy_from_slice(&flags.to_le_bytes());
        bytes[16..].copy_from_slice(&self.size.to_le_bytes());
        bytes
    }

    /// The stack that `stack_t` states, as its words are: none with `SS_DISABLE`.
    #[must_use]
    pub fn decode([start, flags, size]: [u64; 3]) -> Self {
        let flags = flags as u32;
        if flags & DISABLE != 0 {
            return Self::default();
        }
        Self {
            start,
            size,
            disarms: flags & AUTODISARM != 0,
        }
    }
}
