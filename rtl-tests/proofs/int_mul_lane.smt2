; Module: int_mul_lane
; Clocks: 3
; Uses: floats
; Case: quick | OP_IMUL | true | (= result ((_ extract 31 0) by_halves))
;   | imul, imul_hi, imad: low and high word of the sum of four products of halves, each at its place; the low word plus
;   c
; Case: quick | OP_IMUL_HI | true | (= result ((_ extract 63 32) by_halves))
;   | imul, imul_hi, imad: low and high word of the sum of four products of halves, each at its place; the low word plus
;   c
; Case: quick | OP_IMAD | true | (= result (bvadd ((_ extract 31 0) by_halves) c))
;   | imul, imul_hi, imad: low and high word of the sum of four products of halves, each at its place; the low word plus
;   c
; Mutant: 22 | OP_IMUL_HI
; Mutant: units/int_mul_lane.sv | addend_1 <= op == OP_IMAD ? c : '0; | addend_1 <= c; | OP_IMUL
; Mutant: units/int_mul_lane.sv | upper_2 <= upper_1; | upper_2 <= op == OP_IMUL_HI; | OP_IMUL_HI
(define-fun times ((x Half) (y Half)) Word (bvmul (concat #x0000 x) (concat #x0000 y)))
(define-fun by_halves () (_ BitVec 64)
  (bvadd (concat (times (high a) (high b)) (times (low a) (low b)))
         (concat #x0000 (times (high a) (low b)) #x0000) (concat #x0000 (times (low a) (high b)) #x0000)))
