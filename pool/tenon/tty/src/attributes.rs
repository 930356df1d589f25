//! [`Attributes`] of a terminal: `struct termios` of Linux for AArch64.

/// Flags by which bytes are treated.
pub mod flag {
    /// Input: bit 8 is removed.
    pub const STRIP: u32 = 0o40;
    /// Input: NL becomes CR.
    pub const NL_TO_CR: u32 = 0o100;
    /// Input: CR is dropped.
    pub const IGNORE_CR: u32 = 0o200;
    /// Input: CR becomes NL.
    pub const CR_TO_NL: u32 = 0o400;
    /// Input: `^S` and `^Q` stop and start the output.
    pub const FLOW: u32 = 0o2000;
    /// Input: any character starts the output.
    pub const START_BY_ANY: u32 = 0o4000;
    /// Input: characters are of UTF-8.
    pub const UTF8: u32 = 0o40000;

    /// Output: the following flags are in effect.
    pub const PROCESS: u32 = 0o1;
    /// Output: CR is put in front of NL.
    pub const NL_TO_CR_NL: u32 = 0o4;
    /// Output: CR becomes NL.
    pub const OUT_CR_TO_NL: u32 = 0o10;
    /// Output: no CR at column 0.
    pub const NO_CR_AT_START: u32 = 0o20;
    /// Output: NL begins a line.
    pub const NL_BEGINS: u32 = 0o40;
    /// Output: tabs become spaces.
    pub const TABS: u32 = 0o14000;
}

/// Local flags.
pub mod control {
    /// Characters send signals.
    pub const SIGNALS: u32 = 0o1;
    /// Input is by lines.
    pub const CANONICAL: u32 = 0o2;
    /// Input is echoed.
    pub const ECHO: u32 = 0o10;
    /// The erase character removes one of the screen.
    pub const ECHO_ERASE: u32 = 0o20;
    /// The kill character begins a new line.
    pub const ECHO_KILL: u32 = 0o40;
    /// NL is echoed in any case.
    pub const ECHO_NL: u32 = 0o100;
    /// Signals leave input as it is.
    pub const NO_FLUSH: u32 = 0o200;
    /// Background processes that write are stopped.
    pub const STOP_BACKGROUND: u32 = 0o400;
    /// Control characters are echoed as `^X`.
    pub const ECHO_CONTROL: u32 = 0o1000;
    /// The kill character removes the line of the screen.
    pub const KILL_ERASE: u32 = 0o4000;
    /// Extensions: erasing words, literal characters.
    pub const EXTENDED: u32 = 0o100000;
}

/// Indices of control characters.
pub mod character {
    /// SIGINT.
    pub const INTERRUPT: usize = 0;
    /// SIGQUIT.
    pub const QUIT: usize = 1;
    /// Erases a character.
    pub const ERASE: usize = 2;
    /// Erases the line.
    pub const KILL: usize = 3;
    /// End of file.
    pub const END: usize = 4;
    /// Tenths of a second that a read waits.
    pub const TIME: usize = 5;
    /// Bytes that a read waits for.
    pub const LEAST: usize = 6;
    /// Starts the output.
    pub const START: usize = 8;
    /// Stops the output.
    pub const STOP: usize = 9;
    /// SIGTSTP.
    pub const SUSPEND: usize = 10;
    /// A further end of a line.
    pub const LINE_END: usize = 11;
    /// Shows the line again.
    pub const REPRINT: usize = 12;
    /// Erases a word.
    pub const WORD_ERASE: usize = 14;
    /// Takes the next character as it is.
    pub const LITERAL: usize = 15;
    /// A further end of a line.
    pub const SECOND_LINE_END: usize = 16;
    /// How many there are.
    pub const COUNT: usize = 19;
}

/// Attributes of a terminal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Attributes {
    /// Flags of input.
    pub input: u32,
    /// Flags of output.
    pub output: u32,
    /// Flags of the line, which have no effect.
    pub line: u32,
    /// Local flags.
    pub local: u32,
    /// Control characters; zero is none.
    pub characters: [u8; character::COUNT],
}

impl Attributes {
    /// Bytes of `struct termios`.
    pub const SIZE: usize = 36;

    /// Those of a new terminal.
    #[must_use]
    pub const fn new() -> Self {
        /// 115,200 baud, 8 bits, receiver on, hangup at the last close.
        const LINE: u32 = 0o10002 | 0o60 | 0o200 | 0o2000;
        Self {
            input: flag::CR_TO_NL | flag::FLOW,
            output: flag::PROCESS | flag::NL_TO_CR_NL,
            line: LINE,
            local: control::SIGNALS
                | control::CANONICAL
                | control::ECHO
                | control::ECHO_ERASE
                | control::ECHO_KILL
                | control::ECHO_CONTROL
                | control::KILL_ERASE
                | control::EXTENDED,
            characters: [
                0x03, 0x1c, 0x7f, 0x15, 0x04, 0, 1, 0, 0x11, 0x13, 0x1a, 0, 0x12, 0x0f, 0x17, 0x16,
                0, 0, 0,
            ],
        }
    }

    /// Whether a local flag is set.
    #[must_use]
    pub fn has(&self, flag: u32) -> bool {
        self.local & flag != 0
    }

    /// `struct termios`.
    #[must_use]
    pub fn bytes(&self) -> [u8; Self::SIZE] {
        let mut bytes = [0; Self::SIZE];
        let words = [self.input, self.output, self.line, self.local];
        for (place, word) in bytes.chunks_mut(4).zip(words) {
            place.copy_from_slice(&word.to_le_bytes());
        }
        bytes[17..].copy_from_slice(&self.characters);
        bytes
    }

    /// That of a `struct termios`.
    #[must_use]
    pub fn of(bytes: &[u8; Self::SIZE]) -> Self {
        let word = |index: usize| {
            let [a, b, c, d] = [0, 1, 2, 3].map(|byte| bytes[4 * index + byte]);
            u32::from_le_bytes([a, b, c, d])
        };
        let mut characters = [0; character::COUNT];
        characters.copy_from_slice(&bytes[17..]);
        Self {
            input: word(0),
            output: word(1),
            line: word(2),
            local: word(3),
            characters,
        }
    }
}

impl Default for Attributes {
    fn default() -> Self {
        Self::new()
    }
}
