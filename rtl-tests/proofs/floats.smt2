; What the specifications of floating point have in common: formats, and results as docs/isa.md section 5 has them.
(define-sort Word () (_ BitVec 32))
(define-sort Half () (_ BitVec 16))
(define-sort F32 () (_ FloatingPoint 8 24))
(define-sort F16 () (_ FloatingPoint 5 11))
(define-fun f32 ((bits Word)) F32 ((_ to_fp 8 24) bits))
(define-fun f16 ((bits Half)) F16 ((_ to_fp 5 11) bits))
(define-fun bf16 ((bits Half)) F32 (f32 (concat bits #x0000)))
(define-fun low ((bits Word)) Half ((_ extract 15 0) bits))
(define-fun high ((bits Word)) Half ((_ extract 31 16) bits))
; `=` of floating-point numbers is identity: -0 differs from +0, and a NaN equals itself. A NaN that is a result is the
; canonical one.
(define-fun is32 ((bits Word) (x F32)) Bool (and (= (f32 bits) x) (=> (fp.isNaN x) (= bits #x7fc00000))))
(define-fun is16 ((bits Half) (x F16)) Bool (and (= (f16 bits) x) (=> (fp.isNaN x) (= bits #x7e00))))
; bf16 is the upper half of f32, so that its numbers are multiples of 2^16 in the order of f32's bits. The nearest one
; is at
; most 2^15 away, and is even if there are two. bitwuzla has no formats but those of IEEE 754.
(define-fun magnitude ((bits Word)) Word (bvand bits #x7fffffff))
(define-fun distance ((x Word) (y Word)) Word (ite (bvult x y) (bvsub y x) (bvsub x y)))
(define-fun rounds_to_bf16 ((bits Half) (x Word)) Bool
  (let ((away (distance (magnitude (concat bits #x0000)) (magnitude x))))
    (ite (fp.isNaN (f32 x)) (= bits #x7fc0)
      (and (= ((_ extract 15 15) bits) ((_ extract 31 31) x)) (bvule away #x00008000)
           (=> (= away #x00008000) (= ((_ extract 0 0) bits) #b0))))))
