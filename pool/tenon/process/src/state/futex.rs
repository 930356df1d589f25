//! [`WakeOperation`]: futexes, by which threads wait for words of their process, and lists of robust ones.

use super::State;
use crate::slot::Slot;
use crate::thread::{FutexWait, Key};
use core::sync::atomic::{AtomicU32, Ordering};
use tenon_program::Errno;

/// The change and the comparison of `FUTEX_WAKE_OP`.
#[derive(Clone, Copy, Debug)]
pub struct WakeOperation(pub u32);

impl WakeOperation {
    /// The new value of a word, or `None` for an operation that does not exist.
    pub(crate) fn apply(self, old: u32) -> Option<u32> {
        let operand = self.0 << 8 >> 20;
        // The operand is signed.
        let operand = ((operand << 20) as i32 >> 20) as u32;
        let operand = if self.0 >> 31 != 0 {
            1u32.wrapping_shl(operand)
        } else {
            operand
        };
        Some(match self.0 >> 28 & 7 {
            0 => operand,
            1 => old.wrapping_add(operand),
            2 => old | operand,
            3 => old & !operand,
            4 => old ^ operand,
            _ => return None,
        })
    }

    /// Whether the old value of a word compares as stated, or `None` for a comparison that does not
    /// exist.
    pub(crate) fn compare(self, old: u32) -> Option<bool> {
        let (old, operand) = (old as i32, (self.0 << 20) as i32 >> 20);
        Some(match self.0 >> 24 & 0xf {
            0 => old == operand,
            1 => old != operand,
            2 => old < operand,
            3 => old <= operand,
            4 => old > operand,
            5 => old >= operand,
            _ => return None,
        })
    }
}

/// Bits of a word that a robust mutex has: its owner's number, that it died, that threads wait.
const OWNER: u32 = 0x3fff_ffff;
const OWNER_DIED: u32 = 0x4000_0000;
const WAITERS: u32 = 0x8000_0000;

impl State {
    /// The key of a word of the calling thread's process.
    pub fn key(&self, slot: &Slot, address: usize) -> Result<Key, Errno> {
        if !address.is_multiple_of(size_of::<u32>()) {
            return Err(Errno::EINVAL);
        }
        let process = self.process_index(slot)?;
        Ok(Key { process, address })
    }

    /// The value of a word.
    pub fn word(&mut self, slot: &Slot, address: usize) -> Result<u32, Errno> {
        let (process, frames, _) = self.parts(slot)?;
        let mut bytes = [0; 4];
        process.space()?.read(address, &mut bytes, frames)?;
        Ok(u32::from_le_bytes(bytes))
    }

    /// Changes a word by `change` in one step, and returns its former value; not if that is `None`.
    pub fn change_word(
        &mut self,
        slot: &Slot,
        address: usize,
        mut change: impl FnMut(u32) -> Option<u32>,
    ) -> Result<u32, Errno> {
        let (process, frames, _) = self.parts(slot)?;
        let result = process
            .space()?
            .with_word(address, frames, |word: &AtomicU32| {
                word.fetch_update(Ordering::SeqCst, Ordering::SeqCst, &mut change)
            })?;
        Ok(result.unwrap_or_else(|value| value))
    }

    /// Has the calling thread wait for a futex.
    pub fn begin_futex_wait(&mut self, slot: &Slot, key: Key, bits: u32) -> Result<(), Errno> {
        self.waits += 1;
        let order = self.waits;
        self.thread(slot)?.futex = Some(FutexWait { key, bits, order });
        Ok(())
    }

    /// Ends the wait of the calling thread. Returns whether it was woken before.
    pub fn end_futex_wait(&mut self, slot: &Slot) -> Result<bool, Errno> {
        Ok(self.thread(slot)?.futex.take().is_none())
    }

    /// Whether the calling thread was woken from its futex.
    pub fn is_futex_woken(&mut self, slot: &Slot) -> Result<bool, Errno> {
        Ok(self.thread(slot)?.futex.is_none())
    }

    /// The thread that has waited longest for a futex with one of these bits.
    fn first_waiter(&self, key: Key, bits: u32) -> Option<usize> {
        let waits = self
            .threads
            .iter()
            .enumerate()
            .filter_map(|(index, thread)| {
                let wait = thread.as_ref()?.futex?;
                (wait.key == key && wait.bits & bits != 0).then_some((wait.order, index))
            });
        waits.min().map(|(_, index)| index)
    }

    /// Wakes at most `most` threads that wait for a futex, in the order of their waits; returns how
    /// many.
    pub fn wake_futex(&mut self, key: Key, most: u32, bits: u32) -> u32 {
        let mut woken = 0;
        while woken < most
            && let Some(index) = self.first_waiter(key, bits)
        {
            if let Some(thread) = &mut self.threads[index] {
                thread.futex = None;
            }
            self.wake_thread(index);
            woken += 1;
        }
        woken
    }

    /// Moves at most `most` waits from one futex to another one; returns how many.
    pub fn requeue_futex(&mut self, from: Key, to: Key, most: u32) -> u32 {
        let mut moved = 0;
        if from == to {
            return 0;
        }
        while moved < most
            && let Some(index) = self.first_waiter(from, u32::MAX)
        {
            if let Some(wait) = self.threads[index].as_mut().and_then(|t| t.futex.as_mut()) {
                wait.key = to;
            }
            moved += 1;
        }
        moved
    }

    /// Changes the word of `second`, wakes threads that wait for `first`, and those of `second` if
    /// its former value compares as stated.
    pub fn wake_operation(
        &mut self,
        slot: &Slot,
        (first, second): ((usize, u32), (usize, u32)),
        operation: WakeOperation,
    ) -> Result<u32, Errno> {
        let keys = (self.key(slot, first.0)?, self.key(slot, second.0)?);
        operation.apply(0).ok_or(Errno::ENOSYS)?;
        operation.compare(0).ok_or(Errno::ENOSYS)?;
        let old = self.change_word(slot, second.0, |word| operation.apply(word))?;
        let mut woken = self.wake_futex(keys.0, first.1, u32::MAX);
        if operation.compare(old) == Some(true) {
            woken += self.wake_futex(keys.1, second.1, u32::MAX);
        }
        Ok(woken)
    }

    /// Gives back what the calling thread holds of other threads' words at its end: robust mutexes,
    /// and the word that states that it runs.
    pub(super) fn end_futexes(&mut self, slot: &Slot) -> Result<(), Errno> {
        let thread = self.thread(slot)?;
        let (number, list, clear) = (thread.number, thread.robust_list, thread.clear_number);
        (thread.robust_list, thread.clear_number) = (0, 0);
        thread.futex = None;
        if self.slots_of(self.process_index(slot)?).count() < 2 {
            // Nothing else uses its memory.
            return Ok(());
        }
        if list != 0 {
            // A list that cannot be read ends where that is found, as in Linux.
            let _ = self.end_robust_list(slot, list, number);
        }
        if clear != 0 {
            self.change_word(slot, clear, |_| Some(0))?;
            let key = self.key(slot, clear)?;
            self.wake_futex(key, 1, u32::MAX);
        }
        Ok(())
    }

    fn end_robust_list(&mut self, slot: &Slot, list: usize, number: u32) -> Result<(), Errno> {
        /// Entries at most, as in Linux: a list can be a ring without its head.
        const MOST: usize = 2048;
        let [first, offset, pending] = self.words(slot, list)?;
        let mut entry = first;
        for _ in 0..MOST {
            // The lowest bit states a mutex with priority inheritance.
            let at = entry & !1;
            if at == list {
                break;
            }
            let [next] = self.words(slot, at)?;
            if at != pending & !1 {
                self.end_robust(slot, at.wrapping_add(offset), number)?;
            }
            entry = next;
        }
        if pending != 0 {
            self.end_robust(slot, (pending & !1).wrapping_add(offset), number)?;
        }
        Ok(())
    }

    /// Marks a robust mutex as one with an owner that died, if that is the thread of this number.
    fn end_robust(&mut self, slot: &Slot, address: usize, number: u32) -> Result<(), Errno> {
        let key = self.key(slot, address)?;
        let owned = |word: u32| word & OWNER == number;
        let old = self.change_word(slot, address, |word| {
            owned(word).then_some(word & WAITERS | OWNER_DIED)
        })?;
        if owned(old) && old & WAITERS != 0 {
            self.wake_futex(key, 1, u32::MAX);
        }
        Ok(())
    }

    fn words<const N: usize>(&mut self, slot: &Slot, from: usize) -> Result<[usize; N], Errno> {
        let (process, frames, _) = self.parts(slot)?;
        let mut bytes = [[0; 8]; N];
        process
            .space()?
            .read(from, bytes.as_flattened_mut(), frames)?;
        Ok(bytes.map(|word| u64::from_le_bytes(word) as usize))
    }
}
