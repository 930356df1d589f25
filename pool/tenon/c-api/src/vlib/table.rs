//! The channels that C has, by numbers.

use core::cell::Cell;
use core::ffi::c_int;
use tenon_libc::Errno;
use tenon_thread::wait::Guarded;
use tenon_vlib::Channel;

/// Channels that there can be: of each vLib, as many as it can have.
const CHANNELS: usize = 32;

/// Callback what came of a call.
pub(crate) type Callback = extern "C" fn(c_int, usize);

/// A channel's place.
struct ChannelSlot {
    channel: Cell<Option<Channel>>,
    /// Somebody has the channel, or uses it.
    taken: Cell<bool>,
    /// Who is to be told, and with what.
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

/// Keeps a channel: its number.
pub(crate) fn keep(channel: Channel) -> Result<u32, Errno> {
    CHANNEL_SLOTS.masked(|places, _| {
        let free = places.iter().position(|place| !place.taken.get());
        let number = free.ok_or(Errno::ENOMEM)?;
        places[number].taken.set(true);
        places[number].channel.set(Some(channel));
        Ok(number as u32)
    })
}

/// Calls `action` with a channel that nobody else uses meanwhile; it keeps what it does not give back.
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

/// Notes who is to be told of a channel's call; busy as long as somebody is to be told of one before.
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

/// Who is to be told of a channel's call: nobody any more.
pub(crate) fn take_callback(number: u32) -> Option<(Callback, usize)> {
    CHANNEL_SLOTS.masked(|places, _| places.get(number as usize)?.told.take())
}
