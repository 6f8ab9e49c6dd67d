// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

#ifndef CALLOCATIONS_H
#define CALLOCATIONS_H

/// Counts, from zero, the blocks of memory that the whole process asks for.
void callocations_start(void);

/// Stops counting, and gives the count; -1 where nothing can be counted.
long callocations_stop(void);

#endif
