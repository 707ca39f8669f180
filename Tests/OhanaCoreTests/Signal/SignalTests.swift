import Dispatch
import OhanaCore
import Synchronization
import Testing

/// An owner that writes down what it is told.
private final class Listener: Sendable {
  let name: String
  let heard = Mutex<[String]>([])
  init(_ name: String = "") { self.name = name }
  func hear(_ text: String) { heard.withLock { $0.append(name + text) } }
  var all: [String] { heard.withLock { $0 } }
}

@Suite("Signals") struct SignalTests {
  private let log = Listener()

  @Test("S-01 S-02 S-07: any payload, nothing, and optional ones") func payloads() {
    let nothing = Signal<Void>()
    nothing.observe(log) { owner, _ in owner.hear("void") }
    nothing.fire()
    let optional = Signal<String?>()
    optional.observe(log) { owner, text in owner.hear(text ?? "nil") }
    optional.fire(nil)
    optional.fire("a")
    #expect(log.all == ["void", "nil", "a"])
  }

  @Test("S-03 S-06 SIG: callbacks run in the order of registration, and are given their owners") func order() {
    let signal = Signal<Int>()
    let owners = ["a", "b", "c"].map { Listener($0) }
    for owner in owners { signal.observe(owner) { [log] owner, number in log.hear("\(owner.name)\(number)") } }
    signal.fire(1)
    signal.fire(2)
    #expect(log.all == ["a1", "b1", "c1", "a2", "b2", "c2"])
    withExtendedLifetime(owners) {}
  }

  @Test("S-06 SIG: an observer added by a fire is not called in it: two fires, three calls") func addingInFire() {
    let signal = Signal<Int>()
    let added = Mutex(false)
    signal.observe(log) { owner, _ in
      owner.hear("first")
      if added.withLock({ was in
        defer { was = true }; return was
      }) {
        return
      }
      signal.observe(owner) { owner, _ in owner.hear("second") }
    }
    signal.fire(1)
    signal.fire(2)
    #expect(log.all == ["first", "first", "second"])
  }

  @Test("S-06 SIG: of two observers the first cancels itself or the other: both run") func cancellingInFire() {
    let signal = Signal<Int>()
    let tokens = Mutex<[SignalObservation]>([])
    let first = signal.observe(log) { owner, _ in
      owner.hear("first")
      for token in tokens.withLock({ $0 }) { token.cancel() }
    }
    let second = signal.observe(log) { owner, _ in owner.hear("second") }
    tokens.withLock { $0 = [first!, second!] }
    signal.fire(1)
    signal.fire(2)
    #expect(log.all == ["first", "second"])
    #expect(signal.observerCount == 0)
  }

  @Test("S-08: one observer alone can be told, and what it is told is remembered") func firesToOne() {
    let signal = Signal<Int>(replays: true)
    signal.observe(log) { owner, number in owner.hear("a\(number)") }
    let second = signal.observe(log) { owner, number in owner.hear("b\(number)") }!
    signal.fire(7, to: second)
    #expect(log.all == ["b7"])
    #expect(signal.replayLast())
    #expect(log.all == ["b7", "a7", "b7"])
    second.cancel()
    signal.fire(8, to: second)
    #expect(log.all.count == 3)
  }

  @Test("S-09 SIG: a replay before any fire does nothing and says so; only signals that replay remember") func replays() {
    let signal = Signal<Int>(replays: true)
    let token = signal.observe(log) { owner, number in owner.hear("\(number)") }!
    #expect(!signal.replayLast())
    #expect(!signal.replayLast(to: token))
    signal.fire(1)
    #expect(signal.replayLast(to: token))
    #expect(log.all == ["1", "1"])
    let forgetful = Signal<Listener>()
    weak var payload: Listener?
    do {
      let held = Listener()
      payload = held
      forgetful.fire(held)
    }
    #expect(payload == nil)
    #expect(!forgetful.replayLast())
  }

  @Test("S-10 SIG: once behind a plain fire: two calls of three; once and a replay: one") func once() {
    let signal = Signal<Int>(replays: true)
    let token = signal.observe(log) { owner, number in owner.hear("\(number)") }!
    signal.fire(1)
    token.cancelAfterNextFire()
    signal.fire(2)
    signal.fire(3)
    #expect(log.all == ["1", "2"])
    signal.observe(log, once: true) { owner, number in owner.hear("once\(number)") }
    signal.replayLast()
    signal.fire(4)
    #expect(log.all == ["1", "2", "once3"])
    #expect(signal.observerCount == 0)
  }

  @Test("S-10: a once-observer is gone before its callback runs, so that one fired from there does not reach it") func onceIsReentrant() {
    let signal = Signal<Int>()
    signal.observe(log, once: true) { owner, number in
      owner.hear("\(number)")
      if number < 5 { signal.fire(number + 1) }
    }
    signal.fire(1)
    #expect(log.all == ["1"])
  }

  @Test("S-11 S-12 S-15 SIG: the hook sees the same token on cancel, removal, removal of all, the end of once and an owner's death")
  func removedHook() {
    let removed = Mutex<[SignalObservation]>([])
    let added = Mutex<[SignalObservation]>([])
    let signal = Signal<Int>(
      onAdded: { token in added.withLock { $0.append(token) } }, onRemoved: { token in removed.withLock { $0.append(token) } })
    func observe(_ owner: Listener, once: Bool = false) -> SignalObservation { signal.observe(owner, once: once) { _, _ in }! }
    var expected: [SignalObservation] = []
    let cancelled = observe(log)
    cancelled.cancel()
    cancelled.cancel()
    expected.append(cancelled)
    let other = Listener()
    let ofOwner = [observe(log), observe(log)]
    let remaining = observe(other)
    signal.removeObserver(log)
    expected += ofOwner
    #expect(signal.observerCount == 1)
    signal.removeAllObservers()
    expected.append(remaining)
    expected.append(observe(log, once: true))
    signal.fire(1)
    do {
      let mortal = Listener()
      expected.append(observe(mortal))
    }
    #expect(signal.observerCount == 0)
    signal.fire(2)
    #expect(removed.withLock { $0 } == expected)
    #expect(added.withLock { $0 }.count == expected.count)
  }

  @Test("S-15: hooks run outside the lock: they may use the signal") func hooksMayUseTheSignal() {
    let box = Mutex<Signal<Int>?>(nil)
    let signal = Signal<Int>(
      onAdded: { _ in _ = box.withLock { $0 }?.observerCount }, onRemoved: { _ in box.withLock { $0 }?.removeAllObservers() })
    box.withLock { $0 = signal }
    signal.observe(log) { _, _ in }?.cancel()
    #expect(signal.observerCount == 0)
    box.withLock { $0 = nil }
  }

  /// What is let go of by a signal ends an observation of the same signal.
  private final class Bag: Sendable {
    let token = Locked<SignalObservation?>(nil)
    deinit { token.value?.cancel() }
  }
  /// What is let go of by a signal asks the same signal.
  private final class Curious: Sendable {
    let signal: Signal<Curious?>
    init(_ signal: Signal<Curious?>) { self.signal = signal }
    deinit { _ = signal.observerCount }
  }

  @Test("S-15 S-16 S-17: what ends with an observer, its owner or a payload may use the signal: nothing of a caller's ends under the lock")
  func endsMayUseTheSignal() {
    final class Owner: Sendable {}
    /// Someone observes, whose callback holds something that ends another observation with its own life.
    @Sendable func observe(_ signal: Signal<Int>, _ other: Owner, _ owner: Owner) -> SignalObservation {
      let bag = Bag()
      bag.token.value = signal.observe(other) { _, _ in }
      return signal.observe(owner) { _, _ in withExtendedLifetime(bag) {} }!
    }
    let ways: [@Sendable () -> Int] = [
      {
        let (signal, other, owner) = (Signal<Int>(), Owner(), Owner())
        _ = observe(signal, other, owner)
        signal.removeObserver(owner)
        return signal.observerCount
      },
      {
        let (signal, other, owner) = (Signal<Int>(), Owner(), Owner())
        observe(signal, other, owner).cancel()
        return withExtendedLifetime((other, owner)) { signal.observerCount }
      },
      {
        let (signal, other, owner) = (Signal<Int>(), Owner(), Owner())
        _ = observe(signal, other, owner)
        signal.removeAllObservers()
        return withExtendedLifetime((other, owner)) { signal.observerCount }
      },
      {
        let (signal, other) = (Signal<Int>(), Owner())
        _ = observe(signal, other, Owner())
        signal.fire(1)
        return withExtendedLifetime(other) { signal.observerCount }
      },
      {
        let signal = Signal<Curious?>(replays: true)
        signal.fire(Curious(signal))
        signal.fire(nil)
        return signal.observerCount
      },
      {
        // Owners whose last reference is another thread's, at the moment when a fire looks at them.
        let signal = Signal<Int>()
        DispatchQueue.concurrentPerform(iterations: 2) { thread in
          for _ in 0..<20_000 {
            if thread == 0 {
              signal.fire(1)
            } else {
              let bag = Bag()
              bag.token.value = signal.observe(bag) { _, _ in }
            }
          }
        }
        return signal.observerCount
      },
    ]
    for (number, way) in ways.enumerated() {
      let left = Locked<Int?>(nil)
      let ended = DispatchSemaphore(value: 0)
      DispatchQueue(label: "ends").async {
        left.value = way()
        ended.signal()
      }
      #expect(ended.wait(timeout: .now() + 120) == .success, "\(number) hangs")
      #expect(left.value == 0, "\(number)")
    }
  }

  @Test("S-13 SIG: limit two, the third add is refused, with one complaint; a limit below the count is refused") func limit() {
    let complaints = Mutex(0)
    let signal = Signal<Int>("s", replays: false, maxObservers: 2) { _ in complaints.withLock { $0 += 1 } }
    #expect(signal.observe(log) { _, _ in } != nil)
    #expect(signal.observe(log) { owner, _ in owner.hear("b") } != nil)
    #expect(signal.observe(log) { _, _ in } == nil)
    #expect(signal.observe(log) { _, _ in } == nil)
    #expect(complaints.withLock { $0 } == 1)
    #expect(!signal.setMaxObservers(1))
    #expect(signal.maxObservers == 2)
    #expect(signal.setMaxObservers(3))
    #expect(signal.observe(log) { _, _ in } != nil)
    signal.fire(1)
    #expect(log.all == ["b"])
    #expect(Signal<Int>().maxObservers == 100)
  }

  #if DEBUG
    @Test("S-13: in debug builds an observer too many traps") func limitTraps() async {
      await #expect(processExitsWith: .failure) {
        let owner = Listener()
        let signal = Signal<Int>(maxObservers: 1)
        signal.observe(owner) { _, _ in }
        signal.observe(owner) { _, _ in }
      }
    }
  #endif

  @Test("S-16: an owner lives through its callback and no longer") func lifetime() {
    let signal = Signal<Int>()
    weak var seen: Listener?
    let ran = Mutex(false)
    let box = Mutex<Listener?>(Listener("x"))
    seen = box.withLock { $0 }
    signal.observe(box.withLock { $0! }) { owner, _ in
      box.withLock { $0 = nil }
      ran.withLock { $0 = owner.name == "x" }
    }
    signal.fire(1)
    #expect(ran.withLock { $0 })
    #expect(seen == nil)
    #expect(signal.observerCount == 0)
  }

  @Test("S-04 S-05 SIG: a callback runs on the queue given, and at once where the fire already is there, or on a queue that targets it")
  func queues() {
    let queue = DispatchQueue(label: "q")
    let child = DispatchQueue(label: "child", target: queue)
    let signal = Signal<Int>()
    signal.observe(log, on: queue) { owner, number in
      dispatchPrecondition(condition: .onQueue(queue))
      owner.hear("\(number)")
    }
    queue.suspend()
    signal.fire(1)
    #expect(log.all.isEmpty)
    queue.resume()
    queue.sync {}
    #expect(log.all == ["1"])
    for (number, place) in [(2, queue), (3, child)] {
      place.sync {
        signal.fire(number)
        log.hear("after\(number)")
      }
    }
    #expect(log.all == ["1", "2", "after2", "3", "after3"])
  }

  @Test("S-04 S-05: a queue is told from others by itself, and not by the objects that stand for it, which come and go")
  func queueIdentity() {
    let key = DispatchSpecificKey<Int>()
    for number in 0..<200 {
      // Of the main queue each call makes another object.
      let first = Signal<Void>()
      first.observe(log, on: .main) { _, _ in }?.cancel()
      let queue = DispatchQueue(label: "q")
      queue.setSpecific(key: key, value: number)
      let signal = Signal<Void>()
      let place = Locked<Int?>(nil)
      signal.observe(log, on: queue) { _, _ in place.value = DispatchQueue.getSpecific(key: key) }
      let other = DispatchQueue(label: "other")
      first.observe(log, on: other) { _, _ in }?.cancel()
      other.sync { signal.fire() }
      queue.sync {}
      #expect(place.value == number)
    }
  }

  @Test("S-04 S-05: of a chain of queues that signals know, a fire on the innermost is on all of them") func queuesInChains() {
    let outer = DispatchQueue(label: "outer")
    let inner = DispatchQueue(label: "inner", target: outer)
    let signal = Signal<Int>()
    signal.observe(log, on: outer) { $0.hear("outer \($1)") }
    signal.observe(log, on: inner) { $0.hear("inner \($1)") }
    signal.observe(log, on: outer) { $0.hear("outer again \($1)") }
    inner.sync {
      signal.fire(1)
      log.hear("after")
    }
    #expect(log.all == ["outer 1", "inner 1", "outer again 1", "after"])
  }

  @Test("S-14 S-18: counts its observers and describes them") func describes() {
    let signal = Signal<Int>("ready")
    #expect(signal.debugDescription == "ready: nobody observes")
    signal.observe(log, on: DispatchQueue(label: "q")) { _, _ in }
    #expect(signal.observerCount == 1)
    #expect(signal.debugDescription == "ready:\n  Listener on q")
  }

  @Test("S-17: fires, registrations and cancellations from many threads at once lose nothing and call a once-observer once") func threads()
  {
    let signal = Signal<Int>(replays: true, maxObservers: 10_000)
    let steady = Mutex(0), onces = Mutex(0), removed = Mutex(0)
    signal.observe(log) { _, _ in steady.withLock { $0 += 1 } }
    for _ in 0..<50 { signal.observe(log, once: true) { _, _ in onces.withLock { $0 += 1 } } }
    DispatchQueue.concurrentPerform(iterations: 400) { index in
      switch index % 4 {
      case 0, 1: signal.fire(index)
      case 2: signal.observe(log) { _, _ in }!.cancel()
      default:
        let mortal = Listener()
        signal.observe(mortal) { _, _ in removed.withLock { $0 += 1 } }
        _ = signal.observerCount
      }
    }
    #expect(steady.withLock { $0 } == 200)
    #expect(onces.withLock { $0 } == 50)
    #expect(signal.observerCount == 1)
  }
}
