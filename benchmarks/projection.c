/* The yardstick of projection.py: the sums alone, no winners, in C with explicit vectors as wide as the machine's.
 * A block of 64 rows lies feature by feature, (d, 64); connections is (m, s); sums is (m, 64). */
#include <stdint.h>

#ifdef __AVX512F__
#define WIDTH 64
#else
#define WIDTH 32
#endif
#define ROWS 64
#define PROJECT(name, type)                                                                                  \
    typedef type name##_vector __attribute__((vector_size(WIDTH)));                                          \
    void name(const type *block, const uint16_t *connections, long m, long s, type *sums) {                  \
        enum { VECTORS = ROWS * sizeof(type) / WIDTH };                                                      \
        for (long j = 0; j < m; j++) {                                                                       \
            name##_vector total[VECTORS] = {{0}};                                                            \
            for (long k = 0; k < s; k++) {                                                                   \
                const name##_vector *x = (const name##_vector *)(block + (long)connections[j * s + k] * ROWS); \
                for (int v = 0; v < VECTORS; v++) total[v] += x[v];                                          \
            }                                                                                                \
            for (int v = 0; v < VECTORS; v++) ((name##_vector *)(sums + j * ROWS))[v] = total[v];            \
        }                                                                                                    \
    }

PROJECT(project_float32, float)
PROJECT(project_uint8, uint16_t)
