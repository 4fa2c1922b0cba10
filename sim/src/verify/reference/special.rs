//! Stand-in until the shared special functions are there.
fn through(a: u32, f: impl Fn(f64) -> f64) -> u32 {
    super::float::f32_result(f(f64::from(f32::from_bits(a))) as f32)
}
pub fn sin(a: u32) -> u32 {
    through(a, f64::sin)
}
pub fn cos(a: u32) -> u32 {
    through(a, f64::cos)
}
pub fn exp2(a: u32) -> u32 {
    through(a, f64::exp2)
}
pub fn log2(a: u32) -> u32 {
    through(a, f64::log2)
}
