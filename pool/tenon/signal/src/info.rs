//! [`Info`]: what a signal states, as `siginfo_t` has it.

/// Codes of signals.
#[expect(missing_docs, reason = "the names are those of the standard")]
pub mod code {
    /// Of `kill`.
    pub const USER: i32 = 0;
    /// Of the kernel, without more.
    pub const KERNEL: i32 = 0x80;
    /// Of `sigqueue`.
    pub const QUEUE: i32 = -1;
    /// Of a timer.
    pub const TIMER: i32 = -2;
    /// Of `tkill`.
    pub const THREAD: i32 = -6;
    /// Of a child's exit, end by a signal, stop and continuation.
    pub const CHILD_EXITED: i32 = 1;
    pub const CHILD_KILLED: i32 = 2;
    pub const CHILD_STOPPED: i32 = 5;
    pub const CHILD_CONTINUED: i32 = 6;
}

/// What a signal states: its number, its code, and what that gives the further words.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Info {
    /// The number.
    pub signal: u8,
    /// `si_errno`, which only a process states.
    pub error: i32,
    /// `si_code`.
    pub code: i32,
    /// The fields behind them.
    pub words: [u64; 4],
    /// The timer that sent it, by a number above zero that no process sees.
    pub timer: u32,
}

impl Info {
    /// Bytes of `siginfo_t`.
    pub const SIZE: usize = 128;
    /// Bytes of it that are not zero.
    pub const USED: usize = 48;

    /// A signal of the kernel, which states nothing else.
    #[must_use]
    pub const fn of_kernel(signal: u8) -> Self {
        Self {
            signal,
            error: 0,
            code: code::KERNEL,
            words: [0; 4],
            timer: 0,
        }
    }

    /// A signal of a process: its number and its user.
    #[must_use]
    pub const fn of_sender(signal: u8, code: i32, process: u32, user: u32) -> Self {
        Self {
            signal,
            error: 0,
            code,
            words: [process as u64 | (user as u64) << 32, 0, 0, 0],
            timer: 0,
        }
    }

    /// A signal of a fault, with its address.
    #[must_use]
    pub const fn of_fault(signal: u8, code: i32, address: u64) -> Self {
        Self {
            signal,
            error: 0,
            code,
            words: [address, 0, 0, 0],
            timer: 0,
        }
    }

    /// A signal of a child.
    #[must_use]
    pub const fn of_child(signal: u8, code: i32, (process, user): (u32, u32), status: u32) -> Self {
        Self {
            signal,
            error: 0,
            code,
            words: [process as u64 | (user as u64) << 32, status as u64, 0, 0],
            timer: 0,
        }
    }

    /// The first bytes of `siginfo_t`, the others being zero.
    #[must_use]
    pub fn encode(&self) -> [u8; Self::USED] {
        let mut bytes = [0; Self::USED];
        bytes[..4].copy_from_slice(&u32::from(self.signal).to_le_bytes());
        bytes[4..8].copy_from_slice(&self.error.to_le_bytes());
        bytes[8..12].copy_from_slice(&self.code.to_le_bytes());
        for (place, word) in bytes[16..].as_chunks_mut().0.iter_mut().zip(self.words) {
            *place = word.to_le_bytes();
        }
        bytes
    }

    /// What a process states about a signal.
    #[must_use]
    pub fn decode(signal: u8, bytes: &[u8; Self::USED]) -> Self {
        let int = |at: usize| {
            let [a, b, c, d] = [bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]];
            i32::from_le_bytes([a, b, c, d])
        };
        let mut words = [0; 4];
        for (word, bytes) in words.iter_mut().zip(bytes[16..].as_chunks().0) {
            *word = u64::from_le_bytes(*bytes);
        }
        Self {
            signal,
            error: int(4),
            code: int(8),
            words,
            timer: 0,
        }
    }
}
