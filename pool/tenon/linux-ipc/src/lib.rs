//! System calls of Linux for semaphores and message queues of System V.
//!
//! | module | calls |
//! |---|---|
//! | [`semaphore`] | `semget`, `semop`, `semtimedop`, `semctl` |
//! | [`queue`] | `msgget`, `msgsnd`, `msgrcv`, `msgctl` |
//!
//! A set of semaphores lies in a page frame; the messages of a queue lie in a file without a name, whose
//! pages are those of processes.
//!
//! Guarantees: permissions are those of the object's user and group; an identifier is not used again
//! before 32,768 others. Operations with `SEM_UNDO` are undone when their process ends. All memory of an object is free again once it is removed, and what waits for
//! it then ends with `EIDRM`. What there is no memory for is an error that changes nothing.
//!
//! `docs/linux-abi.md` lists each call with what it does not do.

#![cfg_attr(not(test), no_std)]
#![forbid(unsafe_code)]

pub mod object;
pub mod queue;
pub mod semaphore;
mod undo;

use tenon_process::{Call, Calls};

/// All calls of this library.
pub static CALLS: Calls = Calls(&[
    Call(186, queue::msgget),
    Call(187, queue::msgctl),
    Call(188, queue::msgrcv),
    Call(189, queue::msgsnd),
    Call(190, semaphore::semget),
    Call(191, semaphore::semctl),
    Call(192, semaphore::semtimedop),
    Call(193, semaphore::semop),
]);
