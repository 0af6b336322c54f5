/* The yardstick of pairs.py: add one to the cells of a single row, named by a list that, like the row, stays in the
 * first-level cache. No row ends, no list does: what counting pairs cell by cell could reach at best. */
#include <stdint.h>

void increment(const uint16_t *cells, long n, long times, int32_t *row) {
    for (long t = 0; t < times; t++)
        for (long i = 0; i < n; i++) row[cells[i]]++;
}
