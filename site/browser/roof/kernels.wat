;; Five kernels that measure a browser's roof, in the text format of WebAssembly. The build compiles
;; this file twice: unchanged, so that a multiply-add is rounded after the multiplication and again
;; after the addition, and for browsers with relaxed SIMD, where each pair
;;     f32x4.mul (local.get $c) f32x4.add    is replaced by one instruction,
;;     (local.get $c) f32x4.relaxed_madd
;; So the two instructions of a multiply-add must be on one line.
;;
;; Addresses are in bytes. The size of an array is a multiple of 128 bytes, 32 numbers. The page
;; allocates the memory and chooses its size.
(module
  (import "page" "memory" (memory 1))

  ;; 12 independent sums of 4 numbers, each s = s * m + c: enough to hide the latency of the
  ;; instructions, few enough for the registers of every processor. 12 * 4 * 2 = 96 FLOPs each time.
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
    ;; Return the total, so that compilers can't eliminate any of the sums.
    (local.get $s0) (local.get $s1) f32x4.add (local.get $s2) f32x4.add
    (local.get $s3) f32x4.add (local.get $s4) f32x4.add (local.get $s5) f32x4.add
    (local.get $s6) f32x4.add (local.get $s7) f32x4.add (local.get $s8) f32x4.add
    (local.get $s9) f32x4.add (local.get $s10) f32x4.add (local.get $s11) f32x4.add
    (call $across))

  ;; The sum of the four numbers of a register.
  (func $across (param $v v128) (result f32)
    (f32.add
      (f32.add (f32x4.extract_lane 0 (local.get $v)) (f32x4.extract_lane 1 (local.get $v)))
      (f32.add (f32x4.extract_lane 2 (local.get $v)) (f32x4.extract_lane 3 (local.get $v)))))

  ;; The sum of all numbers of an array: one addition for each 4 bytes read.
  (func (export "read") (param $from i32) (param $bytes i32) (param $times i32) (result f32)
    (local $at i32) (local $end i32)
    (local $s0 v128) (local $s1 v128) (local $s2 v128) (local $s3 v128)
    (local $s4 v128) (local $s5 v128) (local $s6 v128) (local $s7 v128)
    (local.set $end (i32.add (local.get $from) (local.get $bytes)))
    (loop $again
      (local.set $at (local.get $from))
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
        (br_if $on (i32.lt_u (local.get $at) (local.get $end))))
      (br_if $again (local.tee $times (i32.sub (local.get $times) (i32.const 1)))))
    (local.get $s0) (local.get $s1) f32x4.add (local.get $s2) f32x4.add
    (local.get $s3) f32x4.add (local.get $s4) f32x4.add (local.get $s5) f32x4.add
    (local.get $s6) f32x4.add (local.get $s7) f32x4.add
    (call $across))

  ;; a = -a in place: every byte is read and written.
  (func (export "update") (param $from i32) (param $bytes i32) (param $times i32)
    (local $at i32) (local $end i32)
    (local.set $end (i32.add (local.get $from) (local.get $bytes)))
    (loop $again
      (local.set $at (local.get $from))
      (loop $on
        (local.get $at) (f32x4.neg (v128.load (local.get $at))) v128.store
        (local.get $at) (f32x4.neg (v128.load offset=16 (local.get $at))) v128.store offset=16
        (local.get $at) (f32x4.neg (v128.load offset=32 (local.get $at))) v128.store offset=32
        (local.get $at) (f32x4.neg (v128.load offset=48 (local.get $at))) v128.store offset=48
        (local.set $at (i32.add (local.get $at) (i32.const 64)))
        (br_if $on (i32.lt_u (local.get $at) (local.get $end))))
      (br_if $again (local.tee $times (i32.sub (local.get $times) (i32.const 1))))))

  ;; b = a, with plain loads and stores, so that the lines of b are loaded before they are written.
  (func (export "copy") (param $from i32) (param $to i32) (param $bytes i32) (param $times i32)
    (local $at i32) (local $b i32) (local $end i32)
    (local.set $end (i32.add (local.get $from) (local.get $bytes)))
    (loop $again
      (local.set $at (local.get $from))
      (local.set $b (local.get $to))
      (loop $on
        (local.get $b) (v128.load (local.get $at)) v128.store
        (local.get $b) (v128.load offset=16 (local.get $at)) v128.store offset=16
        (local.get $b) (v128.load offset=32 (local.get $at)) v128.store offset=32
        (local.get $b) (v128.load offset=48 (local.get $at)) v128.store offset=48
        (local.set $b (i32.add (local.get $b) (i32.const 64)))
        (local.set $at (i32.add (local.get $at) (i32.const 64)))
        (br_if $on (i32.lt_u (local.get $at) (local.get $end))))
      (br_if $again (local.tee $times (i32.sub (local.get $times) (i32.const 1))))))

  ;; y[rows, F] = x[rows, D] . w[D, F]. The weights are stored in panels of 12 columns, each panel in
  ;; row-major order, so that they are read sequentially: each panel once from memory, and for the
  ;; next rows from the L1 cache. x and y are row-major. $rows is 1, 2 or a multiple of 4; $row is the
  ;; size of a row of x in bytes, $line that of a row of y.
  (func (export "multiply") (param $x i32) (param $w i32) (param $y i32)
    (param $rows i32) (param $row i32) (param $line i32)
    (local $end i32) (local $panel i32) (local $r i32)
    (local.set $end (i32.add (local.get $y) (local.get $line)))
    (local.set $panel (i32.mul (local.get $row) (i32.const 12)))
    (loop $panels
      (if (i32.eq (local.get $rows) (i32.const 1))
        (then (call $one_row (local.get $x) (local.get $w) (local.get $y) (local.get $row)))
        (else (if (i32.eq (local.get $rows) (i32.const 2))
          (then (call $two_rows (local.get $x) (local.get $w) (local.get $y)
            (local.get $row) (local.get $line)))
          (else
            (local.set $r (i32.const 0))
            (loop $groups
              (call $four_rows
                (i32.add (local.get $x) (i32.mul (local.get $r) (local.get $row)))
                (local.get $w)
                (i32.add (local.get $y) (i32.mul (local.get $r) (local.get $line)))
                (local.get $row) (local.get $line))
              (local.set $r (i32.add (local.get $r) (i32.const 4)))
              (br_if $groups (i32.lt_u (local.get $r) (local.get $rows))))))))
      (local.set $w (i32.add (local.get $w) (local.get $panel)))
      (local.set $y (i32.add (local.get $y) (i32.const 48)))
      (br_if $panels (i32.lt_u (local.get $y) (local.get $end)))))

  ;; Twelve numbers of one row of y. Even and odd rows of the panel have separate sums, since three
  ;; sums alone would be bound by latency; so D must be even.
  (func $one_row (param $x i32) (param $w i32) (param $y i32) (param $row i32)
    (local $end i32) (local $v v128) (local $a v128) (local $b v128) (local $c v128)
    (local $d v128) (local $e v128) (local $f v128)
    (local.set $end (i32.add (local.get $x) (local.get $row)))
    (loop $on
      (local.set $v (v128.load32_splat (local.get $x)))
      (v128.load (local.get $w)) (local.get $v) f32x4.mul (local.get $a) f32x4.add (local.set $a)
      (v128.load offset=16 (local.get $w)) (local.get $v) f32x4.mul (local.get $b) f32x4.add (local.set $b)
      (v128.load offset=32 (local.get $w)) (local.get $v) f32x4.mul (local.get $c) f32x4.add (local.set $c)
      (local.set $v (v128.load32_splat offset=4 (local.get $x)))
      (v128.load offset=48 (local.get $w)) (local.get $v) f32x4.mul (local.get $d) f32x4.add (local.set $d)
      (v128.load offset=64 (local.get $w)) (local.get $v) f32x4.mul (local.get $e) f32x4.add (local.set $e)
      (v128.load offset=80 (local.get $w)) (local.get $v) f32x4.mul (local.get $f) f32x4.add (local.set $f)
      (local.set $w (i32.add (local.get $w) (i32.const 96)))
      (local.set $x (i32.add (local.get $x) (i32.const 8)))
      (br_if $on (i32.lt_u (local.get $x) (local.get $end))))
    (v128.store (local.get $y) (f32x4.add (local.get $a) (local.get $d)))
    (v128.store offset=16 (local.get $y) (f32x4.add (local.get $b) (local.get $e)))
    (v128.store offset=32 (local.get $y) (f32x4.add (local.get $c) (local.get $f))))

  ;; Twelve numbers of two rows of y.
  (func $two_rows (param $x i32) (param $w i32) (param $y i32) (param $row i32) (param $line i32)
    (local $end i32) (local $p v128) (local $q v128) (local $r v128) (local $v v128)
    (local $a0 v128) (local $b0 v128) (local $c0 v128)
    (local $a1 v128) (local $b1 v128) (local $c1 v128)
    (local.set $end (i32.add (local.get $x) (local.get $row)))
    (loop $on
      (local.set $p (v128.load (local.get $w)))
      (local.set $q (v128.load offset=16 (local.get $w)))
      (local.set $r (v128.load offset=32 (local.get $w)))
      (local.set $v (v128.load32_splat (local.get $x)))
      (local.get $p) (local.get $v) f32x4.mul (local.get $a0) f32x4.add (local.set $a0)
      (local.get $q) (local.get $v) f32x4.mul (local.get $b0) f32x4.add (local.set $b0)
      (local.get $r) (local.get $v) f32x4.mul (local.get $c0) f32x4.add (local.set $c0)
      (local.set $v (v128.load32_splat (i32.add (local.get $x) (local.get $row))))
      (local.get $p) (local.get $v) f32x4.mul (local.get $a1) f32x4.add (local.set $a1)
      (local.get $q) (local.get $v) f32x4.mul (local.get $b1) f32x4.add (local.set $b1)
      (local.get $r) (local.get $v) f32x4.mul (local.get $c1) f32x4.add (local.set $c1)
      (local.set $w (i32.add (local.get $w) (i32.const 48)))
      (local.set $x (i32.add (local.get $x) (i32.const 4)))
      (br_if $on (i32.lt_u (local.get $x) (local.get $end))))
    (call $store (local.get $y) (local.get $a0) (local.get $b0) (local.get $c0))
    (call $store (i32.add (local.get $y) (local.get $line))
      (local.get $a1) (local.get $b1) (local.get $c1)))

  ;; Twelve numbers of four rows of y.
  (func $four_rows (param $x i32) (param $w i32) (param $y i32) (param $row i32) (param $line i32)
    (local $end i32) (local $x1 i32) (local $x2 i32) (local $x3 i32)
    (local $p v128) (local $q v128) (local $r v128) (local $v v128)
    (local $a0 v128) (local $b0 v128) (local $c0 v128)
    (local $a1 v128) (local $b1 v128) (local $c1 v128)
    (local $a2 v128) (local $b2 v128) (local $c2 v128)
    (local $a3 v128) (local $b3 v128) (local $c3 v128)
    (local.set $end (i32.add (local.get $x) (local.get $row)))
    (local.set $x1 (i32.add (local.get $x) (local.get $row)))
    (local.set $x2 (i32.add (local.get $x1) (local.get $row)))
    (local.set $x3 (i32.add (local.get $x2) (local.get $row)))
    (loop $on
      (local.set $p (v128.load (local.get $w)))
      (local.set $q (v128.load offset=16 (local.get $w)))
      (local.set $r (v128.load offset=32 (local.get $w)))
      (local.set $v (v128.load32_splat (local.get $x)))
      (local.get $p) (local.get $v) f32x4.mul (local.get $a0) f32x4.add (local.set $a0)
      (local.get $q) (local.get $v) f32x4.mul (local.get $b0) f32x4.add (local.set $b0)
      (local.get $r) (local.get $v) f32x4.mul (local.get $c0) f32x4.add (local.set $c0)
      (local.set $v (v128.load32_splat (local.get $x1)))
      (local.get $p) (local.get $v) f32x4.mul (local.get $a1) f32x4.add (local.set $a1)
      (local.get $q) (local.get $v) f32x4.mul (local.get $b1) f32x4.add (local.set $b1)
      (local.get $r) (local.get $v) f32x4.mul (local.get $c1) f32x4.add (local.set $c1)
      (local.set $v (v128.load32_splat (local.get $x2)))
      (local.get $p) (local.get $v) f32x4.mul (local.get $a2) f32x4.add (local.set $a2)
      (local.get $q) (local.get $v) f32x4.mul (local.get $b2) f32x4.add (local.set $b2)
      (local.get $r) (local.get $v) f32x4.mul (local.get $c2) f32x4.add (local.set $c2)
      (local.set $v (v128.load32_splat (local.get $x3)))
      (local.get $p) (local.get $v) f32x4.mul (local.get $a3) f32x4.add (local.set $a3)
      (local.get $q) (local.get $v) f32x4.mul (local.get $b3) f32x4.add (local.set $b3)
      (local.get $r) (local.get $v) f32x4.mul (local.get $c3) f32x4.add (local.set $c3)
      (local.set $w (i32.add (local.get $w) (i32.const 48)))
      (local.set $x (i32.add (local.get $x) (i32.const 4)))
      (local.set $x1 (i32.add (local.get $x1) (i32.const 4)))
      (local.set $x2 (i32.add (local.get $x2) (i32.const 4)))
      (local.set $x3 (i32.add (local.get $x3) (i32.const 4)))
      (br_if $on (i32.lt_u (local.get $x) (local.get $end))))
    (call $store (local.get $y) (local.get $a0) (local.get $b0) (local.get $c0))
    (local.set $y (i32.add (local.get $y) (local.get $line)))
    (call $store (local.get $y) (local.get $a1) (local.get $b1) (local.get $c1))
    (local.set $y (i32.add (local.get $y) (local.get $line)))
    (call $store (local.get $y) (local.get $a2) (local.get $b2) (local.get $c2))
    (local.set $y (i32.add (local.get $y) (local.get $line)))
    (call $store (local.get $y) (local.get $a3) (local.get $b3) (local.get $c3)))

  (func $store (param $y i32) (param $a v128) (param $b v128) (param $c v128)
    (v128.store (local.get $y) (local.get $a))
    (v128.store offset=16 (local.get $y) (local.get $b))
    (v128.store offset=32 (local.get $y) (local.get $c))))
