//! Console input: one keyboard for several VMs.

use crate::Console;

/// Ctrl-T, which shells and editors do not use.
pub(crate) const ESCAPE: u8 = 0x14;

/// Meaning of a received byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Input {
    /// A byte for a VM.
    To {
        /// Index of the VM.
        vm: usize,
        /// The byte.
        byte: u8,
    },
    /// Another VM was selected, which a console line should announce.
    Switched {
        /// Index of the VM.
        vm: usize,
    },
    /// Nothing yet.
    Nothing,
}

impl Console {
    /// Selects the VM that receives input.
    pub const fn select(&mut self, vm: usize) {
        self.selected = Some(vm);
    }

    /// The VM that receives input.
    pub const fn selected(&self) -> Option<usize> {
        self.selected
    }

    /// Handles a byte from the line, in a system with `vms` VMs.
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
