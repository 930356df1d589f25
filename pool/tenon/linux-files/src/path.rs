//! Look-ups of a path by the [`Path`] that the state keeps for calls.

use crate::names;
use tenon_process::{Caller, Errno, State};
use tenon_vfs::{Found, Path};

/// Calls `action` with the kept path, or with another one while that is in use: a path is large, so that
/// its bytes are not set anew for each call.
pub fn with_path<R>(state: &mut State, action: impl FnOnce(&mut State, &mut Path) -> R) -> R {
    let mut kept = state.files.path.take();
    let mut own = None;
    let path = match &mut kept {
        Some(kept) => &mut **kept,
        None => own.insert(Path::new()),
    };
    let result = action(state, path);
    state.files.path = kept;
    result
}

/// What a path leads to that the caller states for a directory descriptor.
pub fn found(
    state: &mut State,
    caller: &Caller,
    at: (i32, usize),
    follow: bool,
) -> Result<Found, Errno> {
    with_path(state, |state, path| {
        names::find(state, caller, at, follow, path)
    })
}
