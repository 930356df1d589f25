//! [`range`] and size of whole pages, as calls state them.

use tenon_address_space::PAGE;
use tenon_process::Errno;

/// A size in whole pages, which is not zero.
pub(crate) fn pages(size: usize) -> Result<usize, Errno> {
    let pages = size.checked_next_multiple_of(PAGE).ok_or(Errno::ENOMEM)?;
    (pages > 0).then_some(pages).ok_or(Errno::EINVAL)
}

/// The range of whole pages that a call states by its first two arguments, which may be empty; an end
/// beyond all addresses is `error`.
pub(crate) fn range(
    start: usize,
    size: usize,
    error: Errno,
) -> Result<core::ops::Range<usize>, Errno> {
    if !start.is_multiple_of(PAGE) {
        return Err(Errno::EINVAL);
    }
    let size = size.checked_next_multiple_of(PAGE).ok_or(error)?;
    let end = start.checked_add(size).ok_or(error)?;
    Ok(start..end)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_whole_pages() {
        assert_eq!(pages(0), Err(Errno::EINVAL));
        assert_eq!(pages(1), Ok(PAGE));
        assert_eq!(pages(usize::MAX), Err(Errno::ENOMEM));
        assert_eq!(range(PAGE, 1, Errno::ENOMEM), Ok(PAGE..2 * PAGE));
        assert_eq!(range(1, 1, Errno::ENOMEM), Err(Errno::EINVAL));
        let last = usize::MAX - PAGE + 1;
        assert_eq!(range(last, PAGE, Errno::ENOMEM), Err(Errno::ENOMEM));
    }
}
