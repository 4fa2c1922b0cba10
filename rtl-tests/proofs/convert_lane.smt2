; Module: convert_lane
; Clocks: 3
; Uses: floats
; Case: quick | OP_CVT_F32_I32 | true | (is32 result ((_ to_fp 8 24) RNE a))
;   | the eight conversions: to nearest even, subnormals too; f32 to integers truncates and saturates, and a NaN gives 0
; Case: quick | OP_CVT_F32_U32 | true | (is32 result ((_ to_fp_unsigned 8 24) RNE a))
;   | the eight conversions: to nearest even, subnormals too; f32 to integers truncates and saturates, and a NaN gives 0
; Case: quick | OP_CVT_I32_F32 | true | (= result (to_i32 (f32 a)))
;   | the eight conversions: to nearest even, subnormals too; f32 to integers truncates and saturates, and a NaN gives 0
; Case: quick | OP_CVT_U32_F32 | true | (= result (to_u32 (f32 a)))
;   | the eight conversions: to nearest even, subnormals too; f32 to integers truncates and saturates, and a NaN gives 0
; Case: quick | OP_CVT_F32_F16 | true | (is32 result ((_ to_fp 8 24) RNE (f16 (low a))))
;   | the eight conversions: to nearest even, subnormals too; f32 to integers truncates and saturates, and a NaN gives 0
; Case: quick | OP_CVT_F16_F32 | true | (and (= (high result) #x0000) (is16 (low result) ((_ to_fp 5 11) RNE (f32 a))))
;   | the eight conversions: to nearest even, subnormals too; f32 to integers truncates and saturates, and a NaN gives 0
; Case: quick | OP_CVT_F32_BF16 | true | (is32 result (bf16 (low a)))
;   | the eight conversions: to nearest even, subnormals too; f32 to integers truncates and saturates, and a NaN gives 0
; Case: quick | OP_CVT_BF16_F32 | true | (and (= (high result) #x0000) (rounds_to_bf16 (low result) a))
;   | the eight conversions: to nearest even, subnormals too; f32 to integers truncates and saturates, and a NaN gives 0
; Mutant: 23 | OP_CVT_I32_F32
; Mutant: units/convert_lane.sv | normalized_2[6:0] != 0 | normalized_2[6:1] != 0 | OP_CVT_F32_U32
; Mutant: units/convert_lane.sv | a_1[30:23] >= 8'd159 | a_1[30:23] >= 8'd158 | OP_CVT_U32_F32
; Mutant: units/wave_fp_pkg.sv | else dropped = 5'd25; | else dropped = 5'd24; | OP_CVT_F16_F32
; Mutant: units/wave_fp_pkg.sv | x.exponent = a[14:10] == 0 ? 8'd113 | x.exponent = a[14:10] == 0 ? 8'd112 |
;   OP_CVT_F32_F16
; -1, 2^31, -2^31, 2^32 are #xbf800000, #x4f000000, #xcf000000, #x4f800000.
(define-fun to_i32 ((x F32)) Word
  (ite (fp.isNaN x) #x00000000
  (ite (fp.geq x (f32 #x4f000000)) #x7fffffff
  (ite (fp.lt x (f32 #xcf000000)) #x80000000 ((_ fp.to_sbv 32) RTZ x)))))
(define-fun to_u32 ((x F32)) Word
  (ite (or (fp.isNaN x) (fp.leq x (f32 #xbf800000))) #x00000000
  (ite (fp.geq x (f32 #x4f800000)) #xffffffff ((_ fp.to_ubv 32) RTZ x))))
