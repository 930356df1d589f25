//! Messages of Mortise: queued unformatted, and formatted a byte at a time.
//!
//! To format a message as a whole takes about a thousand instructions, which would add to interrupt
//! latency on a shared core.

use crate::digits::{decimal, hexadecimal, hexadecimal_places, places};
use core_manifest::Name;

/// Most arguments of a message.
const ARGUMENTS: usize = 8;

/// Capacity of the queue.
const CAPACITY: usize = 8;

/// Argument of a format, which replaces `{}`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Argument {
    /// Text, by reference, as arguments are copied.
    Text(&'static &'static str),
    /// A decimal number.
    Decimal(u64),
    /// A hexadecimal number with `0x`.
    Hexadecimal(u64),
    /// All 16 hexadecimal digits of a number.
    Digits(u64),
}

impl Argument {
    /// Byte `at` of the formatted argument.
    fn byte(self, at: usize) -> Option<u8> {
        /// The place of digit `at` in a number of `places` digits.
        fn place(at: usize, places: u8) -> Option<u8> {
            usize::from(places).checked_sub(at + 1).map(|at| at as u8)
        }
        match self {
            Self::Text(text) => text.as_bytes().get(at).copied(),
            Self::Decimal(value) => place(at, places(value, 1)).map(|at| decimal(value, at)),
            Self::Hexadecimal(value) => match at.checked_sub(2) {
                None => b"0x".get(at).copied(),
                Some(at) => place(at, hexadecimal_places(value)).map(|at| hexadecimal(value, at)),
            },
            Self::Digits(value) => place(at, 16).map(|at| hexadecimal(value, at)),
        }
    }
}

/// A text with `{}` for each argument.
#[derive(Clone, Copy, Debug)]
pub struct Words<'a> {
    /// The text.
    pub text: &'static str,
    /// The arguments; a missing one is empty.
    pub arguments: &'a [Argument],
}

/// Position in a formatted text.
#[derive(Clone, Copy, Debug, Default)]
pub struct Cursor {
    text: usize,
    argument: usize,
    within: usize,
}

impl Cursor {
    /// The start.
    pub const START: Self = Self {
        text: 0,
        argument: 0,
        within: 0,
    };
}

impl Words<'_> {
    /// Advances by a step: a byte, or none at the end of an argument. `None` at the end.
    pub fn step(&self, cursor: &mut Cursor) -> Option<Option<u8>> {
        let byte = *self.text.as_bytes().get(cursor.text)?;
        if byte != b'{' {
            cursor.text += 1;
            return Some(Some(byte));
        }
        let argument = self.arguments.get(cursor.argument);
        let byte = argument.and_then(|argument| argument.byte(cursor.within));
        if byte.is_some() {
            cursor.within += 1;
        } else {
            cursor.text += "{}".len();
            cursor.argument += 1;
            cursor.within = 0;
        }
        Some(byte)
    }
}

/// A queued message; its line begins with a name.
#[derive(Clone, Copy, Debug)]
struct Message {
    /// Time of the message.
    time: u64,
    about: Name,
    text: &'static str,
    arguments: [Argument; ARGUMENTS],
}

/// Queue of messages.
#[derive(Clone, Debug)]
pub(crate) struct Queue {
    messages: [Message; CAPACITY],
    first: usize,
    length: usize,
    /// Progress of the first message: in its name, and in its text.
    name: usize,
    cursor: Cursor,
    /// Messages lost since the queue was last not full.
    lost: u64,
}

impl Queue {
    /// The empty queue.
    pub(crate) const EMPTY: Self = Self {
        messages: [Message {
            time: 0,
            about: Name::NONE,
            text: "",
            arguments: [Argument::Decimal(0); ARGUMENTS],
        }; CAPACITY],
        first: 0,
        length: 0,
        name: 0,
        cursor: Cursor::START,
        lost: 0,
    };

    /// Whether the queue is empty.
    pub(crate) const fn is_empty(&self) -> bool {
        self.length == 0
    }

    /// Time of the first message.
    pub(crate) fn time(&self) -> Option<u64> {
        let first = self.messages.get(self.first);
        first.filter(|_| !self.is_empty()).map(|first| first.time)
    }

    /// Appends a message, or counts it as lost if the queue is full.
    pub(crate) fn push(&mut self, time: u64, about: &Name, words: Words<'_>) {
        let last = (self.first + self.length) % CAPACITY;
        match self.messages.get_mut(last) {
            Some(message) if self.length < CAPACITY => {
                message.time = time;
                message.about = *about;
                message.text = words.text;
                for (to, from) in message.arguments.iter_mut().zip(words.arguments) {
                    *to = *from;
                }
                self.length += 1;
            }
            _ => self.lost += 1,
        }
    }

    /// Advances the first message by a [step](Words::step).
    pub(crate) fn step(&mut self) -> Option<Option<u8>> {
        let message = self.messages.get(self.first)?;
        if let Some(byte) = message.about.as_bytes().get(self.name).copied() {
            self.name += 1;
            return Some(Some(byte));
        }
        let words = Words {
            text: message.text,
            arguments: &message.arguments,
        };
        words.step(&mut self.cursor)
    }

    /// Removes the first message. A message about lost ones takes its place, if any were lost.
    pub(crate) fn pop(&mut self) {
        let Some(time) = self.time() else {
            return;
        };
        self.first = (self.first + 1) % CAPACITY;
        self.length -= 1;
        (self.name, self.cursor) = (0, Cursor::START);
        if self.lost > 0 {
            let lost = core::mem::take(&mut self.lost);
            let words = Words {
                text: "lines lost: {}",
                arguments: &[Argument::Decimal(lost)],
            };
            self.push(time, &Name::NONE, words);
        }
    }
}
