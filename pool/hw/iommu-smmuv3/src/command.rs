//! SMMU commands (IHI 0070, 4).

/// A command queue entry.
pub(crate) type Command = [u64; 2];

/// `CMD_CFGI_ALL` (4.3.2): invalidates all cached configuration; 31 is its range.
pub(crate) const INVALIDATE_CONFIGURATION: Command = [0x04, 31];

/// `CMD_TLBI_NSNH_ALL` (4.4.4): invalidates all non-secure translations except those of EL2.
pub(crate) const INVALIDATE_TRANSLATIONS: Command = [0x30, 0];

/// `CMD_SYNC` without a signal (4.7.3): consumed when all earlier commands are complete, for all
/// accesses.
pub(crate) const SYNC: Command = [0x46, 0];
