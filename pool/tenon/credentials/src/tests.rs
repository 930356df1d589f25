//! Tests of [`Credentials`] and [`Limits`].

use super::*;
use proptest::prelude::*;

fn user(number: u32) -> Credentials {
    let mut credentials = Credentials::root();
    credentials.set_group(number).unwrap();
    credentials.set_user(number).unwrap();
    credentials
}

#[test]
fn a_user_that_is_given_up_does_not_come_back() {
    let mut credentials = user(1000);
    assert_eq!(credentials.capabilities().sets(), [0; 3]);
    assert_eq!(credentials.set_user(0), Err(Errno::EPERM));
    assert_eq!(credentials.set_group(0), Err(Errno::EPERM));
    assert_eq!(credentials.set_groups(&[0]), Err(Errno::EPERM));
    assert_eq!(credentials.set_all_users([None, Some(1000), None]), Ok(()));
}

#[test]
fn a_saved_user_comes_back_with_capabilities() {
    let mut credentials = Credentials::root();
    credentials.set_all_users([None, Some(5), None]).unwrap();
    assert!(!credentials.has(capability::KILL));
    assert!(credentials.capabilities().sets()[1] != 0);
    credentials.set_all_users([None, Some(0), None]).unwrap();
    assert!(credentials.has(capability::KILL));
    credentials.set_users(Some(7), Some(7)).unwrap();
    assert_eq!(credentials.user(), &Ids::all(7));
    assert_eq!(credentials.capabilities().sets(), [0; 3]);
}

#[test]
fn capabilities_are_kept_where_it_is_asked() {
    let mut credentials = Credentials::root();
    credentials.capabilities_mut().keep = true;
    credentials.set_user(9).unwrap();
    let [effective, permitted, _] = credentials.capabilities().sets();
    assert_eq!((effective, permitted != 0), (0, true));
    let bit = 1 << capability::KILL;
    credentials.capabilities_mut().set([bit, bit, bit]).unwrap();
    assert_eq!(
        credentials.capabilities_mut().set([bit | 1, bit | 1, 0]),
        Err(Errno::EPERM)
    );
    credentials
        .capabilities_mut()
        .set_ambient(capability::KILL, true)
        .unwrap();
    credentials.execute();
    assert!(credentials.has(capability::KILL) && !credentials.has(capability::CHOWN));
    credentials
        .capabilities_mut()
        .set_ambient(capability::KILL, false)
        .unwrap();
    credentials.execute();
    assert!(!credentials.has(capability::KILL));
}

#[test]
fn accesses_to_files_have_a_user_of_their_own() {
    let mut credentials = Credentials::root();
    assert_eq!(credentials.set_user_of_files(3), 0);
    assert!(!credentials.permits((0, 0), (0o600, false), READ));
    assert!(credentials.permits((3, 0), (0o600, false), READ | WRITE));
    assert!(credentials.has(capability::KILL));
    assert_eq!(credentials.set_user_of_files(0), 3);
    assert!(credentials.permits((9, 9), (0, false), READ | WRITE));
    assert!(!credentials.permits((9, 9), (0o666, false), EXECUTE));
    assert!(credentials.permits((9, 9), (0, true), EXECUTE));
}

#[test]
fn classes_are_those_of_posix() {
    let mut credentials = user(10);
    credentials.set_groups(&[20]).unwrap_err();
    for (owner, mode, wanted, permitted) in [
        ((10, 0), 0o400, READ, true),
        ((10, 0), 0o077, READ, false),
        ((0, 10), 0o040, READ, true),
        ((0, 10), 0o707, READ, false),
        ((0, 0), 0o004, READ, true),
        ((0, 0), 0o770, EXECUTE, false),
    ] {
        assert_eq!(
            credentials.permits(owner, (mode, false), wanted),
            permitted,
            "{mode:o}"
        );
    }
    assert!(credentials.may_remove((10, 0o1777), 0) && credentials.may_remove((0, 0o1777), 10));
    assert!(!credentials.may_remove((0, 0o1777), 0) && credentials.may_remove((0, 0o777), 0));
    assert!(credentials.may_give((10, 0), (10, 10)) && !credentials.may_give((10, 0), (10, 5)));
    assert!(!credentials.may_give((10, 0), (0, 0)));
}

#[test]
fn signals_go_to_the_same_user() {
    let root = Credentials::root();
    assert!(root.may_signal(&user(4)) && !user(4).may_signal(&root));
    assert!(user(4).may_signal(&user(4)) && !user(4).may_signal(&user(5)));
    assert!(user(4).may_limit(&user(4)) && !user(4).may_limit(&root));
}

#[test]
fn limits_are_raised_by_privilege_alone() {
    let mut limits = Limits::new(32, 256);
    let limit = |soft, hard| Limit { soft, hard };
    let files = resource::DESCRIPTORS;
    assert_eq!(
        limits.set(files, limit(3, 2), (true, 256)),
        Err(Errno::EINVAL)
    );
    assert_eq!(limits.set(files, limit(64, 128), (false, 256)), Ok(()));
    assert_eq!(
        limits.set(files, limit(64, 129), (false, 256)),
        Err(Errno::EPERM)
    );
    assert_eq!(limits.set(files, limit(64, 256), (true, 256)), Ok(()));
    assert_eq!(
        limits.set(files, limit(64, 257), (true, 256)),
        Err(Errno::EPERM)
    );
    assert_eq!(limits.get(16), Err(Errno::EINVAL));
    assert_eq!(limits.soft(files), 64);
}

#[derive(Clone, Debug)]
enum Step {
    User(u32),
    Users(Option<u32>, Option<u32>),
    All([Option<u32>; 3]),
    Files(u32),
    Execute,
}

fn step() -> impl Strategy<Value = Step> {
    let number = 1..4u32;
    let maybe = prop::option::of(1..4u32);
    prop_oneof![
        number.clone().prop_map(Step::User),
        (maybe.clone(), maybe.clone()).prop_map(|(a, b)| Step::Users(a, b)),
        [maybe.clone(), maybe.clone(), maybe].prop_map(Step::All),
        number.prop_map(Step::Files),
        Just(Step::Execute),
    ]
}

proptest! {
    /// A process of users without privilege never has another one than it began with.
    #[test]
    fn users_are_never_gained(steps in prop::collection::vec(step(), 0..40)) {
        let mut credentials = Credentials::root();
        credentials.set_all_users([Some(1), Some(2), Some(2)]).unwrap();
        let mut known = vec![1, 2];
        for step in steps {
            let before = credentials.clone();
            let result = match step {
                Step::User(user) => credentials.set_user(user),
                Step::Users(real, effective) => credentials.set_users(real, effective),
                Step::All(users) => credentials.set_all_users(users),
                Step::Files(user) => {
                    credentials.set_user_of_files(user);
                    Ok(())
                }
                Step::Execute => {
                    credentials.execute();
                    Ok(())
                }
            };
            if result.is_err() {
                prop_assert_eq!(&credentials, &before);
            }
            let Ids { real, effective, saved, files } = *credentials.user();
            let now = [real, effective, saved];
            prop_assert!(now.iter().all(|user| known.contains(user)));
            prop_assert!(known.contains(&files));
            known.retain(|user| now.contains(user) || *user == files);
            prop_assert_eq!(credentials.capabilities().sets()[..2].to_vec(), vec![0, 0]);
        }
    }
}

#[test]
fn another_user_looks_at_no_process() {
    let root = Credentials::root();
    let mut user = Credentials::root();
    user.set_group(100).unwrap();
    user.set_user(1000).unwrap();
    assert!(root.may_look(&user));
    assert!(!user.may_look(&root));
    // Its own users have changed since its program began.
    assert!(!user.may_look(&user));
    user.execute();
    assert!(user.may_look(&user));
}
