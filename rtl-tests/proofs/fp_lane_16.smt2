; Module: fp_lane
; Clocks: 5
; Uses: floats
; Case: 300 s | OP_HADD | true | (and (= (high out16) #x0000)
;     (is16 (low out16) ((_ to_fp 5 11) RNE (fp.add RNE (wide a) (wide b)))))
;   | hadd, hsub: the sum or difference in binary32, rounded to binary16; the high half is 0
; Case: 300 s | OP_HSUB | true | (and (= (high out16) #x0000)
;     (is16 (low out16) ((_ to_fp 5 11) RNE (fp.sub RNE (wide a) (wide b)))))
;   | hadd, hsub: the sum or difference in binary32, rounded to binary16; the high half is 0
; Mutant: units/fp_lane.sv | F16: out16 <= {both_halves_4 ? | F16: out16 <= {!both_halves_4 ? | OP_HADD
(define-fun wide ((x Word)) F32 ((_ to_fp 8 24) RNE (f16 (low x))))
