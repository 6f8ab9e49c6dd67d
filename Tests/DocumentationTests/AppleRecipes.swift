// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

// Scripts/apple-check compiles this file on Linux.
#if canImport(AVFoundation) && canImport(WebKit) && !os(Linux)
import AVFoundation
import Foundation
import Requests
import Security
import WebKit

// MARK: BackgroundTransfers

final class BackgroundTransfers: NSObject, URLSessionDownloadDelegate {
    private let client: HTTPClient
    private let folder: URL

    init(client: HTTPClient, folder: URL) {
        (self.client, self.folder) = (client, folder)
    }

    /// Creates the session. Call this at each launch, so that earlier transfers find their delegate.
    func makeSession() -> URLSession {
        let configuration = URLSessionConfiguration.background(withIdentifier: "com.example.films")
        return URLSession(configuration: configuration, delegate: self, delegateQueue: nil)
    }

    func upload(_ film: URL, in session: URLSession) async throws {
        let (request, content) = try await client.urlRequest(
            for: Put<Void>("films/7").body(.file(film)),
            writingBodyTo: folder
        )
        let task = session.uploadTask(with: request, fromFile: content)
        task.taskDescription = content.lastPathComponent
        task.resume()
    }

    func download(in session: URLSession) async throws {
        let request = try await client.urlRequest(for: Get<Data>("films/7"))
        session.downloadTask(with: request).resume()
    }

    func urlSession(_ session: URLSession, downloadTask: URLSessionDownloadTask, didFinishDownloadingTo location: URL) {
        // A 404 arrives here too, because only the client validates the status.
        guard (downloadTask.response as? HTTPURLResponse)?.statusCode == 200 else { return }
        try? FileManager.default.moveItem(at: location, to: folder.appendingPathComponent("film.mov"))
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        // An update may move the app's folder.
        guard let content = task.taskDescription else { return }
        try? FileManager.default.removeItem(at: folder.appendingPathComponent(content))
    }
}

@MainActor func playerItem(for client: HTTPClient) async throws -> AVPlayerItem {
    let request = try await client.urlRequest(for: Get<Data>("films/7"))
    guard let url = request.url else { throw URLError(.badURL) }
    let fields = ["AVURLAssetHTTPHeaderFieldsKey": request.allHTTPHeaderFields ?? [:]]
    return AVPlayerItem(asset: AVURLAsset(url: url, options: fields))
}

@MainActor func open(_ page: String, of client: HTTPClient, in view: WKWebView) async throws {
    view.load(try await client.urlRequest(for: Get<Data>("pages/\(page)")))
}

// MARK: ValidatingAndRetrying

struct Token: Codable, Sendable {
    let access: String
    let refresh: String
}

struct TokenKeychain: Sendable {
    private var query: [CFString: Any] {
        [kSecClass: kSecClassGenericPassword, kSecAttrService: "com.example.kitchen"]
    }

    func load() -> Token? {
        var item: CFTypeRef?
        let query = query.merging([kSecReturnData: true]) { $1 }
        guard SecItemCopyMatching(query as CFDictionary, &item) == errSecSuccess, let data = item as? Data else {
            return nil
        }
        return try? JSONDecoder().decode(Token.self, from: data)
    }

    func save(_ token: Token?) {
        guard let token, let data = try? JSONEncoder().encode(token) else {
            SecItemDelete(query as CFDictionary)
            return
        }
        let values: [CFString: Any] = [
            kSecValueData: data, kSecAttrAccessible: kSecAttrAccessibleAfterFirstUnlock,
        ]
        let status = SecItemUpdate(query as CFDictionary, values as CFDictionary)
        if status == errSecItemNotFound { SecItemAdd(query.merging(values) { $1 } as CFDictionary, nil) }
    }
}
#endif
