; Module: fp_div_lane
; Clocks: 1
; Uses: floats
; Case: quick | | (and start (not pass) (= ((_ to_fp 11 53) wide_a) (double a)) (= ((_ to_fp 11 53) wide_b) (double b)))
;   | (ite (special a b) (and new_is_special (is32 new_the_special (fp.div RNE (f32 a) (f32 b))))
;     (and (not new_is_special) (= new_rest (concat #b01 (leading wide_a))) (= new_divisor (concat #b1 (leading
;   wide_b)))
;     (= new_the_sign (distinct ((_ extract 31 31) a) ((_ extract 31 31) b)))
;     (= new_exponent (bvadd (bvsub (power wide_a) (power wide_b)) (_ bv127 11)))))
;   | start: significands from 1 to 2 and the exponent of their quotient, as the operands have them in binary64; the
;   quotient
;     itself if an operand is a NaN, an infinity or zero
; Case: quick | | (and start pass) | (and new_is_special (= new_the_special a)) | with `pass` the result is a
; Case: quick | | (and finish (not old_is_special) (distinct ((_ extract 25 24) old_quotient) #b00)
;     (bvsge old_exponent (bvneg (_ bv149 11))) (bvsle old_exponent (_ bv403 11)))
;   | (is32 result (signed old_the_sign ((_ to_fp 8 24) RNE (fp.mul RNE quotient_and_more (two_to old_exponent)))))
;   | finish: the quotient's bits, with what is below them, rounded once to nearest even; subnormal results and overflow
;   too
; Mutant: 34 | start:
; Mutant: 35 | finish:
; Mutant: units/fp_div_lane.sv | else if (x_zero || y.is_inf) special_value = {sign, 31'd0}; | else if (x_zero ||
;   y.is_inf) special_value = 32'd0; | start:
; Mutant: units/fp_div_lane.sv | leading = quotient[25] ? exponent : exponent - 11'sd1; | leading = exponent; | finish:
(declare-const wide_a (_ BitVec 64))
(declare-const wide_b (_ BitVec 64))
(define-sort F64 () (_ FloatingPoint 11 53))
(define-fun double ((x Word)) F64 ((_ to_fp 11 53) RNE (f32 x)))
(define-fun leading ((x (_ BitVec 64))) (_ BitVec 23) ((_ extract 51 29) x))
(define-fun power ((x (_ BitVec 64))) (_ BitVec 11) ((_ extract 62 52) x))
(define-fun special1 ((x F32)) Bool (or (fp.isNaN x) (fp.isInfinite x) (fp.isZero x)))
(define-fun special ((x Word) (y Word)) Bool (or (special1 (f32 x)) (special1 (f32 y))))
; The quotient's 26 bits, and a half if there is a rest: it rounds as the exact quotient does, since a number that is
; half way
; between two of binary32 has no bit below these. Its exponent says 2^(exponent - 127) for the bit at place 25.
(define-fun quotient_and_more () F64
  ((_ to_fp_unsigned 11 53) RNE (concat old_quotient (ite (= old_rest (_ bv0 25)) #b0 #b1))))
(define-fun two_to ((exponent (_ BitVec 11))) F64
  ((_ to_fp 11 53) (concat #b0 (bvadd exponent (_ bv870 11)) (_ bv0 52))))
(define-fun signed ((negative Bool) (x F32)) F32 (ite negative (fp.neg x) x))
