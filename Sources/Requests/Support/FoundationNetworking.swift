// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

// On Linux, URLRequest and URLSession are in a separate module. The re-export lets code import only Foundation and
// Requests on every platform.
#if canImport(FoundationNetworking)
@_exported import FoundationNetworking
#endif
