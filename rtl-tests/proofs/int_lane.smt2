; Module: int_lane
; Clocks: 2
; Uses: floats
; Case: quick | OP_IADD | true | (= result (bvadd a b)) | iadd, isub, ineg, iabs: wrapping sums, differences and
;   magnitudes
; Case: quick | OP_ISUB | true | (= result (bvsub a b)) | iadd, isub, ineg, iabs: wrapping sums, differences and
;   magnitudes
; Case: quick | OP_INEG | true | (= (bvadd result a) #x00000000) | iadd, isub, ineg, iabs: wrapping sums, differences
;   and magnitudes
; Case: quick | OP_IABS | true | (and (or (= result a) (= result (bvneg a))) (=> (not (= a #x80000000)) (bvsge result
;   #x00000000)))
;   | iadd, isub, ineg, iabs: wrapping sums, differences and magnitudes
; Case: quick | OP_IMIN OP_UMIN OP_IMAX OP_UMAX | true | (is_extremum result) | imin, umin, imax, umax: the operand that
;   is
;   at most, or at least, as great as the other
; Case: quick | OP_ICLAMP | true | (= result (smin (smax a b) c)) | iclamp is min(max(a, b), c), signed
; Case: quick | OP_AND | true | (= result (bvand a b)) | and, or, xor, not, select, mov, mov_imm, mov_sr
; Case: quick | OP_OR | true | (= result (bvor a b)) | and, or, xor, not, select, mov, mov_imm, mov_sr
; Case: quick | OP_XOR | true | (= result (bvxor a b)) | and, or, xor, not, select, mov, mov_imm, mov_sr
; Case: quick | OP_NOT | true | (= result (bvnot a)) | and, or, xor, not, select, mov, mov_imm, mov_sr
; Case: quick | OP_SHL | true | (= result (bvshl a (bvurem b #x00000020))) | shl, shr, sar: shifts by b mod 32
; Case: quick | OP_SHR | true | (= result (bvlshr a (bvurem b #x00000020))) | shl, shr, sar: shifts by b mod 32
; Case: quick | OP_SAR | true | (= result (bvashr a (bvurem b #x00000020))) | shl, shr, sar: shifts by b mod 32
; Case: quick | OP_BITCOUNT | true | (= result (ones32 a)) | bitcount: a recursive sum of halves
; Case: quick | OP_BITFIND | true | (ite (= a #x00000000) (= result #xffffffff)
;   (and (bvult result #x00000020) (= (bvlshr (bvshl a result) #x0000001f) #x00000001) (= (bvlshr (bvshl a result)
;   result) a)))
;   | bitfind: a shifted left so far has bit 31 set and lost nothing; all ones for 0
; Case: quick | OP_BITREV | true | (= (bit result (bvsub #x0000001f d)) (bit a d))
;   | bitrev: for every i, bit 31 - i is bit i
; Case: quick | OP_BFE | true | (= (bit result d) (bvand (bit (bvlshr a (bvurem b #x00000020)) d) (below d (bvurem c
;   #x00000020))))
;   | bfe: for every i, bit i is that of a >> b if i is below the width, else 0
; Case: quick | OP_BFI | true | (= (bit result d) (ite (inside d) (bit b (bvsub d (bvurem c #x00000020))) (bit a d)))
;   | bfi: for every i, bit i comes from b if i is in the field, else from a
; Case: quick | OP_SELECT | true | (= result (ite select b c)) | and, or, xor, not, select, mov, mov_imm, mov_sr
; Case: quick | OP_MOV OP_MOV_SR | true | (= result a) | and, or, xor, not, select, mov, mov_imm, mov_sr
; Case: quick | OP_MOV_IMM | true | (= result imm) | and, or, xor, not, select, mov, mov_imm, mov_sr
; Case: quick | OP_ICMP_EQ OP_UCMP_EQ | true | (= pred (= a b)) | icmp, ucmp: the six relations, signed and unsigned
; Case: quick | OP_ICMP_NE OP_UCMP_NE | true | (= pred (distinct a b)) | icmp, ucmp: the six relations, signed and
;   unsigned
; Case: quick | OP_ICMP_LT | true | (= pred (bvslt a b)) | icmp, ucmp: the six relations, signed and unsigned
; Case: quick | OP_ICMP_LE | true | (= pred (bvsle a b)) | icmp, ucmp: the six relations, signed and unsigned
; Case: quick | OP_ICMP_GT | true | (= pred (bvsgt a b)) | icmp, ucmp: the six relations, signed and unsigned
; Case: quick | OP_ICMP_GE | true | (= pred (bvsge a b)) | icmp, ucmp: the six relations, signed and unsigned
; Case: quick | OP_UCMP_LT | true | (= pred (bvult a b)) | icmp, ucmp: the six relations, signed and unsigned
; Case: quick | OP_UCMP_LE | true | (= pred (bvule a b)) | icmp, ucmp: the six relations, signed and unsigned
; Case: quick | OP_UCMP_GT | true | (= pred (bvugt a b)) | icmp, ucmp: the six relations, signed and unsigned
; Case: quick | OP_UCMP_GE | true | (= pred (bvuge a b)) | icmp, ucmp: the six relations, signed and unsigned
; Mutant: 20 | OP_ICMP_LT
; Mutant: 21 | OP_BITFIND
; Mutant: units/int_lane.sv | left = op == OP_BFI ? c[4:0] : b[4:0]; | left = b[4:0]; | OP_BFI
; Mutant: units/int_lane.sv | sign_fill = op == OP_SAR && a[31] && | sign_fill = a[31] && | OP_SHR
; Mutant: units/int_lane.sv | for (int i = 0; i < 32; i++) count | for (int i = 0; i < 31; i++) count | OP_BITCOUNT
; Mutant: units/int_lane.sv | $signed(value_1) < $signed(other_1) | value_1 < other_1 | OP_ICLAMP
; The number of a bit, any of 32. bfi has its width beside its three operands.
(declare-const any_bit Word)
(define-fun d () Word (bvand any_bit #x0000001f))
(define-fun bit ((x Word) (i Word)) (_ BitVec 1) ((_ extract 0 0) (bvlshr x i)))
(define-fun below ((i Word) (n Word)) (_ BitVec 1) (ite (bvult i n) #b1 #b0))
(define-fun inside ((i Word)) Bool
  (and (bvuge i (bvurem c #x00000020)) (bvult i (bvadd (bvurem c #x00000020) ((_ zero_extend 27) width)))))
(define-fun smin ((x Word) (y Word)) Word (ite (bvsle x y) x y))
(define-fun smax ((x Word) (y Word)) Word (ite (bvsge x y) x y))
(define-fun is_extremum ((r Word)) Bool (and (or (= r a) (= r b))
  (ite (= op OP_IMIN) (and (bvsle r a) (bvsle r b)) (ite (= op OP_UMIN) (and (bvule r a) (bvule r b))
  (ite (= op OP_IMAX) (and (bvsge r a) (bvsge r b)) (and (bvuge r a) (bvuge r b)))))))
(define-fun ones2 ((x (_ BitVec 2))) Word
  (bvadd ((_ zero_extend 31) ((_ extract 0 0) x)) ((_ zero_extend 31) ((_ extract 1 1) x))))
(define-fun ones4 ((x (_ BitVec 4))) Word (bvadd (ones2 ((_ extract 1 0) x)) (ones2 ((_ extract 3 2) x))))
(define-fun ones8 ((x (_ BitVec 8))) Word (bvadd (ones4 ((_ extract 3 0) x)) (ones4 ((_ extract 7 4) x))))
(define-fun ones16 ((x Half)) Word (bvadd (ones8 ((_ extract 7 0) x)) (ones8 ((_ extract 15 8) x))))
(define-fun ones32 ((x Word)) Word (bvadd (ones16 (low x)) (ones16 (high x))))
