// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests
import RequestsTesting
import Testing

struct Menu: Decodable {
    struct Dish: Decodable { let name: String }

    let dishes: [Dish]
}

@MainActor  // in an app, also @Observable
final class MenuModel {
    enum State: Equatable {
        case idle, loading
        case loaded([String])
        case failed(String)
    }

    private(set) var state = State.idle
    private let client: HTTPClient

    init(client: HTTPClient) { self.client = client }

    func load() async {
        state = .loading
        do {
            state = .loaded(try await client.fetch(Get<Menu>("menu")).dishes.map(\.name))
        } catch {
            state = error.code == .cancelled ? .idle : .failed(error.shortDescription)
        }
    }
}

@MainActor struct MenuModelTests {
    let stubber = HTTPStubber()
    let model: MenuModel

    init() {
        model = MenuModel(client: HTTPClient(baseURL: URL(string: "https://api.example.com"), transport: stubber))
    }

    @Test func showsThatItLoadsAndThenTheDishes() async throws {
        let (gate, dish) = (Gate(), "Soup")
        let menu = StubResponse.json(["dishes": [["name": .value(dish), "price": 7]], "note": nil])
        stubber.stub(.get, "/menu").respond(with: menu.held(by: gate))
        async let loading: Void = model.load()
        try await stubber.awaitRequest()  // it has arrived, but has no response yet
        #expect(model.state == .loading)
        gate.open()
        await loading
        #expect(model.state == .loaded(["Soup"]))
    }

    @Test func showsAFailure() async {
        stubber.stub(.get, "/menu").respond(with: .offline)
        await model.load()
        #expect(model.state == .failed("offline"))
    }

    @Test func isIdleAfterACancel() async throws {
        stubber.stub(.get, "/menu").respond(with: .never)
        let task = Task { await model.load() }
        try await stubber.awaitRequest()
        task.cancel()
        await task.value
        #expect(model.state == .idle)
    }
}
