//! Mortise's own lines: kept as what they are made of, and put into words a byte at a time.
//!
//! Formatting one as a whole takes some thousand instructions, for which whoever shares the core
//! would wait.

use crate::digits::{decimal, hexadecimal, hexadecimal_places, places};
use core_manifest::Name;

/// What the text of a message has at most.
const ARGUMENTS: usize = 8;

/// Messages that can wait for the line.
const ROOM: usize = 8;

/// Something that stands in a text for `{}`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Argument {
    /// Words: where they stand, as an argument is copied.
    Text(&'static &'static str),
    /// A number.
    Decimal(u64),
    /// A number in hexadecimal, behind `0x`.
    Hexadecimal(u64),
    /// All 16 hexadecimal digits of a number.
    Digits(u64),
}

impl Argument {
    /// One of its bytes.
    fn byte(self, at: usize) -> Option<u8> {
        /// The place of the digit `at`, of so many.
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

/// A text with `{}` where its arguments stand.
#[derive(Clone, Copy, Debug)]
pub struct Words<'a> {
    /// The text.
    pub text: &'static str,
    /// What stands in it; if there are too few, nothing stands there.
    pub arguments: &'a [Argument],
}

/// How much of a text is put into words.
#[derive(Clone, Copy, Debug, Default)]
pub struct Cursor {
    text: usize,
    argument: usize,
    within: usize,
}

impl Cursor {
    /// Nothing of it.
    pub const START: Self = Self {
        text: 0,
        argument: 0,
        within: 0,
    };
}

impl Words<'_> {
    /// Goes on by a step: a byte, or none where an argument ends. Nothing behind the last.
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

/// Words about somebody, whose name they begin with.
#[derive(Clone, Copy, Debug)]
struct Message {
    /// When it was said.
    time: u64,
    about: Name,
    text: &'static str,
    arguments: [Argument; ARGUMENTS],
}

/// Messages that wait for the line.
#[derive(Clone, Debug)]
pub(crate) struct Queue {
    messages: [Message; ROOM],
    first: usize,
    length: usize,
    /// How much of the first one is on the line: of its name, and of its words.
    name: usize,
    cursor: Cursor,
    /// Messages that found no room since there was some.
    lost: u64,
}

impl Queue {
    /// None.
    pub(crate) const EMPTY: Self = Self {
        messages: [Message {
            time: 0,
            about: Name::NONE,
            text: "",
            arguments: [Argument::Decimal(0); ARGUMENTS],
        }; ROOM],
        first: 0,
        length: 0,
        name: 0,
        cursor: Cursor::START,
        lost: 0,
    };

    /// Whether there is none.
    pub(crate) const fn is_empty(&self) -> bool {
        self.length == 0
    }

    /// When the first one was said.
    pub(crate) fn time(&self) -> Option<u64> {
        let first = self.messages.get(self.first);
        first.filter(|_| !self.is_empty()).map(|first| first.time)
    }

    /// Adds one; without room it is counted.
    pub(crate) fn push(&mut self, time: u64, about: &Name, words: Words<'_>) {
        let last = (self.first + self.length) % ROOM;
        match self.messages.get_mut(last).filter(|_| self.length < ROOM) {
            Some(message) => {
                message.time = time;
                message.about = *about;
                message.text = words.text;
                for (to, from) in message.arguments.iter_mut().zip(words.arguments) {
                    *to = *from;
                }
                self.length += 1;
            }
            None => self.lost += 1,
        }
    }

    /// Goes on with the first one by a [step](Words::step).
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

    /// Removes the first one. The room it leaves is for what was lost.
    pub(crate) fn pop(&mut self) {
        let Some(time) = self.time() else {
            return;
        };
        self.first = (self.first + 1) % ROOM;
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
