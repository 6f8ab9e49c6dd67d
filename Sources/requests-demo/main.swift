// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Requests
