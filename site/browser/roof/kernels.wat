;; Two kernels that measure a browser's roof, in the text format of WebAssembly. The build compiles
;; this file twice: unchanged, so that a multiply-add is rounded after the multiplication and again
;; after the addition, and for browsers with relaxed SIMD, where each pair
;;     f32x4.mul (local.get $c) f32x4.add    is replaced by one instruction,
;;     (local.get $c) f32x4.relaxed_madd
;; So the two instructions of a multiply-add must be on one line.
;;
;; The page allocates the memory. The size of an array is a multiple of 128 bytes, 32 numbers.
(module
  (import "page" "memory" (memory 1))

  ;; 12 independent sums of 4 numbers, each s = s * m + c: enough to hide the latency of the
  ;; instructions, few enough for the registers of every processor. The build counts the pairs.
  (func (export "multiply_add") (param $times i32) (result f32)
    (local $m v128) (local $c v128)
    (local $s0 v128) (local $s1 v128) (local $s2 v128) (local $s3 v128)
    (local $s4 v128) (local $s5 v128) (local $s6 v128) (local $s7 v128)
    (local $s8 v128) (local $s9 v128) (local $s10 v128) (local $s11 v128)
    ;; The sums oscillate around 0.5, so that no number becomes 0 or denormal.
    (local.set $m (v128.const f32x4 -0.9999 -0.9999 -0.9999 -0.9999))
    (local.set $c (v128.const f32x4 1 1 1 1))
    (local.set $s0 (v128.const f32x4 0 1 2 3))
    (local.set $s1 (v128.const f32x4 4 5 6 7))
    (local.set $s2 (v128.const f32x4 8 9 10 11))
    (local.set $s3 (v128.const f32x4 12 13 14 15))
    (local.set $s4 (v128.const f32x4 16 17 18 19))
    (local.set $s5 (v128.const f32x4 20 21 22 23))
    (local.set $s6 (v128.const f32x4 24 25 26 27))
    (local.set $s7 (v128.const f32x4 28 29 30 31))
    (local.set $s8 (v128.const f32x4 32 33 34 35))
    (local.set $s9 (v128.const f32x4 36 37 38 39))
    (local.set $s10 (v128.const f32x4 40 41 42 43))
    (local.set $s11 (v128.const f32x4 44 45 46 47))
    (loop $again
      (local.get $s0) (local.get $m) f32x4.mul (local.get $c) f32x4.add (local.set $s0)
      (local.get $s1) (local.get $m) f32x4.mul (local.get $c) f32x4.add (local.set $s1)
      (local.get $s2) (local.get $m) f32x4.mul (local.get $c) f32x4.add (local.set $s2)
      (local.get $s3) (local.get $m) f32x4.mul (local.get $c) f32x4.add (local.set $s3)
      (local.get $s4) (local.get $m) f32x4.mul (local.get $c) f32x4.add (local.set $s4)
      (local.get $s5) (local.get $m) f32x4.mul (local.get $c) f32x4.add (local.set $s5)
      (local.get $s6) (local.get $m) f32x4.mul (local.get $c) f32x4.add (local.set $s6)
      (local.get $s7) (local.get $m) f32x4.mul (local.get $c) f32x4.add (local.set $s7)
      (local.get $s8) (local.get $m) f32x4.mul (local.get $c) f32x4.add (local.set $s8)
      (local.get $s9) (local.get $m) f32x4.mul (local.get $c) f32x4.add (local.set $s9)
      (local.get $s10) (local.get $m) f32x4.mul (local.get $c) f32x4.add (local.set $s10)
      (local.get $s11) (local.get $m) f32x4.mul (local.get $c) f32x4.add (local.set $s11)
      (br_if $again (local.tee $times (i32.sub (local.get $times) (i32.const 1)))))
    ;; Return one number of the total, so that compilers can't eliminate any of the sums.
    (local.get $s0) (local.get $s1) f32x4.add (local.get $s2) f32x4.add
    (local.get $s3) f32x4.add (local.get $s4) f32x4.add (local.get $s5) f32x4.add
    (local.get $s6) f32x4.add (local.get $s7) f32x4.add (local.get $s8) f32x4.add
    (local.get $s9) f32x4.add (local.get $s10) f32x4.add (local.get $s11) f32x4.add
    (f32x4.extract_lane 0))

  ;; Add up an array: one addition for each 4 bytes read.
  (func (export "read") (param $bytes i32) (param $times i32) (result f32)
    (local $at i32)
    (local $s0 v128) (local $s1 v128) (local $s2 v128) (local $s3 v128)
    (local $s4 v128) (local $s5 v128) (local $s6 v128) (local $s7 v128)
    (loop $again
      (local.set $at (i32.const 0))
      (loop $on
        (local.get $s0) (v128.load (local.get $at)) f32x4.add (local.set $s0)
        (local.get $s1) (v128.load offset=16 (local.get $at)) f32x4.add (local.set $s1)
        (local.get $s2) (v128.load offset=32 (local.get $at)) f32x4.add (local.set $s2)
        (local.get $s3) (v128.load offset=48 (local.get $at)) f32x4.add (local.set $s3)
        (local.get $s4) (v128.load offset=64 (local.get $at)) f32x4.add (local.set $s4)
        (local.get $s5) (v128.load offset=80 (local.get $at)) f32x4.add (local.set $s5)
        (local.get $s6) (v128.load offset=96 (local.get $at)) f32x4.add (local.set $s6)
        (local.get $s7) (v128.load offset=112 (local.get $at)) f32x4.add (local.set $s7)
        (local.set $at (i32.add (local.get $at) (i32.const 128)))
        (br_if $on (i32.lt_u (local.get $at) (local.get $bytes))))
      (br_if $again (local.tee $times (i32.sub (local.get $times) (i32.const 1)))))
    (local.get $s0) (local.get $s1) f32x4.add (local.get $s2) f32x4.add
    (local.get $s3) f32x4.add (local.get $s4) f32x4.add (local.get $s5) f32x4.add
    (local.get $s6) f32x4.add (local.get $s7) f32x4.add
    (f32x4.extract_lane 0)))
