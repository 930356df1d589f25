//! Work that runs elsewhere while its thread runs.

use super::{RemoteWork, Thread};

impl Thread {
    /// Sets or removes its remote work.
    #[inline]
    pub fn set_remote_work(&self, remote: Option<&'static dyn RemoteWork>) {
        self.remote.set(remote);
    }

    /// Suspends its remote work, if any, as it is descheduled.
    #[inline(always)]
    pub(crate) fn suspend_remote_work(&self) {
        if let Some(remote) = self.remote.get() {
            remote.suspend();
        }
    }

    /// Resumes its remote work, if any, as it is dispatched.
    #[inline(always)]
    pub(crate) fn resume_remote_work(&self) {
        if let Some(remote) = self.remote.get() {
            remote.resume();
        }
    }
}
