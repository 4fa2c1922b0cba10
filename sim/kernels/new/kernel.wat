;; y = a x + y, one element a thread. The module `wave` has what `wave-sim header` prints for C.
(module
  (import "wave" "thread_id_x" (func $thread_id_x (result i32)))
  (import "wave" "workgroup_id_x" (func $workgroup_id_x (result i32)))
  (import "wave" "workgroup_size_x" (func $workgroup_size_x (result i32)))
  (import "wave" "fma" (func $fma (param f32 f32 f32) (result f32)))
  (memory 1)

  ;; Threads of a workgroup.
  (func (export "wave_workgroup_x_saxpy") (result i32) (i32.const 128))

  (func (export "saxpy") (param $x i32) (param $y i32) (param $a f32) (param $n i32) (local $i i32)
    (local.set $i
      (i32.add (i32.mul (call $workgroup_id_x) (call $workgroup_size_x)) (call $thread_id_x)))
    ;; The last workgroup may reach past the end.
    (if (i32.ge_u (local.get $i) (local.get $n)) (then (return)))
    ;; Addresses count bytes.
    (local.set $x (i32.add (local.get $x) (i32.shl (local.get $i) (i32.const 2))))
    (local.set $y (i32.add (local.get $y) (i32.shl (local.get $i) (i32.const 2))))
    (f32.store (local.get $y)
      (call $fma (local.get $a) (f32.load (local.get $x)) (f32.load (local.get $y))))))
