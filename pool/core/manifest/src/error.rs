//! [`Error`] of the validation of a manifest.

use core::fmt;

/// Error of the validation of a manifest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Error<'a> {
    /// Wrong magic number, version or alignment (8 bytes).
    Foreign,
    /// The manifest is truncated, or its tables are not contiguous.
    Extent,
    /// A value has no meaning.
    Unknown {
        /// The table.
        table: &'static str,
    },
    /// A field's value is not allowed.
    Invalid {
        /// Name of the record.
        of: &'a str,
        /// The field.
        field: &'static str,
        /// The requirement.
        must: &'static str,
    },
    /// A table has more records than the kernel supports.
    TooMany {
        /// The table.
        table: &'static str,
        /// Maximum number of records.
        limit: usize,
    },
    /// Two records use the same resource.
    Clash {
        /// Name of the first record.
        of: &'a str,
        /// Name of the second record; may be the same one.
        other: &'a str,
        /// The resource.
        what: &'static str,
    },
}

impl<'a> Error<'a> {
    /// Error of a field of the record of this name, with its requirement.
    pub(crate) const fn invalid(of: &'a str, field: &'static str, must: &'static str) -> Self {
        Self::Invalid { of, field, must }
    }

    /// The message, as strings to be printed one after the other.
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
