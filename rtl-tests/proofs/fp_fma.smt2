; Module: prove_fp_fma
; Clocks: 2
; Uses: floats
; Cut: units/fp_fma.sv | s1_next.product = a.significand * b.significand; | s1_next.product = prove_fp_fma.product;
; Case: quick | | (and multiplies (=> (or (fp.isZero (f32 a)) (fp.isZero (f32 b))) (= product (_ bv0 48))))
;   | (ite (or (special (f32 a)) (special (f32 b))) (is32 result (fp.mul RNE (f32 a) (f32 b)))
;     (is32 result (signed (distinct (sign a) (sign b)) ((_ to_fp 8 24) RNE exact))))
;   | fmul, behind its multiplier: the exact product, of any 48 bits and of any exponents, is rounded once to nearest
;   even;
;     subnormal operands and results, overflow, infinities, NaNs and the sign of 0 too
; Case: quick | | (and (not multiplies) (or (special (f32 a)) (special (f32 b)) (special (f32 c))))
;   | (is32 result (fp.fma RNE (f32 a) (f32 b) (f32 c)))
;   | fma of infinities and NaNs
; Case: quick | | (and usual (= product (_ bv0 48)) (or (fp.isZero (f32 a)) (fp.isZero (f32 b))))
;   | (is32 result (fp.fma RNE (f32 a) (f32 b) (f32 c)))
;   | fma with a factor 0
; Mutant: 5 | fmul,
; Mutant: 6 | fmul,
; Mutant: 4 | fmul,
; Mutant: 1 | fma of infinities and NaNs
(define-fun special ((x F32)) Bool (or (fp.isNaN x) (fp.isInfinite x)))
(define-fun sign ((x Word)) (_ BitVec 1) ((_ extract 31 31) x))
(define-fun signed ((negative Bool) (x F32)) F32 (ite negative (fp.neg x) x))
; A number is its significand of 24 bits times 2^(exponent - 150). The product of two is exact in binary64.
(define-fun exponent ((x Word)) (_ BitVec 11)
  (let ((field ((_ extract 30 23) x))) ((_ zero_extend 3) (ite (= field #x00) #x01 field))))
(define-sort F64 () (_ FloatingPoint 11 53))
(define-fun exact () F64 (fp.mul RNE ((_ to_fp_unsigned 11 53) RNE product)
  ((_ to_fp 11 53) (concat #b0 (bvadd (exponent a) (exponent b) (_ bv723 11)) (_ bv0 52)))))
(define-fun usual () Bool (and (not multiplies) (not (special (f32 a))) (not (special (f32 b))) (not (special (f32
    c)))))
