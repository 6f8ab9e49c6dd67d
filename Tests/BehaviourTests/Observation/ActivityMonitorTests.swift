// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Dispatch
import Requests
import RequestsTestSupport
import Testing

@Suite(.bounded) struct ActivityMonitorTests {
    @Test func firstAndLastOperationAreReported() {
        let changes = Recorder<Bool>()
        let monitor = ActivityMonitor { changes.record($0) }
        let operations = (1...3).map { SampleOperation($0, monitor: monitor) }

        for operation in operations { operation.make() }
        #expect(monitor.count == 3 && changes.elements == [true])
        for operation in operations { operation.end(.cancelled) }

        #expect(monitor.count == 0 && changes.elements == [true, false])
    }

    @Test func operationsCreatedBeforeMonitorAreIgnored() {
        let changes = Recorder<Bool>()
        let monitor = ActivityMonitor { changes.record($0) }

        SampleOperation(1, monitor: monitor).end()
        #expect(monitor.count == 0)
        SampleOperation(2, monitor: monitor).make()

        #expect(monitor.count == 1 && changes.elements == [true])
    }

    @Test func closureCanChangeActivity() {
        let changes = Recorder<Bool>()
        let follower = Locked<ActivityMonitor?>(nil)
        let monitor = ActivityMonitor { isActive in
            changes.record(isActive)
            guard !isActive, changes.count == 2, let monitor = follower.withLock({ $0 }) else { return }
            SampleOperation(2, monitor: monitor).make()
        }
        follower.withLock { $0 = monitor }

        SampleOperation(1, monitor: monitor).make()
        SampleOperation(1, monitor: monitor).end()
        follower.withLock { $0 = nil }

        #expect(changes.elements == [true, false, true] && monitor.count == 1)
    }

    @Test func changeRevertedDuringReportIsSkipped() {
        let changes = Recorder<Bool>()
        let follower = Locked<ActivityMonitor?>(nil)
        let monitor = ActivityMonitor { isActive in
            changes.record(isActive)
            guard changes.count == 1, let monitor = follower.withLock({ $0 }) else { return }
            SampleOperation(1, monitor: monitor).end()
            SampleOperation(2, monitor: monitor).make()
        }
        follower.withLock { $0 = monitor }

        SampleOperation(1, monitor: monitor).make()
        follower.withLock { $0 = nil }

        #expect(changes.elements == [true] && monitor.count == 1)
    }

    @Test func concurrentChangesAlternateAndBalance() {
        let changes = Recorder<Bool>()
        let monitor = ActivityMonitor { changes.record($0) }

        DispatchQueue.concurrentPerform(iterations: Scale.pick(200, whole: 2000)) { index in
            SampleOperation(UInt64(index), monitor: monitor).make()
            SampleOperation(UInt64(index), monitor: monitor).end()
        }

        #expect(monitor.count == 0)
        #expect(changes.elements == (0..<changes.count).map { $0.isMultiple(of: 2) })
        #expect(changes.elements.last == false)
    }
}
