// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

#ifndef CCOUNTING_H
#define CCOUNTING_H

/// Counts, from zero, the blocks of memory that the whole process asks for.
void ccounting_start_allocations(void);

/// Stops counting, and returns the count; -1 where nothing can be counted.
long ccounting_stop_allocations(void);

/// Counts, from zero, the mutexes that the code of the program itself locks: not those of the libraries that it loads.
void ccounting_start_locks(void);

/// Stops counting, and returns the count; -1 where nothing can be counted.
long ccounting_stop_locks(void);

#endif
