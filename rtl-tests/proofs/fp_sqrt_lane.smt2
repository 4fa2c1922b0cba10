; Module: fp_sqrt_lane
; Clocks: 1
; Uses: floats
; Case: quick | | (and start (= ((_ to_fp 11 53) wide) ((_ to_fp 11 53) RNE (f32 a))))
;   | (ite (or (fp.isNaN (f32 a)) (fp.isInfinite (f32 a)) (fp.isZero (f32 a)) (fp.isNegative (f32 a)))
;     (and new_is_special (is32 new_the_special (fp.sqrt RNE (f32 a))))
;     (and (not new_is_special) (= new_root (_ bv0 25)) (= new_rest (_ bv0 26))
;     (= new_radicand (ite odd_power (concat #b1 leading (_ bv0 26)) (concat #b01 leading (_ bv0 25))))
;     (= ((_ zero_extend 4) new_result_exponent) (bvadd half_power (_ bv127 12)))))
;   | start: the significand, doubled if its power of two is odd, and half this power, as binary64 has them; the root
;   itself of a
;     NaN, an infinity, zero or a negative number
; Case: quick | | (and finish (not old_is_special) (= ((_ extract 24 24) old_root) #b1)
;     (=> (= ((_ extract 0 0) old_root) #b1) (distinct old_rest (_ bv0 26)))
;     (bvuge old_result_exponent #x34) (bvule old_result_exponent #xbe))
;   | (is32 result ((_ to_fp 8 24) RNE (fp.mul RNE root_and_more (two_to old_result_exponent))))
;   | finish: the root's bits, with what is below them, rounded once to nearest even
; Mutant: 32 | start:
; Mutant: 33 | finish:
; Mutant: units/fp_sqrt_lane.sv | exponent[0] ? {1'b0, significand, 25'd0} | !exponent[0] ? {1'b0, significand, 25'd0} |
;   start:
(declare-const wide (_ BitVec 64))
(define-fun leading () (_ BitVec 23) ((_ extract 51 29) wide))
; The power of two is the exponent field less 1023. Half of it, towards minus infinity.
(define-fun power () (_ BitVec 12) (bvsub ((_ zero_extend 1) ((_ extract 62 52) wide)) (_ bv1023 12)))
(define-fun odd_power () Bool (= ((_ extract 0 0) power) #b1))
(define-fun half_power () (_ BitVec 12) (bvashr power (_ bv1 12)))
(define-sort F64 () (_ FloatingPoint 11 53))
; The root's 25 bits, and a half if there is a rest. Its exponent says 2^(exponent - 127) for the bit at place 24.
(define-fun root_and_more () F64
  ((_ to_fp_unsigned 11 53) RNE (concat old_root (ite (= old_rest (_ bv0 26)) #b0 #b1))))
(define-fun two_to ((exponent (_ BitVec 8))) F64
  ((_ to_fp 11 53) (concat #b0 (bvadd (concat #b000 exponent) (_ bv871 11)) (_ bv0 52))))
