// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests

extension MockServer {
    /// A handler that serves the files of a folder, as a plain web server does.
    ///
    /// ```swift
    /// let server = try MockServer(MockServer.folder(fixtures))
    /// ```
    ///
    /// `GET` and `HEAD` are answered; `Content-Type` follows the name. `ETag` and `Last-Modified` come with each file,
    /// and the preconditions of RFC 9110, 13 are judged by them; one range of bytes is given where it is asked for,
    /// under `If-Range` too. A folder is its `index.html`, or else a list of what is in it.
    ///
    /// Nothing outside the folder is ever served, whatever the path says and wherever links lead to; nor is what isn't a
    /// plain file, or whose name, or that of a folder on the way, begins with a dot, asked for by that name or by a link. The folder is looked at for every request.
    ///
    /// - Parameter url: The folder, a file URL.
    /// - Returns: The handler, for a server or for one of its routes.
    public static func folder(_ url: URL) -> Handler {
        let folder = ServedFolder(root: url.path)
        return { request in folder.answer(to: request) }
    }
}

extension ServedFolder {
    /// The answer to a request, which is for a file, for a folder, or for neither.
    func answer(to request: RecordedRequest) -> MockResponse {
        guard request.method == .get || request.method == .head else {
            return .text("only GET and HEAD\n", status: .methodNotAllowed, headers: [.allow: "GET, HEAD"])
        }
        switch find(request.target) {
        case .file(let path):
            guard let file = ServedFile(path: path) else { return Self.notFound }
            return file.answer(to: request)
        case .folder(let names, let title):
            return .data(Data(FolderListing(title: title, names: names).html.utf8), type: "text/html; charset=utf-8")
        case .moved(let target):
            return .redirect(to: target, status: .movedPermanently)
        case .malformed:
            return .text("the path is malformed\n", status: .badRequest)
        case .nothing:
            return Self.notFound
        }
    }

    private static var notFound: MockResponse { .text("there is no such file\n", status: .notFound) }
}
