// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

extension MultipartForm {
    /// One part: a body, with the name of its field, and of its file where it is one.
    public struct Part: Sendable {
        /// The content; the fields that it implies stand in the header of the part.
        public var body: HTTPBody
        /// The name of the field, which every part of a form has; others, such as those of `multipart/mixed`, need
        /// none.
        public var name: String?
        /// What the receiver may call the file; nil where the part is none.
        public var fileName: String?
        /// More fields of the header; they go before those that the body implies.
        public var headers: HTTPHeaders

        /// Makes a part.
        ///
        /// - Parameters:
        ///   - body: The content, which brings its type.
        ///   - name: The name of the field; none by default.
        ///   - fileName: What the receiver may call the file; by default the last component of a file's path, and none
        ///     for other bodies.
        ///   - headers: More fields of the header; none by default.
        public init(_ body: HTTPBody, name: String? = nil, fileName: String? = nil, headers: HTTPHeaders = []) {
            self.body = body
            self.name = name
            self.headers = headers
            if fileName == nil, case .file(let url) = body.content {
                self.fileName = url.lastPathComponent
            } else {
                self.fileName = fileName
            }
        }
    }
}

extension MultipartForm.Part {
    /// The header as it is sent, up to the empty line.
    ///
    /// - Throws: ``InvalidRequest`` where a piece of it would not stay in its place.
    func header(isFormData: Bool) throws(InvalidRequest) -> String {
        var fields: HTTPHeaders = []
        if let disposition = try disposition(isFormData: isFormData) {
            fields.add(disposition, for: .contentDisposition)
        }
        fields.merge(body.headers)
        fields.merge(headers)
        fields.merge(body.mandatoryHeaders)
        var lines = ""
        for field in fields {
            guard field.name.rawValue.isToken else {
                throw InvalidRequest(.headerName, "of a part isn't a token", excerpt: field.name.rawValue)
            }
            guard field.hasValidValue else {
                throw InvalidRequest(.headerValue, "of \(field.name) of a part has a control character")
            }
            lines += "\(field.name.rawValue): \(field.value)\r\n"
        }
        return lines + "\r\n"
    }

    private func disposition(isFormData: Bool) throws(InvalidRequest) -> String? {
        guard name != nil || !isFormData || headers.contains(.contentDisposition) else {
            throw InvalidRequest(.partName, "is missing")
        }
        guard name != nil || fileName != nil else { return nil }
        var value = name == nil ? "attachment" : "form-data"
        if let name { value += "; name=\"\(try name.escapedForDisposition(.partName))\"" }
        if let fileName { value += "; filename=\"\(try fileName.escapedForDisposition(.fileName))\"" }
        return value
    }
}

extension String {
    /// The name of a field or a file as browsers send it: in UTF-8, with what would end it escaped by percent signs
    /// (WHATWG HTML, 4.10.21.8).
    ///
    /// - Throws: ``InvalidRequest`` where there is a control character for which there is no escape.
    fileprivate func escapedForDisposition(_ piece: InvalidRequest.Piece) throws(InvalidRequest) -> String {
        var escaped: [UInt8] = []
        escaped.reserveCapacity(utf8.count)
        for byte in utf8 {
            switch byte {
            case UInt8(ascii: "\""): escaped += "%22".utf8
            case UInt8(ascii: "\r"): escaped += "%0D".utf8
            case UInt8(ascii: "\n"): escaped += "%0A".utf8
            case _ where ASCII.isFieldValue(byte): escaped.append(byte)
            default: throw InvalidRequest(piece, "has a control character", excerpt: self)
            }
        }
        return String(decoding: escaped, as: UTF8.self)
    }
}
