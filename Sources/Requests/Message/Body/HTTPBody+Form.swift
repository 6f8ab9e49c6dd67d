// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

extension HTTPBody {
    /// The fields of a form, as a browser sends them: `application/x-www-form-urlencoded`.
    ///
    /// ```swift
    /// request.body = .form(["name": "Pancakes", "eggs": 2])      // name=Pancakes&eggs=2
    /// ```
    public static func form(_ fields: Query) -> HTTPBody {
        HTTPBody(headers: formHeaders, source: fields) { .data(fields.formEncoded) }
    }

    /// A value as the fields of a form.
    ///
    /// - Parameters:
    ///   - value: What to encode; its top level has to have names.
    ///   - encoder: How arrays, dates and the like are written. What it throws is the error of the request.
    /// - Returns: The body.
    public static func form(_ value: some Encodable & Sendable, encoder: QueryEncoder = QueryEncoder()) -> HTTPBody {
        HTTPBody(headers: formHeaders, source: value) { .data(try encoder.encode(value).formEncoded) }
    }

    private static let formHeaders: HTTPHeaders = [.contentType: MediaType.urlEncodedForm.rawValue]
}
