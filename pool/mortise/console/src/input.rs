//! Input: one keyboard for several VMs.

use crate::Console;

/// Ctrl-T, which no shell or editor needs.
pub(crate) const ESCAPE: u8 = 0x14;

/// What a received byte means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Input {
    /// A byte for a VM.
    To {
        /// The VM's number.
        vm: usize,
        /// The byte.
        byte: u8,
    },
    /// Input goes to another VM from now on; a line should say so.
    Switched {
        /// The VM's number.
        vm: usize,
    },
    /// Nothing, so far.
    Nothing,
}

impl Console {
    /// Sends input to VM number `vm` from now on.
    pub const fn select(&mut self, vm: usize) {
        self.selected = Some(vm);
    }

    /// The VM that gets the input.
    pub const fn selected(&self) -> Option<usize> {
        self.selected
    }

    /// Takes a byte from the line, in a system of so many VMs.
    pub fn input(&mut self, byte: u8, vms: usize) -> Input {
        let escaped = core::mem::replace(&mut self.escape, byte == ESCAPE);
        if !escaped {
            return if byte == ESCAPE {
                Input::Nothing
            } else {
                self.pass(byte)
            };
        }
        if byte == ESCAPE {
            self.escape = false;
            return self.pass(byte);
        }
        match char::from(byte).to_digit(10) {
            Some(digit) if (digit as usize) < vms => {
                let vm = digit as usize;
                self.select(vm);
                Input::Switched { vm }
            }
            _ => Input::Nothing,
        }
    }

    fn pass(&self, byte: u8) -> Input {
        self.selected
            .map_or(Input::Nothing, |vm| Input::To { vm, byte })
    }
}
