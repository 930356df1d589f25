//! [`Action`]: what a process does at a signal.

use crate::set::{Set, number};

/// Flags of an action.
#[expect(missing_docs, reason = "the names are those of the standard")]
pub mod flag {
    pub const NO_CHILD_STOP: u64 = 0x1;
    pub const NO_CHILD_WAIT: u64 = 0x2;
    pub const INFORMATION: u64 = 0x4;
    pub const RESTORER: u64 = 0x0400_0000;
    pub const ON_STACK: u64 = 0x0800_0000;
    pub const RESTART: u64 = 0x1000_0000;
    pub const NO_DEFER: u64 = 0x4000_0000;
    pub const RESET: u64 = 0x8000_0000;
    /// `SA_EXPOSE_TAGBITS`, which changes nothing where addresses have no tags.
    const TAGS: u64 = 0x800;
    /// All flags; others are cleared, so that a program can find out which there are.
    pub const ALL: u64 = NO_CHILD_STOP
        | NO_CHILD_WAIT
        | INFORMATION
        | RESTORER
        | ON_STACK
        | RESTART
        | NO_DEFER
        | RESET
        | TAGS;
}

/// An action, as `rt_sigaction` has it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Action {
    /// The address of the handler, [`DEFAULT`](Self::DEFAULT) or [`IGNORE`](Self::IGNORE).
    pub handler: u64,
    /// Its flags.
    pub flags: u64,
    /// Where the handler returns to, with [`flag::RESTORER`].
    pub restorer: u64,
    /// Signals that are blocked while it runs.
    pub mask: Set,
}

/// What a signal without a handler does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    /// Nothing.
    Ignore,
    /// It ends the process.
    End,
    /// It stops the process.
    Stop,
}

impl Action {
    /// `SIG_DFL`.
    pub const DEFAULT: u64 = 0;
    /// `SIG_IGN`.
    pub const IGNORE: u64 = 1;
    /// The initial action.
    pub const INITIAL: Self = Self {
        handler: Self::DEFAULT,
        flags: 0,
        restorer: 0,
        mask: Set::EMPTY,
    };

    /// The effect of a signal, or `None` if a handler is called.
    #[must_use]
    pub fn effect(&self, signal: u8) -> Option<Effect> {
        match self.handler {
            Self::IGNORE => Some(Effect::Ignore),
            Self::DEFAULT => Some(default_effect(signal)),
            _ => None,
        }
    }

    /// Whether a signal does nothing.
    #[must_use]
    pub fn ignores(&self, signal: u8) -> bool {
        self.effect(signal) == Some(Effect::Ignore)
    }
}

fn default_effect(signal: u8) -> Effect {
    match signal {
        // What SIGCONT does is done when it is sent.
        number::CHLD | number::CONT | number::URG | number::WINCH => Effect::Ignore,
        signal if Set::STOPPING.has(signal) => Effect::Stop,
        _ => Effect::End,
    }
}
