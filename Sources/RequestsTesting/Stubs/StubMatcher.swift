// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

/// What decides whether a stub is meant for a request.
///
/// The ready-made ones are the static members of ``StubCondition``. Write one of your own for a rule that several tests
/// share, and hand it over as ``StubCondition/custom(_:)``; for a rule of one test, ``StubCondition/where(_:_:)`` does.
///
/// A matcher doesn't just say no: it says why not, in a few words, such as `the header X-Version is 1, not 2`. That is
/// what the error of a request shows that no stub is meant for. Leave secrets out of it.
///
/// It is called from any thread, from several at once, and for every request that comes; it returns quickly.
public protocol StubMatcher: Sendable {
    /// Why the request isn't meant; nil where it is.
    func mismatch(for request: StubbedRequest) -> String?
}
