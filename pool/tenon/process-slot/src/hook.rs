//! [`Hooks`]: functions of libraries, in the order in which they were added.

use spin::Once;

/// A function of a library in a list of such, once it was added to one.
#[derive(Debug)]
pub struct Hook<F: 'static> {
    function: F,
    /// The one that was added before, once this one is in a list.
    before: Once<Option<&'static Self>>,
}

impl<F> Hook<F> {
    /// A function that is in no list.
    pub const fn new(function: F) -> Self {
        Self {
            function,
            before: Once::new(),
        }
    }
}

/// Functions, the last one that was added first.
#[derive(Debug)]
pub struct Hooks<F: 'static>(Option<&'static Hook<F>>);

impl<F: Copy> Hooks<F> {
    /// No function.
    #[must_use]
    pub const fn new() -> Self {
        Self(None)
    }

    /// Adds a function, unless it is in the list. It is in one list at most.
    pub fn add(&mut self, hook: &'static Hook<F>) {
        if hook.before.get().is_none() {
            hook.before.call_once(|| self.0);
            self.0 = Some(hook);
        }
    }

    /// The functions that are in the list now.
    pub fn functions(&self) -> impl Iterator<Item = F> + use<F> {
        let before = |hook: &&'static Hook<F>| hook.before.get().copied().flatten();
        core::iter::successors(self.0, before).map(|hook| hook.function)
    }
}

impl<F: Copy> Default for Hooks<F> {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_function_is_in_the_list_once() {
        static ALL: [Hook<u32>; 7] = [const { Hook::new(0) }; 7];
        static OTHER: Hook<u32> = Hook::new(5);
        let mut hooks = Hooks::new();
        assert_eq!(hooks.functions().count(), 0);
        for _ in 0..2 {
            for hook in &ALL {
                hooks.add(hook);
            }
            hooks.add(&OTHER);
        }
        assert_eq!(hooks.functions().next(), Some(5));
        assert_eq!(hooks.functions().count(), 8);
    }
}
