//! Lists of objects of other libraries: a [`Provider`] has their lines.

use crate::text::Text;
use core_log::Line;
use tenon_process::State;
use tenon_sync::Mutex;

/// Bytes of a line at most.
pub const LINE: usize = 256;

/// Writes the line of the first object from a place on, and returns the place behind it; `None` behind
/// the last one.
pub type Provider = fn(&mut State, u32, &mut Line<LINE>) -> Option<u32>;

/// A list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum List {
    /// `/proc/sysvipc/sem`.
    Semaphores,
    /// `/proc/sysvipc/msg`.
    Queues,
    /// `/proc/sysvipc/shm`.
    Segments,
}

static PROVIDERS: Mutex<[Option<Provider>; 3]> = Mutex::new([None; 3]);

/// Has a list show the lines of a provider.
pub fn provide(list: List, provider: Provider) {
    if let Ok(mut providers) = PROVIDERS.lock() {
        providers[list as usize] = Some(provider);
    }
}

impl List {
    fn head(self) -> &'static str {
        match self {
            Self::Semaphores => {
                "       key      semid perms      nsems   uid   gid  cuid  cgid      otime      ctime\n"
            }
            Self::Queues => {
                "       key      msqid perms      cbytes       qnum lspid lrpid   uid   gid  cuid  \
                 cgid      stime      rtime      ctime\n"
            }
            Self::Segments => {
                "       key      shmid perms                  size  cpid  lpid nattch   uid   gid  \
                 cuid  cgid      atime      dtime      ctime                   rss                  \
                 swap\n"
            }
        }
    }
}

/// Writes a list.
pub(crate) fn put(text: &mut Text<'_>, list: List) {
    text.put(list.head().as_bytes());
    let provider = PROVIDERS.lock().ok().and_then(|all| all[list as usize]);
    let Some(provider) = provider else { return };
    let mut at = 0;
    loop {
        let mut line = Line::<LINE>::new();
        let Some(next) = provider(text.state, at, &mut line) else {
            return;
        };
        text.put(line.as_str().as_bytes());
        at = next;
    }
}
