//! The timer queue of a core: a radix heap, a sorted list, or a wheel with a fixed tick.
//!
//! A library is compiled once for all images, so that the image chooses its queue by constants of
//! the link ([`options`]). [`TimerStore`] is the only place that reads them: it has the interface
//! of [`TimerQueue`], and the code and memory of the other queues are not in the image.

use super::{Timer, Wakeable};
use core::cell::Cell;
use core::mem::ManuallyDrop;
use core_timer::{RadixHeap, SortedTimerList, Step, TimerQueue, TimingWheel};
use hw_arch::El1;
use hw_clock::Clock;
use tenon_machine::options;

type Queue<W> = RadixHeap<&'static Timer<W>>;

/// The timer queue that an image has.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Selected {
    /// A [`RadixHeap`], without a tick.
    Heap,
    /// A [`SortedTimerList`], for few timers without a tick.
    List,
    /// A [`TimingWheel`], with a fixed tick.
    Wheel,
}

/// The timer queue of this image: a constant of the link.
#[inline(always)]
pub fn selected() -> Selected {
    if options::tick() {
        Selected::Wheel
    } else if options::few_timers() {
        Selected::List
    } else {
        Selected::Heap
    }
}

/// The timers of a core. All fields are zero initially, so that it takes no space in an image.
pub struct TimerStore<W: Wakeable> {
    backend: Backend<W>,
    list: SortedTimerList<&'static Timer<W>>,
    /// Counter ticks in a tick of the wheel.
    tick_length: Cell<u64>,
}

/// The heap is the first field, because it is the larger one.
union Backend<W: Wakeable> {
    heap: ManuallyDrop<Queue<W>>,
    wheel: ManuallyDrop<TimingWheel<&'static Timer<W>>>,
}

impl<W: Wakeable> TimerStore<W> {
    /// A store before [`begin`](TimerStore::begin).
    pub const fn unset() -> Self {
        const {
            let (wheel, heap) = (size_of::<TimingWheel<&Timer<W>>>(), size_of::<Queue<W>>());
            assert!(wheel <= heap, "a zero heap is a zero wheel");
        }
        Self {
            backend: Backend {
                heap: ManuallyDrop::new(RadixHeap::unset()),
            },
            list: SortedTimerList::new(),
            tick_length: Cell::new(0),
        }
    }

    /// The heap, in an image with [`Selected::Heap`].
    #[inline(always)]
    pub fn heap(&self) -> &Queue<W> {
        // SAFETY: the union was initialised as a heap, and an image without a tick accesses no
        // other field.
        unsafe { &self.backend.heap }
    }

    /// The list, in an image with [`Selected::List`].
    #[inline(always)]
    pub fn list(&self) -> &SortedTimerList<&'static Timer<W>> {
        &self.list
    }

    /// The wheel, in an image with [`Selected::Wheel`].
    #[inline(always)]
    pub fn wheel(&self) -> &TimingWheel<&'static Timer<W>> {
        // SAFETY: the heap that the union was initialised with is all zero, which is a valid wheel
        // without timers and no smaller; an image with a tick accesses no other field.
        unsafe { &self.backend.wheel }
    }

    /// Counter ticks in a tick of the wheel, at least one.
    #[inline]
    pub fn tick_length(&self) -> u64 {
        self.tick_length.get().max(1)
    }

    /// Starts time; returns the first compare value of the hardware timer.
    pub fn begin(&self, clock: Clock<El1>) -> u64 {
        if selected() != Selected::Wheel {
            self.heap().reset();
            return u64::MAX;
        }
        let hertz = u64::from(clock.frequency().hertz());
        let length = (hertz / options::tick_hz().max(1) as u64).max(1);
        let tick = clock.ticks() / length;
        self.tick_length.set(length);
        self.wheel().begin(tick);
        (tick + 1) * length
    }

    /// [Starts](TimerQueue::start) a timer that is not pending.
    #[inline(always)]
    pub fn start_idle(&self, timer: &'static Timer<W>, deadline: u64) -> Option<u64> {
        match selected() {
            Selected::Heap => self.heap().start_idle(timer, deadline),
            Selected::List | Selected::Wheel => self.start(timer, deadline),
        }
    }

    /// Restarts an expiring timer together with others of its next deadline, if the queue can.
    #[inline(always)]
    pub fn rejoin(&self, timer: &'static Timer<W>, deadline: u64) -> bool {
        selected() == Selected::Heap && self.heap().rejoin(timer, deadline)
    }

    /// Restarts an expiring timer.
    #[inline(always)]
    pub fn restart(&self, timer: &'static Timer<W>, deadline: u64) -> Option<u64> {
        if selected() != Selected::Heap {
            timer.set_idle();
            return self.start_idle(timer, deadline);
        }
        self.heap().restart(timer, deadline)
    }
}

/// Deadlines are counter values; the wheel rounds them up to whole ticks, so that none is early.
impl<W: Wakeable> TimerQueue for TimerStore<W> {
    type Timer = &'static Timer<W>;

    #[inline(always)]
    fn start(&self, timer: &'static Timer<W>, deadline: u64) -> Option<u64> {
        match selected() {
            Selected::Heap => self.heap().start(timer, deadline),
            Selected::List => self.list.start(timer, deadline),
            Selected::Wheel => {
                let tick = deadline.div_ceil(self.tick_length());
                self.wheel().start(timer, tick);
                None
            }
        }
    }

    #[inline(always)]
    fn cancel(&self, timer: &'static Timer<W>) -> bool {
        match selected() {
            Selected::Heap => self.heap().cancel(timer),
            Selected::List => self.list.cancel(timer),
            Selected::Wheel => self.wheel().cancel(timer),
        }
    }

    #[inline(always)]
    fn expire(&self, now: u64) -> Step<&'static Timer<W>> {
        match selected() {
            Selected::Heap => self.heap().expire(now),
            Selected::List => TimerQueue::expire(&self.list, now),
            Selected::Wheel => self.wheel().expire(now / self.tick_length()),
        }
    }

    #[inline(always)]
    fn alarm(&self) -> u64 {
        match selected() {
            Selected::Heap => self.heap().alarm(),
            Selected::List => TimerQueue::alarm(&self.list),
            Selected::Wheel => TimerQueue::alarm(self.wheel()).saturating_mul(self.tick_length()),
        }
    }
}
