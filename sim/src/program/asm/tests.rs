use super::*;

#[test]
fn a_first_kernel() {
    let text = "\u{feff}; comment\r\n.kernel k\r\n.registers 8\n\tmov r0, sr_lane_id\n@!p0 mov_imm r1, 1.5 # c\n\
                x: y: iadd r2, r1, r0\ncall x\natomic_add r1, r2 .device\nhalt\n.end";
    let (program, warnings) = assemble(text, "k.wave").unwrap();
    assert_eq!(warnings, []);
    assert_eq!(program.kernels.len(), 1);
    assert_eq!(program.code[0], 0x4100_0420);
}
