//! Every case gives what it must.

use crate::case::{Case, cases};
use crate::machine::{config, run};

/// Runs the cases of a file; lists those that do not give what they must.
fn all(file: &str) {
    let mut wrong = Vec::new();
    let mut compared = 0;
    let cases = cases(file);
    for case in &cases {
        match run(case, &config(case.wave_width)) {
            Err(why) => wrong.push(format!("{}: {why}", case.name)),
            Ok(after) => {
                compared += usize::from(case.bindings.iter().any(|buffer| buffer.is_compared()));
                wrong.extend(difference(case, &after));
            }
        }
    }
    assert!(wrong.is_empty(), "{} of {} cases of {file}:\n{}", wrong.len(), cases.len(), wrong.join("\n"));
    assert_eq!(compared, cases.len(), "a case compares nothing");
}

fn difference(case: &Case, after: &[Vec<u8>]) -> Option<String> {
    let found = case.bindings.iter().zip(after).find_map(|(buffer, after)| buffer.differs(after))?;
    Some(format!("{}: {found}", case.name))
}

macro_rules! files {
    ($($name:ident)*) => { $(#[test] fn $name() { all(stringify!($name)); })* };
}

files! { control conversions layouts matrices memory numeric operators programs sharing subgroups }
