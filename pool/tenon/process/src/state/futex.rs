//! Futexes, by which threads wait for words of their process, and lists of robust ones.

use super::{State, index_of};
use core::sync::atomic::{AtomicU32, Ordering};
use tenon_process_slot::{FutexWait, Key, Slot, WakeOperation, slots};
use tenon_program::Errno;

/// Bits of a word that a robust mutex has: its owner's number, that it died, that threads wait.
const OWNER: u32 = 0x3fff_ffff;
const OWNER_DIED: u32 = 0x4000_0000;
const WAITERS: u32 = 0x8000_0000;

impl State {
    /// The value of a word.
    #[inline]
    pub fn word(&mut self, slot: &Slot, address: usize) -> Result<u32, Errno> {
        let (process, frames, _) = self.parts(slot)?;
        Ok(process.space()?.load_word(address, frames)?)
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
    #[inline]
    pub fn begin_futex_wait(
        &mut self,
        slot: &Slot,
        (key, bits): (Key, u32),
        lock: Option<(Key, usize)>,
    ) -> Result<(), Errno> {
        self.waits += 1;
        let order = self.waits;
        let wait = FutexWait {
            key,
            bits,
            order,
            lock,
        };
        self.thread(slot)?.futex = Some(wait);
        Ok(())
    }

    /// Has the calling thread wait for the futexes of its vector alone.
    pub fn begin_vector_wait(&mut self, slot: &Slot) -> Result<(), Errno> {
        // No process has this key.
        let (process, address) = (usize::MAX, index_of(slot));
        self.begin_futex_wait(slot, (Key { process, address }, 0), None)
    }

    /// Ends the wait of the calling thread. Returns whether it was woken before.
    pub fn end_futex_wait(&mut self, slot: &Slot) -> Result<bool, Errno> {
        Ok(self.thread(slot)?.futex.take().is_none())
    }

    /// Whether the calling thread was woken from its futex.
    pub fn is_futex_woken(&mut self, slot: &Slot) -> Result<bool, Errno> {
        Ok(self.thread(slot)?.futex.is_none())
    }

    /// The wait for a futex of the thread at a place.
    #[must_use]
    pub fn futex_wait(&self, place: usize) -> Option<&FutexWait> {
        self.threads.get(place)?.as_ref()?.futex.as_ref()
    }

    /// Ends the wait for a futex of the thread at a place.
    pub fn leave_futex(&mut self, place: usize) {
        if let Some(thread) = self.threads.get_mut(place).and_then(Option::as_mut) {
            thread.futex = None;
        }
    }

    /// The most urgent thread that waits for a futex with one of these bits, of equal ones the first.
    #[must_use]
    pub fn first_waiter(&self, key: Key, bits: u32) -> Option<usize> {
        let waits = self
            .threads
            .iter()
            .enumerate()
            .filter_map(|(index, thread)| {
                let wait = thread.as_ref()?.futex.as_ref();
                let wait = wait.filter(|wait| wait.key == key && wait.bits & bits != 0)?;
                Some((wait.order, index))
            });
        // The urgency of a single one does not matter.
        let urgency = |index| u8::MAX - self.scheduler.schedules.urgency(index);
        let rank = |(order, index): &(u64, usize)| (urgency(*index), *order);
        let first = waits.min_by(|one, other| rank(one).cmp(&rank(other)));
        first.map(|(_, index)| index)
    }

    /// Wakes at most `most` threads that wait for a futex, in the order of their waits; returns how
    /// many.
    pub fn wake_futex(&mut self, key: Key, most: u32, bits: u32) -> u32 {
        let mut woken = 0;
        while woken < most
            && let Some(index) = self.first_waiter(key, bits)
        {
            self.wake_waiter(index);
            woken += 1;
        }
        woken + self.wake_vectors(key, most - woken)
    }

    /// As [`wake_futex`](Self::wake_futex), of threads that wait for several ones.
    pub fn wake_vectors(&mut self, key: Key, most: u32) -> u32 {
        let mut woken = 0;
        while woken < most
            && let Some((place, index)) = self.vectors.find(key)
        {
            self.vectors.end(place, &mut self.frames);
            if let Some(thread) = self.threads.get_mut(place).and_then(Option::as_mut) {
                (thread.futex, thread.woken_by) = (None, index);
            }
            self.wake_thread(place);
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
        self.vectors.end(index_of(slot), &mut self.frames);
        let result = self.end_robust_futexes(slot, (number, list, clear));
        if slots().len() > 1 {
            self.hand_over_locks(index_of(slot));
        }
        result
    }

    /// Hands the locks of a thread that ends over to their first waiters.
    fn hand_over_locks(&mut self, place: usize) {
        while let Some(lock) = self.scheduler.schedules.owned(place)
            && let Some((heir, word)) = self.scheduler.schedules.heir(lock, true)
        {
            let address = self.scheduler.schedules.hand_over(heir);
            // A word that cannot be written is no error, as in Linux.
            let _ = self.change_word(&slots()[heir], address, |_| Some(word));
            self.wake_thread(heir);
        }
    }

    fn end_robust_futexes(
        &mut self,
        slot: &Slot,
        (number, list, clear): (u32, usize, usize),
    ) -> Result<(), Errno> {
        let shares = slots().len() > 1 && self.process(slot)?.space()?.shares();
        if !shares && self.is_only_thread(self.process_index(slot)?) {
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
