//! The network thread, and the stack of the image.

use crate::settings::{settings, take_memory};
use crate::{Counters, Error, Settings, Stack};
use core::net::Ipv4Addr;
use core::time::Duration;
use hw_virtio_net::{Card, Frame, Memory};
use spin::Once;
use tenon_sync::{Condvar, Mutex, MutexGuard, Semaphore};
use tenon_thread::environment::{self, DeviceError};
use tenon_thread::server::Server;
use tenon_thread::thread::{Priority, Storage};
use tenon_thread::time::Instant;

/// Kind of the device in board descriptions.
const KIND: &str = "virtio-mmio";

/// Frames that a thread processes for a call of its own.
const AT_ONCE: usize = 16;

/// Stack of the network thread. Most of it is for the initialisation of the sockets.
const STACK: usize = 16 * 1024;

/// The stack of an image: without a card, it reaches this host alone.
pub type ImageStack = Stack<Option<Card>>;

static NETWORK: Once<Mutex<ImageStack>> = Once::new();
static MEMORY: Memory = Memory::new();
static THREAD: Storage<STACK> = Storage::new();
static BUDGET: Server = Server::background();

/// A change of the state of a socket, or of the own address.
static CHANGED: Condvar = Condvar::new();

/// The network thread has changed the state of a socket.
static NEWS: Semaphore = Semaphore::bounded(0, 1);

/// The stack is initialised.
static READY: Semaphore = Semaphore::new(0);

/// A socket has data to transmit.
static BELL: Semaphore = Semaphore::bounded(0, 1);

/// Initialises the card and starts the network thread.
///
/// # Errors
///
/// If there is no card that can be used, or the thread cannot start; and after the first success.
pub fn start() -> Result<(), Error> {
    if NETWORK.get().is_some() {
        return Err(Error::Started);
    }
    let settings = settings();
    let card = match environment::device(KIND) {
        Err(DeviceError::Absent) if settings.loopback => None,
        Err(error) => return Err(Error::Device(error)),
        Ok(registers) => {
            let card = Card::find(&Frame::new(registers), &MEMORY);
            Some(card.map_err(Error::Card)?)
        }
    };
    let priority = Priority::new(settings.priority as u8);
    let thread = THREAD.spawn("network", priority, move || {
        // Taken once: the thread has its storage for good.
        let Some(memory) = take_memory() else {
            return;
        };
        let now = Instant::now().nanoseconds();
        NETWORK.call_once(|| Mutex::new(Stack::new(card, settings, now, memory)));
        // The only unit, which `start` takes.
        let _ = READY.give();
        serve(settings);
    });
    let thread = thread.map_err(Error::Thread)?;
    if settings.budget_us > 0 {
        let times = [settings.budget_us, settings.period_us];
        let [budget, period] = times.map(|time| Duration::from_micros(time as u64));
        BUDGET.set_reservation(Some((budget, period)));
        BUDGET.attach(thread).map_err(Error::Thread)?;
    }
    READY.take();
    Ok(())
}

/// Own address, once there is one; blocks until then, or until the deadline.
///
/// # Errors
///
/// If there is none by the deadline, or the network is not started.
pub fn address(deadline: Option<Instant>) -> Result<Ipv4Addr, Error> {
    wait_for(deadline, |stack| stack.address().map(Ok))
}

/// Numbers of frames and datagrams since the start.
///
/// # Errors
///
/// If the network is not started.
pub fn counters() -> Result<Counters, Error> {
    Ok(lock()?.counters())
}

/// Body of the network thread.
fn serve(settings: &Settings) {
    let period = Duration::from_micros(settings.period_us as u64);
    let mut end = Instant::now();
    loop {
        end = (end + period).max(Instant::now());
        let mut left = settings.frames;
        loop {
            while left > 0 && step() {
                left -= 1;
            }
            if left == 0 {
                // The rest waits in the card's buffers; a ring of the bell is not lost.
                tenon_thread::time::sleep_until(end);
                break;
            }
            if BELL.take_until(end).is_err() {
                break;
            }
        }
    }
}

/// Processes a frame, under a lock of its own. Returns whether anything was done.
fn step() -> bool {
    let Ok(mut stack) = lock() else {
        return false;
    };
    let has_worked = stack.step(Instant::now().nanoseconds());
    drop(stack);
    if has_worked {
        CHANGED.notify_all();
        // If it is given already, what takes it finds this too.
        let _ = NEWS.give();
    }
    has_worked
}

/// The stack of the image, locked.
pub(crate) fn lock() -> Result<MutexGuard<ImageStack>, Error> {
    let network = NETWORK.get().ok_or(Error::NotStarted)?;
    network.lock().map_err(|_| Error::Lost)
}

/// Wakes the network thread to transmit what sockets have.
pub(crate) fn ring() {
    // If it is rung already, the thread transmits this too.
    let _ = BELL.give();
}

/// Calls `action` with the stack of the image. Data that it leaves to transmit waits for a period,
/// unless [`work`] is called.
///
/// # Errors
///
/// If the network is not started.
pub fn with<R>(action: impl FnOnce(&mut ImageStack) -> R) -> Result<R, Error> {
    Ok(action(&mut *lock()?))
}

/// Transmits what sockets have, and processes what this host sends to itself, in the calling thread:
/// with one frame of a socket at a time, as the network thread does, and a limited number of them. The
/// network thread processes the rest. Returns whether anything was done, by which other threads that
/// wait at a socket look again; [`wait_for_change`] does not return for it.
///
/// # Errors
///
/// If the network is not started.
pub fn work() -> Result<bool, Error> {
    let (mut has_worked, mut has_more) = (false, true);
    for _ in 0..AT_ONCE {
        let worked;
        (worked, has_more) = lock()?.step_looped(Instant::now().nanoseconds());
        has_worked |= worked;
        if !worked || !has_more {
            break;
        }
    }
    if has_worked {
        CHANGED.notify_all();
    }
    if has_more {
        ring();
    }
    Ok(has_worked)
}

/// Blocks until the network thread has received or transmitted for a socket since an earlier call.
pub fn wait_for_change() {
    NEWS.take();
}

/// Waits until `action` returns a result, or until the deadline.
pub(crate) fn wait_for<T>(
    deadline: Option<Instant>,
    mut action: impl FnMut(&mut ImageStack) -> Option<Result<T, Error>>,
) -> Result<T, Error> {
    let mut stack = lock()?;
    loop {
        if let Some(result) = action(&mut stack) {
            return result;
        }
        stack = match deadline {
            None => CHANGED.wait(stack).map_err(|_| Error::Lost)?,
            Some(deadline) => {
                let (stack, wake) = CHANGED
                    .wait_until(stack, deadline)
                    .map_err(|_| Error::Lost)?;
                if wake == tenon_sync::Wake::TimedOut {
                    return Err(Error::TimedOut);
                }
                stack
            }
        };
    }
}
