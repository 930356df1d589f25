//! What can be wrong with a manifest.

use core::fmt;

/// Why a tree is no manifest. Names are those of the tree.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Error<'a> {
    /// The bytes are no flattened device tree.
    Tree,
    /// The tree is one of another kind or version.
    Foreign {
        /// What `compatible` would have to say.
        expected: &'static str,
    },
    /// A node lacks a child or a property.
    Missing {
        /// The node.
        node: &'a str,
        /// What it lacks.
        name: &'static str,
    },
    /// A property's value is not allowed.
    Invalid {
        /// The node.
        node: &'a str,
        /// The property.
        property: &'static str,
        /// What it has to be.
        must: &'static str,
    },
    /// There are more values or children than a kernel has room for.
    TooMany {
        /// The node.
        node: &'a str,
        /// Of what.
        name: &'static str,
        /// How many there may be.
        limit: usize,
    },
    /// Two nodes claim the same thing.
    Clash {
        /// The one.
        node: &'a str,
        /// The other; it may be the same node.
        other: &'a str,
        /// What both claim.
        what: &'static str,
    },
}

impl fmt::Display for Error<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tree => f.write_str("not a flattened device tree"),
            Self::Foreign { expected } => write!(f, "the tree is not compatible with {expected}"),
            Self::Missing { node, name } => write!(f, "{node}: no {name}"),
            Self::Invalid {
                node,
                property,
                must,
            } => write!(f, "{node}: {property} must {must}"),
            Self::TooMany { node, name, limit } => {
                write!(f, "{node}: {name} has more than {limit} entries")
            }
            Self::Clash { node, other, what } if node == other => {
                write!(f, "{node} has the same {what} twice")
            }
            Self::Clash { node, other, what } => {
                write!(f, "{node} and {other} have the same {what}")
            }
        }
    }
}

impl core::error::Error for Error<'_> {}
