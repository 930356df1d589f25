//! Waits for the end of a lock or of a lease, at one source of events.

use tenon_process::{Caller, Errno, Files, Side, State, ready};
use tenon_sync::Mutex;

/// The source, while threads wait at it, and how many do.
struct Wait {
    source: Option<u32>,
    waiting: u32,
}

static WAIT: Mutex<Wait> = Mutex::new(Wait {
    source: None,
    waiting: 0,
});

fn with<R>(action: impl FnOnce(&mut Wait) -> Result<R, Errno>) -> Result<R, Errno> {
    action(&mut *WAIT.lock().map_err(|_| Errno::ENOLCK)?)
}

/// Wakes what waits for a lock or for the end of a lease.
pub(crate) fn notify(files: &mut Files) {
    if let Ok(Some(source)) = with(|wait| Ok(wait.source)) {
        files.notify(source, ready::READABLE);
    }
}

/// Has the thread wait for the end of a lock or of a lease, and counts it once.
pub(crate) fn enlist(
    state: &mut State,
    caller: &Caller,
    is_counted: &mut bool,
) -> Result<(), Errno> {
    let (_, frames, files) = caller.parts(state)?;
    let source = with(|wait| {
        let source = files.source_in(&mut wait.source, frames)?;
        wait.waiting += u32::from(!*is_counted);
        Ok(source)
    })?;
    *is_counted = true;
    caller.enlist(state, source, Side::Poll)
}

/// Notes that a thread waits no longer. After the last one, the source has no use.
pub(crate) fn leave(state: &mut State) -> Result<(), Errno> {
    let unused = with(|wait| {
        wait.waiting = wait.waiting.saturating_sub(1);
        Ok(wait.source.take_if(|_| wait.waiting == 0))
    })?;
    if let Some(source) = unused {
        state.files.remove_source(source, &mut state.frames);
    }
    Ok(())
}
