//! The thread that tells those that wait at sockets of what has changed.

use crate::table;
use tenon_inet::Error;
use tenon_process::{Errno, with_state};
use tenon_sync::Mutex;
use tenon_thread::options;
use tenon_thread::thread::{Priority, Storage};

static THREAD: Storage<8192> = Storage::new();
static STARTED: Mutex<bool> = Mutex::new(false);

/// Starts the network and the thread, once. `EAFNOSUPPORT` if there is no network.
pub(crate) fn start() -> Result<(), Errno> {
    let mut started = STARTED.lock().map_err(|_| Errno::EAFNOSUPPORT)?;
    if *started {
        return Ok(());
    }
    match tenon_inet::start() {
        Ok(()) | Err(Error::Started) => {}
        Err(_) => return Err(Errno::EAFNOSUPPORT),
    }
    let priority = Priority::new(options::process_priority() as u8);
    let thread = THREAD.spawn("sockets", priority, serve);
    thread.map_err(|_| Errno::EAFNOSUPPORT)?;
    *started = true;
    Ok(())
}

fn serve() {
    loop {
        tenon_inet::wait_for_change();
        with_state(|state| table::tell(&mut state.files, &mut state.frames));
    }
}
