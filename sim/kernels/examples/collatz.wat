;; What collatz.rwasm was made of.
(module
  (memory 1)

  ;; Steps from n to 1 in the Collatz sequence.
  (func (export "steps") (param $n i64) (result i32)
    (local $steps i32)
    (block $done
      (loop $next
        (br_if $done (i64.le_u (local.get $n) (i64.const 1)))
        (local.set $n
          (if (result i64) (i64.eqz (i64.and (local.get $n) (i64.const 1)))
            (then (i64.shr_u (local.get $n) (i64.const 1)))
            (else (i64.add (i64.mul (local.get $n) (i64.const 3)) (i64.const 1)))))
        (local.set $steps (i32.add (local.get $steps) (i32.const 1)))
        (br $next)))
    (local.get $steps))

  ;; Prime numbers below n, at most 65536, by a sieve in memory.
  (func (export "primes") (param $n i32) (result i32)
    (local $i i32) (local $j i32) (local $count i32)
    (if (i32.gt_u (local.get $n) (i32.const 65536)) (then (unreachable)))
    (local.set $i (i32.const 2))
    (block $done
      (loop $next
        (br_if $done (i32.ge_u (local.get $i) (local.get $n)))
        (if (i32.eqz (i32.load8_u (local.get $i)))
          (then
            (local.set $count (i32.add (local.get $count) (i32.const 1)))
            (local.set $j (i32.add (local.get $i) (local.get $i)))
            (block $crossed
              (loop $cross
                (br_if $crossed (i32.ge_u (local.get $j) (local.get $n)))
                (i32.store8 (local.get $j) (i32.const 1))
                (local.set $j (i32.add (local.get $j) (local.get $i)))
                (br $cross)))))
        (local.set $i (i32.add (local.get $i) (i32.const 1)))
        (br $next)))
    (local.get $count)))
