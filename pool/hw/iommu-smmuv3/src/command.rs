//! Commands (IHI 0070, 4).

/// A command as it stands in the queue.
pub(crate) type Command = [u64; 2];

/// All configuration that is cached is read anew: `CMD_CFGI_ALL` (4.3.2), which has 31 as its range.
pub(crate) const FORGET_CONFIGURATION: Command = [0x04, 31];

/// All translations of the non-secure world but EL2's are read anew: `CMD_TLBI_NSNH_ALL` (4.4.4).
pub(crate) const FORGET_TRANSLATIONS: Command = [0x30, 0];

/// Is consumed when all before it is done, and by all accesses: `CMD_SYNC` without a signal (4.7.3).
pub(crate) const SYNC: Command = [0x46, 0];
