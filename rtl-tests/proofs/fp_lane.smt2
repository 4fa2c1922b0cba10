; Module: fp_lane
; Clocks: 4
; Uses: floats
; Case: apart 0..60 | OP_FADD | true | (is32 out32 (fp.add RNE (f32 a) (f32 b))) | fadd is IEEE addition, for all operands
; Case: apart 0..60 | OP_FSUB | true | (is32 out32 (fp.sub RNE (f32 a) (f32 b))) | fsub is IEEE subtraction, for all operands
; Mutant: 2 | OP_FADD
; Mutant: 3 | OP_FADD
; Mutant: 4 | OP_FADD
; Mutant: 5 | OP_FADD
; Mutant: 6 | OP_FADD
; Mutant: 12 | OP_FADD
; A split takes the distance of two exponents, plus 30. Subnormals have the exponent of the least normal number.
(define-fun exponent ((x Word)) (_ BitVec 16)
  (let ((field ((_ extract 30 23) x))) ((_ zero_extend 8) (ite (= field #x00) #x01 field))))
(define-fun apart ((n (_ BitVec 16))) Bool (= (bvadd (exponent a) (_ bv30 16)) (bvadd (exponent b) n)))
