//! Static objects of an image, which [`image!`](crate::image) defines.

use crate::interrupt::Entry;
use crate::thread::{Block, Error, Priority, Stack};
use core_sched::Schedulable as _;
use core_trace::Ring;
use hw_arch::board::Board;
use tenon_irq::Line;
use tenon_kernel::kernel::Kernel;
use tenon_kernel::kernel::smp::core::Core;
use tenon_kernel::thread::Thread as ThreadState;
use tenon_machine::options;
use tenon_machine::per_core::PerCore;

/// The stack of an idle thread: the frame of its loop, one preemption and a context, and a margin.
/// With floating point, the latter two take 880 bytes.
pub const IDLE_STACK: usize = 1536;

/// The static objects of an image.
pub struct Image<const MAIN: usize, const STACK: usize, const LINES: usize> {
    /// The kernel of each core.
    pub kernels: &'static [PerCore<Kernel>],
    /// The shared state of each core; empty in an image for one core.
    pub shared: &'static [Core],
    /// The entries of the interrupt table.
    pub lines: &'static PerCore<[Line; LINES]>,
    /// The trace ring of each core; empty without a trace.
    pub trace: &'static [Ring],
    /// The interrupt handlers that libraries register.
    pub handlers: &'static [&'static Entry],
    /// The board.
    pub board: Board,
    /// The idle thread of each core.
    pub idle: (&'static [Block], &'static [Stack<IDLE_STACK>]),
    /// The main thread.
    pub main_thread: (&'static Block, &'static Stack<MAIN>),
    /// The priority of the main thread.
    pub main_priority: u8,
    /// The stacks on which the cores boot and later run interrupt handlers.
    pub interrupt_stacks: &'static [Stack<STACK>],
}

impl<const MAIN: usize, const STACK: usize, const LINES: usize> Image<MAIN, STACK, LINES> {
    /// The end of a core's interrupt stack.
    pub(crate) fn interrupt_stack_end(&self, core: usize) -> usize {
        let stacks = self.interrupt_stacks.as_ptr() as usize;
        stacks + core * size_of::<Stack<STACK>>() + Stack::<STACK>::END
    }

    /// Prepares the idle thread of a core.
    pub(crate) fn prepare_idle(
        &self,
        kernel: &Kernel,
        core: usize,
    ) -> Result<&'static ThreadState, Error> {
        let (blocks, stacks) = self.idle;
        let (Some(block), Some(stack)) = (blocks.get(core), stacks.get(core)) else {
            return Err(Error::NoSuchCore);
        };
        let idle = stack.prepare(block, kernel, "idle", Priority::LOWEST, super::idle)?;
        if !options::preemption() {
            // The idle thread never yields, so it can be preempted even in a cooperative image.
            idle.state().begin(false);
        }
        Ok(idle)
    }
}
