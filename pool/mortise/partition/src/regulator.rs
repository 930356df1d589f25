//! What holds back the background of shared cores.
//!
//! A library that registers a [`Regulator`] in the table `regulators` is asked by the dispatcher
//! of each shared core before somebody goes on in the background; whoever has a priority or a budget
//! goes on without. An image without one has nothing of it.

use crate::{Core, registry};

/// Whether the background of a core may go on, and until when, in ticks of the counter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Background {
    /// It may, and is to be asked about again at this time.
    Runs(u64),
    /// It is to wait until this time.
    Waits(u64),
}

/// Decides on the background of shared cores. Called on the core, with every interrupt masked.
pub trait Regulator: Sync {
    /// This core is shared out from now on.
    fn begin(&self, core: &'static Core);

    /// Whether its background may go on now.
    fn background(&self, core: &'static Core, now: u64) -> Background;
}

impl Core {
    /// What holds back this core's background, if the image has it.
    #[inline(always)]
    #[must_use]
    pub fn regulator(&self) -> Option<&'static dyn Regulator> {
        registry::regulator()
    }
}

/// That no image has two: asked for each pair of what is registered.
#[must_use]
pub const fn only_one_regulator(_: &dyn Regulator, _: &dyn Regulator) -> bool {
    false
}
