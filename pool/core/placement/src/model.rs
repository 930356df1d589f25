//! Exhaustive checks by loom over all executions that the memory model allows.
//!
//! Run with `RUSTFLAGS="--cfg loom" cargo test --release -p core-placement`.

use super::*;
use loom::sync::Arc;
use loom::thread;

fn cores<const N: usize>(runs: [Urgency; N]) -> Arc<[CoreStatus; N]> {
    let statuses = Arc::new([(); N].map(|()| CoreStatus::new()));
    for (status, runs) in statuses.iter().zip(runs) {
        status.runs.store(runs, Ordering::Relaxed);
    }
    statuses
}

#[test]
fn no_core_idles_beside_a_waiting_thread() {
    loom::model(|| {
        let statuses = cores([20, 30]);
        let other = Arc::clone(&statuses);
        let idling = thread::spawn(move || {
            let cores = Placement::new(|core| other.get(core));
            cores.publish(1, 0, 0);
            cores.core_to_pull_from(1, 0)
        });
        let cores = Placement::new(|core| statuses.get(core));
        cores.publish(0, 20, 10);
        let sent = cores.core_for(0, 10);
        let asked = idling.join().unwrap();
        assert!(sent == Some(1) || asked == Some(0));
    });
}

#[test]
fn two_that_choose_at_once_choose_two_cores() {
    loom::model(|| {
        let statuses = cores([50, 50, 0, 5]);
        let other = Arc::clone(&statuses);
        let choosing = thread::spawn(move || Placement::new(|core| other.get(core)).core_for(1, 9));
        let chosen = Placement::new(|core| statuses.get(core)).core_for(0, 9);
        let mut chosen = [chosen.unwrap(), choosing.join().unwrap().unwrap()];
        chosen.sort_unstable();
        assert_eq!(chosen, [2, 3]);
    });
}
