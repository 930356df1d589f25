//! What can be wrong with a manifest.

use core::fmt;

/// Why bytes are no manifest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Error<'a> {
    /// They do not begin as one, of this version and at a multiple of 8.
    Foreign,
    /// Not all of it is there, or its tables do not lie one behind the other.
    Extent,
    /// A value stands for nothing.
    Unknown {
        /// The table.
        table: &'static str,
    },
    /// A field's value is not allowed.
    Invalid {
        /// Whose it is.
        of: &'a str,
        /// The field.
        field: &'static str,
        /// What it has to be.
        must: &'static str,
    },
    /// There are more records than a kernel has room for.
    TooMany {
        /// The table.
        table: &'static str,
        /// How many there may be.
        limit: usize,
    },
    /// Two records claim the same thing.
    Clash {
        /// The one.
        of: &'a str,
        /// The other; it may be the same.
        other: &'a str,
        /// What both claim.
        what: &'static str,
    },
}

impl<'a> Error<'a> {
    /// It in words, one behind the other.
    pub fn words(&self) -> [&'a str; 5] {
        match *self {
            Self::Foreign => ["not one of this version", "", "", "", ""],
            Self::Extent => ["its tables are not one behind the other", "", "", "", ""],
            Self::Unknown { table } => [table, ": a value stands for nothing", "", "", ""],
            Self::Invalid { of, field, must } => [of, ": ", field, " must ", must],
            Self::TooMany { table, .. } => [table, ": more than there is room for", "", "", ""],
            Self::Clash { of, other, what } if of == other => {
                [of, " has the same ", what, " twice", ""]
            }
            Self::Clash { of, other, what } => [of, " and ", other, " have the same ", what],
        }
    }
}

impl fmt::Display for Error<'_> {
    #[cold]
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.words()
            .into_iter()
            .try_for_each(|word| f.write_str(word))
    }
}

impl core::error::Error for Error<'_> {}
