; Module: fp_simple
; Clocks: 0
; Uses: floats
; Case: quick | OP_FNEG | true | (and (= result (bvxor a #x80000000)) (= (f32 result) (fp.neg (f32 a))))
;   | fneg, fabs: IEEE negate and abs, of the sign bit also of a NaN
; Case: quick | OP_FABS | true | (and (= result (bvand a #x7fffffff)) (= (f32 result) (fp.abs (f32 a))))
;   | fneg, fabs: IEEE negate and abs, of the sign bit also of a NaN
; Case: quick | OP_FMIN | true | (is_min result a b) | fmin, fmax, fclamp: IEEE minimumNumber and maximumNumber, -0
;   below +0
; Case: quick | OP_FMAX | true | (is_max result a b) | fmin, fmax, fclamp: IEEE minimumNumber and maximumNumber, -0
;   below +0
; Case: quick | OP_FCLAMP | true | (is_min result (maximum a b) c) | fmin, fmax, fclamp: IEEE minimumNumber and
;   maximumNumber, -0 below +0
; Case: quick | OP_FFLOOR | true | (is32 result (fp.roundToIntegral RTN (f32 a))) | ffloor, fceil, fround, ftrunc: IEEE
;   roundToIntegral, four directions
; Case: quick | OP_FCEIL | true | (is32 result (fp.roundToIntegral RTP (f32 a))) | ffloor, fceil, fround, ftrunc: IEEE
;   roundToIntegral, four directions
; Case: quick | OP_FROUND | true | (is32 result (fp.roundToIntegral RNE (f32 a))) | ffloor, fceil, fround, ftrunc: IEEE
;   roundToIntegral, four directions
; Case: quick | OP_FTRUNC | true | (is32 result (fp.roundToIntegral RTZ (f32 a))) | ffloor, fceil, fround, ftrunc: IEEE
;   roundToIntegral, four directions
; Case: quick | OP_FSAT | true | (is32 result (saturated (f32 a))) | fsat clamps to [0, 1]; -0 and NaN give +0
; Case: quick | OP_FCMP_EQ | true | (= pred (fp.eq (f32 a) (f32 b))) | fcmp: IEEE quiet comparisons; ord and unord tell
;   whether an operand is a NaN
; Case: quick | OP_FCMP_NE | true | (= pred (not (fp.eq (f32 a) (f32 b)))) | fcmp: IEEE quiet comparisons; ord and unord
;   tell whether an operand is a NaN
; Case: quick | OP_FCMP_LT | true | (= pred (fp.lt (f32 a) (f32 b))) | fcmp: IEEE quiet comparisons; ord and unord tell
;   whether an operand is a NaN
; Case: quick | OP_FCMP_LE | true | (= pred (fp.leq (f32 a) (f32 b))) | fcmp: IEEE quiet comparisons; ord and unord tell
;   whether an operand is a NaN
; Case: quick | OP_FCMP_GT | true | (= pred (fp.gt (f32 a) (f32 b))) | fcmp: IEEE quiet comparisons; ord and unord tell
;   whether an operand is a NaN
; Case: quick | OP_FCMP_GE | true | (= pred (fp.geq (f32 a) (f32 b))) | fcmp: IEEE quiet comparisons; ord and unord tell
;   whether an operand is a NaN
; Case: quick | OP_FCMP_ORD OP_FCMP_UNORD | true
;   | (= pred (= unordered (or (fp.isNaN (f32 a)) (fp.isNaN (f32 b))))) | fcmp: IEEE quiet comparisons; ord and unord
;   tell whether an operand is a NaN
; Mutant: 7 | OP_FCMP_LT
; Mutant: 8 | OP_FROUND
; Mutant: units/wave_fp_pkg.sv | if (nan_a) return nan_b ? NAN : b; | if (nan_a) return b; | OP_FMIN
; Mutant: units/wave_fp_pkg.sv | 2'b10: return 1'b1; | 2'b10: return a[30:0] != 0; | OP_FMAX
; Mutant: 255 | OP_FSAT
(define-fun unordered () Bool (= op OP_FCMP_UNORD))
(define-fun both_zero ((x F32) (y F32)) Bool (and (fp.isZero x) (fp.isZero y)))
(define-fun lesser ((x F32) (y F32)) F32
  (ite (both_zero x y) (ite (fp.isNegative x) x y) (ite (fp.lt x y) x y)))
(define-fun greater ((x F32) (y F32)) F32
  (ite (both_zero x y) (ite (fp.isPositive x) x y) (ite (fp.gt x y) x y)))
(define-fun is_min ((r Word) (a Word) (b Word)) Bool
  (ite (fp.isNaN (f32 a)) (is32 r (f32 b)) (ite (fp.isNaN (f32 b)) (= r a) (is32 r (lesser (f32 a) (f32 b))))))
(define-fun is_max ((r Word) (a Word) (b Word)) Bool
  (ite (fp.isNaN (f32 a)) (is32 r (f32 b)) (ite (fp.isNaN (f32 b)) (= r a) (is32 r (greater (f32 a) (f32 b))))))
(define-fun maximum ((a Word) (b Word)) Word
  (ite (and (fp.isNaN (f32 a)) (fp.isNaN (f32 b))) #x7fc00000
  (ite (fp.isNaN (f32 a)) b (ite (fp.isNaN (f32 b)) a (ite (= (greater (f32 a) (f32 b)) (f32 a)) a b)))))
(define-fun saturated ((x F32)) F32
  (ite (or (fp.isNaN x) (fp.leq x ((_ to_fp 8 24) #x00000000))) ((_ to_fp 8 24) #x00000000)
  (ite (fp.gt x ((_ to_fp 8 24) #x3f800000)) ((_ to_fp 8 24) #x3f800000) x)))
