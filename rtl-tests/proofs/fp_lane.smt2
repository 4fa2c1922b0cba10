; Module: fp_lane
; Clocks: 4
; Uses: floats
; Case: apart 0..60 | OP_FADD | (not (and (tiny a) (tiny b))) | (is32 out32 (fp.add RNE (f32 a) (f32 b)))
;   | fadd is IEEE addition, unless both operands are subnormal or zero
; Case: quick | OP_FADD | (and (tiny a) (tiny b)) | (= out32 (sum_of_tiny a b))
;   | fadd of two operands that are subnormal or zero is the exact sum of their fractions
; Case: apart 0..60 | OP_FSUB | (not (and (tiny a) (tiny b))) | (is32 out32 (fp.sub RNE (f32 a) (f32 b)))
;   | fsub is IEEE subtraction, unless both operands are subnormal or zero
; Case: quick | OP_FSUB | (and (tiny a) (tiny b)) | (= out32 (sum_of_tiny a (bvxor b #x80000000)))
;   | fsub of two operands that are subnormal or zero is the exact difference of their fractions
; Mutant: 3 | OP_FADD
; Mutant: 5 | OP_FADD
; Mutant: 6 | OP_FADD
; Mutant: 12 | OP_FADD
; Mutant: units/fp_fma.sv | negative = s1.subtract && difference[78]; | negative = 1'b0; | OP_FADD
; Mutant: units/fp_lane.sv | if (k == SUB) o.c.sign = !y.sign; | o.c.sign = y.sign; | OP_FSUB
; A split takes the distance of two exponents, plus 30. Subnormals have the exponent of the least normal number.
(define-fun exponent ((x Word)) (_ BitVec 16)
  (let ((field ((_ extract 30 23) x))) ((_ zero_extend 8) (ite (= field #x00) #x01 field))))
(define-fun apart ((n (_ BitVec 16))) Bool (= (bvadd (exponent a) (_ bv30 16)) (bvadd (exponent b) n)))
; The fraction of a subnormal counts 2^-149, and so do the 31 low bits of a number below 2^-125.
(define-fun tiny ((x Word)) Bool (= ((_ extract 30 23) x) #x00))
(define-fun signed ((x Word)) Word (ite (= ((_ extract 31 31) x) #b1) (bvneg (bvand x #x7fffffff)) x))
(define-fun sum_of_tiny ((x Word) (y Word)) Word
  (let ((sum (bvadd (signed x) (signed y))))
    (ite (bvslt sum #x00000000) (bvor (bvneg sum) #x80000000)
      (ite (= sum #x00000000) (bvand x y #x80000000) sum))))
