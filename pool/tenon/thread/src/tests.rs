//! Tests of the creation of threads.

use crate::thread::{Error, Packed, Priority};
use tenon_kernel::testing::{kernel, leak, preempt};
use tenon_kernel::thread::Wait;

#[test]
fn storage_holds_one_thread_at_a_time() {
    let (kernel, _) = kernel(true);
    let storage: &'static Packed<1024> = leak(Packed::new());
    let prepare = || storage.prepare(false, kernel, "test", Priority::new(200), || {});
    let thread = prepare().unwrap();
    assert_eq!(
        (thread.name(), thread.base_priority()),
        ("test", Priority::HIGHEST)
    );
    assert_eq!(prepare().unwrap_err(), Error::InUse);
    thread.wake(kernel);
    preempt(kernel);
    thread.wait(kernel, Wait::Dormant);
    assert!(prepare().is_ok(), "it ended");
}

#[test]
fn what_a_thread_takes_along_fits_its_stack_or_is_refused() {
    let (kernel, _) = kernel(true);
    let storage: &'static Packed<128> = leak(Packed::new());
    let large = [0u8; 64];
    let refused = storage.prepare(false, kernel, "test", Priority::new(1), move || {
        assert_eq!(large[0], 0)
    });
    assert_eq!(refused.unwrap_err(), Error::StackTooSmall);
    assert!(
        storage
            .prepare(false, kernel, "test", Priority::new(1), || {})
            .is_ok()
    );
}
