/* Roofs of this machine without numpy: loops of multiply-adds in registers, and streams over
   arrays. The kernels are those of STREAM and of likwid-bench by idea, written here.
   As a program it prints "name value" lines in FLOP/s and bytes/s: the best of REPEATS.
   As a library its functions return the best of so many repeats. */
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define REPEATS 12
#define STEPS 20000000L
#define CHAINS 10 /* more than latency times units, and few enough for 16 registers */
#if defined(__AVX512F__)
#define WIDTH 64
#elif defined(__AVX__)
#define WIDTH 32
#else
#define WIDTH 16
#endif

#define MULTIPLY_ADD(type, name)                                                        \
  double flops_##name = 2.0 * STEPS * CHAINS * (WIDTH / sizeof(type)); /* of a thread */ \
  double name(int threads, int repeats) {                                               \
    typedef type lanes __attribute__((vector_size(WIDTH)));                             \
    double best = 0;                                                                    \
    for (int repeat = 0; repeat < repeats; repeat++) {                                  \
      double start = omp_get_wtime();                                                   \
      _Pragma("omp parallel num_threads(threads)") {                                    \
        lanes sum[CHAINS], factor, summand;                                             \
        for (unsigned i = 0; i < WIDTH / sizeof(type); i++) {                           \
          factor[i] = (type)0.999;                                                      \
          summand[i] = (type)0.001;                                                     \
        }                                                                               \
        for (int c = 0; c < CHAINS; c++) sum[c] = factor * (type)c;                     \
        for (long step = 0; step < STEPS; step++)                                       \
          _Pragma("GCC unroll 10") for (int c = 0; c < CHAINS; c++) sum[c] =            \
              sum[c] * factor + summand;                                                \
        for (int c = 0; c < CHAINS; c++) __asm__ volatile("" : : "x"(sum[c]));          \
      }                                                                                 \
      double rate = flops_##name * threads / (omp_get_wtime() - start);                 \
      if (rate > best) best = rate;                                                     \
    }                                                                                   \
    return best;                                                                        \
  }
MULTIPLY_ADD(float, single)
MULTIPLY_ADD(double, twice)

#define STREAM(name, moved, body)                                                       \
  double name(float *a, float *b, long n, int threads, int repeats) {                   \
    double best = 0;                                                                    \
    for (int repeat = 0; repeat < repeats; repeat++) {                                  \
      double start = omp_get_wtime();                                                   \
      float kept = 0;                                                                   \
      (void)b;                                                                          \
      _Pragma("omp parallel for simd num_threads(threads) reduction(max : kept) schedule(static)") \
      for (long i = 0; i < n; i++) { body; }                                            \
      __asm__ volatile("" : : "x"(kept));                                               \
      double rate = (moved) * sizeof(float) * (double)n / (omp_get_wtime() - start);    \
      if (rate > best) best = rate;                                                     \
    }                                                                                   \
    return best;                                                                        \
  }
STREAM(load, 1, kept = a[i] > kept ? a[i] : kept)
STREAM(update, 2, a[i] = -a[i])
STREAM(scale, 2, b[i] = -a[i])

int main(int count, char **words) {
  int threads = count > 1 ? atoi(words[1]) : 1;
  long n = (count > 2 ? atol(words[2]) : 1L << 30) / (long)sizeof(float) / 2;
  float *a = aligned_alloc(64, n * sizeof(float)), *b = aligned_alloc(64, n * sizeof(float));
  if (!a || !b) return 1;
#pragma omp parallel for num_threads(threads) schedule(static)
  for (long i = 0; i < n; i++) a[i] = b[i] = (float)(i % 1000) * 0.001f;
  printf("peak_fp32 %g\npeak_fp64 %g\n", single(threads, REPEATS), twice(threads, REPEATS));
  printf("read %g\nupdate %g\n", load(a, b, n, threads, REPEATS),
         update(a, b, n, threads, REPEATS));
  printf("scale %g\n", scale(a, b, n, threads, REPEATS));
  return 0;
}
