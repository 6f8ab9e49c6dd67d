// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests
import RequestsTestSupport
import RequestsTesting
import Testing

/// Recipe: upload photos into a new album, three at a time, show the progress, and publish the album afterwards.
@Suite(.bounded) final class PhotoUploadTests {
    struct Album: Decodable, Sendable {
        let id: Int
    }

    struct Photo: Decodable, Sendable {
        let name: String
    }

    /// The type that an application would have.
    struct Gallery: Sendable {
        let client: HTTPClient

        init(api: URL) {
            client = HTTPClient(baseURL: api, maxConcurrentRequests: 3) {
                $0.retry = RetryPolicy(limit: 2, backoff: .none, methods: [.put])
            }
        }

        /// Uploads photos, and publishes the album when all of them are there.
        func upload(_ photos: [URL], to title: String) async throws -> (album: Album, photos: [Photo]) {
            let album = client.addRequest(Post<Album>("albums").body(.json(["title": title])))
            // Made when the album is known, and run when there is room.
            let uploads = photos.map { photo in
                client.addRequest(after: album) { album in
                    Put<Photo>("albums", "\(album.id)", "photos", photo.lastPathComponent).body(
                        .multipart { form in
                            form.add(photo.deletingPathExtension().lastPathComponent, for: "caption")
                            form.add(.file(photo), for: "photo")
                        }
                    )
                }
            }
            var uploaded: [Photo] = []
            for upload in uploads { uploaded.append(try await upload.value()) }
            let published = try await album.value()
            try await client.fetch(Post<Void>("albums", "\(published.id)", "publication"))
            return (published, uploaded)
        }
    }

    private let folder = FileManager.default.temporaryDirectory.appending(path: "Photos.\(UUID())")

    deinit {
        try? FileManager.default.removeItem(at: folder)
    }

    @Test func photosAreUploadedAndAlbumIsPublished() async throws {
        let server = try MockServer { request in
            switch (request.method, request.path) {
            case (.post, "/albums"): .json(#"{"id": 4}"#)
            case (.put, let path): .json(#"{"name": "\#(path.split(separator: "/").last ?? "")"}"#)
            default: .noContent
            }
        }
        let photos = try (1...8).map { try photo($0, bytes: 200_000) }
        let gallery = Gallery(api: server.url)

        let (album, uploaded) = try await gallery.upload(photos, to: "Summer")

        #expect(album.id == 4)
        #expect(uploaded.map(\.name) == photos.map(\.lastPathComponent))
        #expect(server.requests.first?.path == "/albums")
        #expect(server.requests.last?.path == "/albums/4/publication")
        let sent = server.requests.filter { $0.method == .put }
        #expect(sent.count == 8)
        #expect(sent.allSatisfy { $0.body.count > 200_000 && $0.headers[.contentLength] == "\($0.body.count)" })
    }

    @Test func photoUploadIsRetriedIfServerIsBusy() async throws {
        let server = try MockServer { request in
            request.path == "/albums" ? .json(#"{"id": 4}"#) : .json(#"{"name": "1.jpg"}"#)
        }
        server.enqueue(.json(#"{"id": 4}"#), .status(.serviceUnavailable))
        let gallery = Gallery(api: server.url)

        _ = try await gallery.upload([photo(1, bytes: 50_000)], to: "Winter")

        let bodies = server.requests.filter { $0.method == .put }.map(\.body)
        #expect(bodies.count == 2)
        #expect(Set(bodies).count == 1)
    }

    @Test func progressCoversWholeForm() async throws {
        let server = try MockServer { _ in .noContent }
        let client = HTTPClient(baseURL: server.url)
        let photo = try photo(1, bytes: 1_000_000)
        let form = HTTPBody.multipart { $0.add(.file(photo), for: "photo") }

        let upload = client.addRequest(Post<Void>("photos").body(form))
        var last: TransferProgress?
        for await progress in upload.progressUpdates(.upload) { last = progress }

        let sent = try #require(server.requests.first).body.count
        #expect(last == TransferProgress(completed: Int64(sent), total: Int64(sent)))
    }

    private func photo(_ number: Int, bytes: Int) throws -> URL {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let file = folder.appending(path: "\(number).jpg")
        try Data(repeating: UInt8(truncatingIfNeeded: number), count: bytes).write(to: file)
        return file
    }
}
