//! Table of the program's vLib channels.

use core::cell::Cell;
use core::ffi::c_int;
use tenon_libc::Errno;
use tenon_thread::wait::Guarded;
use tenon_vlib::Channel;

/// Number of channels: as many as the vLibs can have.
const CHANNELS: usize = 32;

/// Completion callback of an asynchronous call.
pub(crate) type Callback = extern "C" fn(c_int, usize);

/// Slot of a channel.
struct ChannelSlot {
    channel: Cell<Option<Channel>>,
    /// The slot is allocated; without a channel in it, an operation is in progress.
    taken: Cell<bool>,
    /// Callback and argument of the asynchronous call in progress.
    told: Cell<Option<(Callback, usize)>>,
}

static CHANNEL_SLOTS: Guarded<[ChannelSlot; CHANNELS]> = Guarded::new(
    [const {
        ChannelSlot {
            channel: Cell::new(None),
            taken: Cell::new(false),
            told: Cell::new(None),
        }
    }; CHANNELS],
);

/// Stores a channel in a free slot; returns its number.
pub(crate) fn keep(channel: Channel) -> Result<u32, Errno> {
    CHANNEL_SLOTS.masked(|places, _| {
        let free = places.iter().position(|place| !place.taken.get());
        let number = free.ok_or(Errno::ENOMEM)?;
        places[number].taken.set(true);
        places[number].channel.set(Some(channel));
        Ok(number as u32)
    })
}

/// Calls `action` with exclusive use of a channel; a channel that it does not return is removed.
pub(crate) fn with<R>(
    number: u32,
    action: impl FnOnce(Channel) -> (Option<Channel>, R),
) -> Result<R, Errno> {
    let taken = CHANNEL_SLOTS.masked(|places, _| {
        let place = places.get(number as usize).ok_or(Errno::EINVAL)?;
        match (place.channel.take(), place.taken.get()) {
            (Some(channel), _) => Ok(channel),
            (None, true) => Err(Errno::EBUSY),
            (None, false) => Err(Errno::EINVAL),
        }
    });
    let (channel, result) = action(taken?);
    CHANNEL_SLOTS.masked(|places, _| {
        if let Some(place) = places.get(number as usize) {
            place.taken.set(channel.is_some());
            place.channel.set(channel);
        }
    });
    Ok(result)
}

/// Stores the callback of an asynchronous call; `EBUSY` while another call has not completed.
pub(crate) fn set_callback(number: u32, told: Callback, word: usize) -> Result<(), Errno> {
    CHANNEL_SLOTS.masked(|places, _| {
        let place = places.get(number as usize).ok_or(Errno::EINVAL)?;
        if place.told.get().is_some() {
            return Err(Errno::EBUSY);
        }
        place.told.set(Some((told, word)));
        Ok(())
    })
}

/// Removes the callback of an asynchronous call.
pub(crate) fn take_callback(number: u32) -> Option<(Callback, usize)> {
    CHANNEL_SLOTS.masked(|places, _| places.get(number as usize)?.told.take())
}
