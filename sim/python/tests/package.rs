//! Runs the tests of the package, which are in Python, on the module that cargo has built for this test.

use std::path::Path;
use std::process::Command;

/// Environment variable that skips them if it is 1.
const SKIP: &str = "WAVE_SIM_SKIP_PYTHON";

#[test]
fn the_tests_in_python_pass() {
    if std::env::var(SKIP).is_ok_and(|value| value == "1") {
        eprintln!("{SKIP}=1: the Python package is not tested");
        return;
    }
    // This test is in `deps` of the folder where the module and the executable are.
    let test = std::env::current_exe().expect("this test has a file");
    let built = test.parent().and_then(Path::parent).expect("the folder of what is built");
    assert!(
        built.join("wave-sim").is_file(),
        "the package is compared with the executable: cargo build -p wave-sim, or cargo test --workspace"
    );
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scripts/test-python.sh");
    let output = Command::new(script).arg(built).output().expect("the script starts");
    let said = [output.stdout, output.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
    println!("{}", said[0]);
    assert!(output.status.success(), "{}{}; {SKIP}=1 goes without", said[0], said[1]);
    assert!(said[0].contains(" tests passed"), "{}", said[0]);
}
