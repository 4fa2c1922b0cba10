; Module: fp_lane
; Clocks: 4
; Uses: floats
; Case: 600 s | OP_FADD | true | (is32 out32 (fp.add RNE (f32 a) (f32 b))) | fadd is IEEE addition, for all operands
; Case: 600 s | OP_FSUB | true | (is32 out32 (fp.sub RNE (f32 a) (f32 b))) | fsub is IEEE subtraction, for all operands
; Case: 600 s | OP_FMUL | true | (is32 out32 (fp.mul RNE (f32 a) (f32 b))) | fmul is IEEE multiplication, for all operands
