/// Lets no more than so many contacts be selected.
public final class MaximumSelectionFilter: SelectionFilter {
  /// What becomes of an attempt that goes beyond the maximum.
  public enum Policy: Sendable {
    /// It is refused as a whole: nothing of it is selected.
    case refuse
    /// As many as there is room for are selected, the first ones.
    case trim
  }

  /// Fires when the selection has grown to the maximum.
  public let onReached = Signal<Void>("maximum reached")
  /// Fires with what was refused.
  public let onExceeded = Signal<[Contact]>("maximum exceeded")
  /// Fires when the selection has shrunk from the maximum.
  public let onNoLongerReached = Signal<Void>("maximum no longer reached")
  /// Fixed at the beginning.
  public let policy: Policy
  private let limit: Locked<Int>

  /// - Parameter maximum: 0 is no limit.
  public init(_ maximum: Int, onExceed policy: Policy = .refuse) {
    precondition(maximum >= 0, "a maximum is not negative")
    limit = Locked(maximum)
    self.policy = policy
  }

  /// 0 is no limit. To lower it deselects nobody.
  public var maximum: Int {
    get { limit.withLock { $0 } }
    set {
      precondition(newValue >= 0, "a maximum is not negative")
      limit.withLock { $0 = newValue }
    }
  }

  public func select(_ candidates: [Contact], with selection: SelectionView) -> [Contact] {
    let room = maximum == 0 ? Int.max : max(0, maximum - selection.count)
    if candidates.count <= room { return candidates }
    return policy == .refuse ? [] : Array(candidates.prefix(room))
  }

  public func didRefuse(_ contacts: [Contact], selecting: Bool) { if selecting { onExceeded.fire(contacts) } }

  public func didChange(_ change: SelectionChange) {
    let maximum = self.maximum
    guard maximum > 0 else { return }
    if change.isSelection, change.countAfter == maximum { onReached.fire() }
    if !change.isSelection, change.countBefore == maximum { onNoLongerReached.fire() }
  }
}

/// Lets no deselection leave fewer than so many contacts: refused as a whole.
public final class MinimumSelectionFilter: SelectionFilter {
  /// Fires when the selection has shrunk to the minimum; with a minimum of 0, when it has become empty.
  public let onReached = Signal<Void>("minimum reached")
  /// Fires with what was refused.
  public let onFellBelow = Signal<[Contact]>("below the minimum")
  /// Fires when the selection has grown from the minimum.
  public let onNoLongerReached = Signal<Void>("minimum no longer reached")
  private let limit: Locked<Int>

  /// - Parameter minimum: 0 refuses nothing.
  public init(_ minimum: Int) {
    precondition(minimum >= 0, "a minimum is not negative")
    limit = Locked(minimum)
  }

  /// To raise it selects nobody.
  public var minimum: Int {
    get { limit.withLock { $0 } }
    set {
      precondition(newValue >= 0, "a minimum is not negative")
      limit.withLock { $0 = newValue }
    }
  }

  public func deselect(_ candidates: [Contact], with selection: SelectionView) -> [Contact] {
    selection.count - candidates.count < minimum ? [] : candidates
  }

  public func didRefuse(_ contacts: [Contact], selecting: Bool) { if !selecting { onFellBelow.fire(contacts) } }

  public func didChange(_ change: SelectionChange) {
    if !change.isSelection, change.countAfter == minimum { onReached.fire() }
    if change.isSelection, change.countBefore == minimum { onNoLongerReached.fire() }
  }
}

/// Lets only contacts be selected that have a field (or an address) of a type, each contact by itself; its value may be empty. Deselects all.
public struct RequiredFieldSelectionFilter: SelectionFilter {
  /// The type of field that every contact selected has to have.
  public let type: ContactFieldType
  /// - Parameter type: of the field that is required.
  public init(_ type: ContactFieldType) { self.type = type }
  public func select(_ candidates: [Contact], with selection: SelectionView) -> [Contact] { candidates.filter { $0.has(type) } }
}
