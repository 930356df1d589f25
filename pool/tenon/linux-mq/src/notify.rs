//! [`mq_notify`]: a signal for the next message of an empty queue.

use crate::table::{Notice, description, with};
use tenon_process::{Caller, Errno, State, Target, user_memory, with_state};
use tenon_signal::Info;

/// `SI_MESGQ`.
const CODE: i32 = -3;

/// Sends the signal of a notice, for a message of the caller.
pub(crate) fn send(state: &mut State, caller: &Caller, notice: &Notice) -> Result<(), Errno> {
    let user = caller.parts(state)?.0.credentials.user().real;
    if notice.signal != 0 {
        let mut info = Info::of_sender(notice.signal, CODE, caller.process(), user);
        info.words[1] = notice.value;
        // The process may have ended, or have no room for it.
        let _ = state.send(Target::Process(notice.process), &info);
    }
    Ok(())
}

/// The signal and the value that a `struct sigevent` states; no signal for none.
fn event(state: &mut State, caller: &Caller, words: [u64; 2]) -> Result<(u8, u64), Errno> {
    const SIGNAL: u32 = 0;
    const NONE: u32 = 1;
    const THREAD: u32 = 2;
    let [value, kind] = words;
    let (signal, kind) = (kind as u32, (kind >> 32) as u32);
    match kind {
        SIGNAL if signal > tenon_signal::SIGNALS.into() => Err(Errno::EINVAL),
        SIGNAL => Ok((signal as u8, value)),
        NONE => Ok((0, value)),
        THREAD => {
            // The descriptor of a socket of a family that there is not.
            let (process, ..) = caller.parts(state)?;
            process.descriptor(signal.cast_signed())?;
            Err(Errno::EINVAL)
        }
        _ => Err(Errno::EINVAL),
    }
}

/// `mq_notify`.
pub fn mq_notify(caller: &Caller) -> Result<u64, Errno> {
    let words = match caller.address(1) {
        0 => None,
        from => Some(user_memory::words::<2>(caller, from)?),
    };
    with_state(|state| {
        let event = match words {
            None => None,
            Some(words) => Some(event(state, caller, words)?),
        };
        let (special, _) = description(state, caller)?;
        let (process, _, files) = caller.parts(state)?;
        let owner = process.files.owner(files);
        with(|table| {
            let queue = table.of(special.number)?;
            let process = caller.process();
            match (event, &queue.notice) {
                (Some(_), Some(_)) => return Err(Errno::EBUSY),
                (Some((signal, value)), None) => {
                    queue.notice = Some(Notice {
                        process,
                        owner,
                        signal,
                        value,
                    });
                }
                (None, Some(notice)) if notice.process == process => queue.notice = None,
                (None, _) => {}
            }
            Ok(0)
        })
    })
}
