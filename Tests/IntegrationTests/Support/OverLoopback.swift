// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import RequestsTestSupport
import Testing

/// The suites whose tests use the loopback interface.
///
/// The tests run in parallel, a few at a time: each has its own servers, queues and sessions. A test that measures the
/// whole process has the tag `alone`.
@Suite(.bounded) enum OverLoopback {}
