//! Files generated from the declaration of the configuration are current. `UPDATE=1 cargo test
//! --test generated_config` writes them.

use wave_testing::golden;

#[test]
fn the_manual_of_the_configuration_is_current() {
    golden::check("docs/configuration.md", &wave_machine::config::manual());
}
