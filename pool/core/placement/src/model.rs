//! Exhaustive checks over the orders the memory model allows.
//!
//! Run with `RUSTFLAGS="--cfg loom" cargo test --release -p core-placement`.

use super::*;
use loom::sync::Arc;
use loom::thread;

fn cores<const N: usize>(runs: [Urgency; N]) -> Arc<[Standing; N]> {
    let standings = Arc::new([(); N].map(|()| Standing::new()));
    for (standing, runs) in standings.iter().zip(runs) {
        standing.runs.store(runs, Ordering::Relaxed);
    }
    standings
}

#[test]
fn no_core_idles_beside_a_waiting_thread() {
    loom::model(|| {
        let standings = cores([20, 30]);
        let other = Arc::clone(&standings);
        let idling = thread::spawn(move || {
            let cores = Placement::new(|core| other.get(core));
            cores.publish(1, 0, 0);
            cores.to_ask(1, 0)
        });
        let cores = Placement::new(|core| standings.get(core));
        cores.publish(0, 20, 10);
        let sent = cores.elsewhere(0, 10);
        let asked = idling.join().unwrap();
        assert!(sent == Some(1) || asked == Some(0));
    });
}

#[test]
fn two_that_choose_at_once_choose_two_cores() {
    loom::model(|| {
        let standings = cores([50, 50, 0, 5]);
        let other = Arc::clone(&standings);
        let choosing =
            thread::spawn(move || Placement::new(|core| other.get(core)).elsewhere(1, 9));
        let chosen = Placement::new(|core| standings.get(core)).elsewhere(0, 9);
        let mut chosen = [chosen.unwrap(), choosing.join().unwrap().unwrap()];
        chosen.sort_unstable();
        assert_eq!(chosen, [2, 3]);
    });
}
