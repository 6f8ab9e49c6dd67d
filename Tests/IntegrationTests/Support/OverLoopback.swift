// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Testing

/// All suites of this target, whose tests run one after the other.
///
/// On Linux every `URLSession` of a process shares one serial queue, and each transport one more. Hundreds of tests at
/// once would measure how long they wait for each other there.
@Suite(.serialized, .timeLimit(.minutes(5))) enum OverLoopback {}
