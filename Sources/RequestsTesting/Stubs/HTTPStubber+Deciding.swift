// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Requests

extension HTTPStubber {
    /// What becomes of a request.
    enum Decision: Sendable {
        case answer(StubbedRequest, StubUsage.Responder)
        case refuse(UnhandledRequest)
        case passThrough
    }

    /// Finds who answers a request, and writes it down.
    ///
    /// Conditions are code of the test's and run outside the lock. Two requests may so find the same stub that answers
    /// once; which of them has it is decided when the stub is claimed.
    func decide(_ request: StubbedRequest) -> Decision {
        let (stubs, ignored, mode) = state.withLock { state in
            state.requests.append(request)
            return (state.stubs, state.ignored, state.unhandledMode)
        }
        if ignored.contains(where: { $0.conditions.judge(request).mismatches.isEmpty }) { return .passThrough }
        var candidates: [UnhandledRequest.Candidate] = []
        for stub in stubs {
            let (variables, found) = stub.conditions.judge(request)
            var mismatches = found
            if mismatches.isEmpty {
                var claimed = request
                claimed.variables = variables
                switch stub.claim(claimed) {
                case .answer(let responder): return .answer(claimed, responder)
                case .unanswered: mismatches = ["nobody has said what it answers"]
                case .spent: mismatches = ["it has answered as often as it may"]
                }
            }
            candidates.append(UnhandledRequest.Candidate(stub: stub.description, mismatches: mismatches))
        }
        guard mode == .refuse else { return .passThrough }
        let error = UnhandledRequest(request, candidates: candidates)
        state.withLock { $0.unhandled.append(error) }
        return .refuse(error)
    }
}
