//! [`PageMap`]: a sparse array of frames, a radix tree in frames.

use crate::allocator::{Allocator, Frame, PAGE};
use core::ops::Range;
use core::sync::atomic::{AtomicUsize, Ordering};

/// Entries of a node, as a power of two.
const BITS: u32 = 9;
const ENTRIES: usize = 1 << BITS;
/// Levels of nodes at most.
const HEIGHT: u32 = 4;

/// A sparse array of frames. A map that is dropped with frames loses them.
#[derive(Debug, Default)]
pub struct PageMap {
    /// The frame with index 0 if `height` is zero, else a node; zero if there is none.
    root: AtomicUsize,
    height: u32,
}

fn load(entry: &AtomicUsize) -> usize {
    entry.load(Ordering::Relaxed)
}

/// The frame of the lowest entry of a map.
fn frame_of(entry: &AtomicUsize) -> Option<&Frame> {
    // SAFETY: `Frame` is a transparent address, and the entry has that of a frame which the map
    // holds; changes of the map need exclusive access.
    (load(entry) != 0).then(|| unsafe { &*core::ptr::from_ref(entry).cast::<Frame>() })
}

/// The entries of a node.
fn entries(node: usize) -> &'static [AtomicUsize; ENTRIES] {
    const { assert!(ENTRIES * size_of::<usize>() == PAGE) };
    // SAFETY: a node is a frame that one map alone accesses, by these words, until it releases it;
    // no reference is kept beyond that.
    unsafe { &*(node as *const [AtomicUsize; ENTRIES]) }
}

impl PageMap {
    /// A map without a frame.
    #[must_use]
    pub const fn new() -> Self {
        Self {
            root: AtomicUsize::new(0),
            height: 0,
        }
    }

    /// The number of indices that the tree has at a height.
    fn capacity(height: u32) -> u64 {
        1 << (BITS * height)
    }

    /// Whether no index has a frame.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        load(&self.root) == 0
    }

    /// The frame of an index.
    #[inline]
    #[must_use]
    pub fn get(&self, index: u64) -> Option<&Frame> {
        if self.height == 0 && index == 0 {
            // The map of a small table or file.
            return frame_of(&self.root);
        }
        self.search(index)
    }

    /// How many indices from one on have no frame for sure: none if that one has, and as many as the
    /// tree has no node for otherwise.
    #[must_use]
    pub fn gap(&self, index: u64) -> u64 {
        if index >= Self::capacity(self.height) {
            return u64::MAX - index;
        }
        let mut entry = &self.root;
        for level in (0..=self.height).rev() {
            if load(entry) == 0 {
                let span = Self::capacity(level);
                return span - index % span;
            }
            if level > 0 {
                let at = (index >> (BITS * (level - 1))) as usize % ENTRIES;
                entry = &entries(load(entry))[at];
            }
        }
        0
    }

    fn search(&self, index: u64) -> Option<&Frame> {
        if index >= Self::capacity(self.height) {
            return None;
        }
        let mut entry = &self.root;
        for level in (0..self.height).rev() {
            let node = load(entry);
            if node == 0 {
                return None;
            }
            entry = &entries(node)[(index >> (BITS * level)) as usize % ENTRIES];
        }
        frame_of(entry)
    }

    /// The frame of an index, one of zeros if there was none. `None` without memory, or if the index
    /// is too large.
    #[inline]
    pub fn get_or_allocate(&mut self, index: u64, frames: &mut Allocator) -> Option<&Frame> {
        if self.get(index).is_some() {
            return self.get(index);
        }
        self.allocate(index, frames)
    }

    fn allocate(&mut self, index: u64, frames: &mut Allocator) -> Option<&Frame> {
        if index >= Self::capacity(HEIGHT) {
            return None;
        }
        while index >= Self::capacity(self.height) {
            let root = load(&self.root);
            if root != 0 {
                let Some(node) = frames.allocate() else {
                    self.lower(frames);
                    return None;
                };
                let node = node.into_address();
                entries(node)[0].store(root, Ordering::Relaxed);
                self.root.store(node, Ordering::Relaxed);
            }
            self.height += 1;
        }
        let mut entry = &self.root;
        for level in (0..=self.height).rev() {
            if load(entry) == 0 {
                let Some(frame) = frames.allocate() else {
                    // Nodes without a frame are not kept.
                    self.remove(index..index + 1, &mut 0, frames);
                    return None;
                };
                entry.store(frame.into_address(), Ordering::Relaxed);
            }
            if level > 0 {
                let at = (index >> (BITS * (level - 1))) as usize % ENTRIES;
                entry = &entries(load(entry))[at];
            }
        }
        self.get(index)
    }

    /// Releases the frames of a range of indices, at most `budget` of them, which it reduces; returns
    /// whether the range has none left.
    pub fn remove(
        &mut self,
        range: Range<u64>,
        budget: &mut usize,
        frames: &mut Allocator,
    ) -> bool {
        let whole = 0..Self::capacity(self.height);
        let done = remove(&self.root, (self.height, whole), &range, budget, frames);
        self.lower(frames);
        done
    }

    /// Takes the frame of an index out. Its nodes stay, for the frames that follow, until
    /// [`remove`](Self::remove) has none left below them.
    pub fn take(&mut self, index: u64) -> Option<Frame> {
        let address = self.get(index)?.address();
        let mut entry = &self.root;
        for level in (0..self.height).rev() {
            entry = &entries(load(entry))[(index >> (BITS * level)) as usize % ENTRIES];
        }
        entry.store(0, Ordering::Relaxed);
        // SAFETY: the entry held the frame, and does no longer.
        Some(unsafe { Frame::from_address(address) })
    }

    /// Releases nodes at the top that have nothing but the first indices, so that a map which has
    /// shrunk has as many nodes as one that never was larger.
    fn lower(&mut self, frames: &mut Allocator) {
        while self.height > 0 {
            let root = load(&self.root);
            if root == 0 {
                self.height = 0;
                return;
            }
            let [first, rest @ ..] = entries(root);
            if rest.iter().any(|entry| load(entry) != 0) {
                return;
            }
            self.root.store(load(first), Ordering::Relaxed);
            self.height -= 1;
            // SAFETY: the root held the frame, and does no longer.
            frames.release(unsafe { Frame::from_address(root) });
        }
    }
}

/// Releases the frames of a range below an entry, which has the indices `own`, and then nodes without
/// entries.
fn remove(
    entry: &AtomicUsize,
    (height, own): (u32, Range<u64>),
    range: &Range<u64>,
    budget: &mut usize,
    frames: &mut Allocator,
) -> bool {
    let address = load(entry);
    if address == 0 || own.end <= range.start || range.end <= own.start {
        return true;
    }
    let mut done = true;
    if height == 0 {
        if *budget == 0 {
            return false;
        }
        *budget -= 1;
    } else {
        let span = PageMap::capacity(height - 1);
        let first = range.start.saturating_sub(own.start) / span;
        let last = (range.end.min(own.end) - own.start).div_ceil(span);
        let node = entries(address);
        let places = (first..last).zip(&node[first as usize..last as usize]);
        for (index, entry) in places.filter(|(_, entry)| load(entry) != 0) {
            let start = own.start + index * span;
            let below = (height - 1, start..start + span);
            done &= remove(entry, below, range, budget, frames);
        }
        if node.iter().any(|entry| load(entry) != 0) {
            return done;
        }
    }
    entry.store(0, Ordering::Relaxed);
    // SAFETY: the entry held the frame, and does no longer.
    frames.release(unsafe { Frame::from_address(address) });
    done
}
