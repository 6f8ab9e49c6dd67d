// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import TestSupport
import Testing

/// The suites whose tests run over the loopback.
///
/// The tests run beside each other, a few at a time: each has servers, queues and sessions of its own. A test that
/// measures the whole process is tagged as `alone`.
@Suite(.bounded) enum OverLoopback {}
