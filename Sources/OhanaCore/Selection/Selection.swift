/// The contacts that somebody picked, under the control of ``SelectionFilter``s.
///
/// Two contacts are the same if they were read at the same place (``Contact/id``), whatever is in them; contacts made by hand if they are
/// equal. So a selection outlives a reload. May be used from any thread, and from callbacks; each attempt takes effect whole.
public final class Selection: Sendable {
  private struct State {
    var filters: [any SelectionFilter]
    var contacts: [Contact] = []
    var keys: Set<SelectionKey> = []
    var version = 0

    var view: SelectionView { SelectionView(contacts: contacts, keys: keys) }
  }

  /// Fires behind every selection, with those that were newly selected; not where none was.
  public let onSelected = Signal<[Contact]>("selected")
  /// Fires behind every deselection, with those that were selected until then.
  public let onDeselected = Signal<[Contact]>("deselected")
  private let state: Locked<State>

  /// Begins empty.
  public init(filters: [any SelectionFilter] = []) { state = Locked(State(filters: filters)) }

  /// Asked in this order, from the next attempt on: what is selected stays selected whatever they say of it.
  public var filters: [any SelectionFilter] {
    get { state.withLock { $0.filters } }
    set {
      // What was there ends outside the lock: it may use the selection.
      var filters = newValue
      state.withLock { swap(&$0.filters, &filters) }
    }
  }

  /// What is selected, in the order of selection.
  public var contacts: [Contact] { state.withLock { $0.contacts } }
  /// How many are selected.
  public var count: Int { state.withLock { $0.contacts.count } }
  /// Whether a contact of the same place, or content, is selected.
  public func contains(_ contact: Contact) -> Bool { state.withLock { $0.keys.contains(SelectionKey(contact)) } }

  /// Where the selected contacts were read, to be saved and given to ``reselect(_:among:)`` later.
  public var ids: [ContactID] { contacts.compactMap(\.id) }

  /// Selects contacts: those selected already are left out, then the filters are asked, then the rest is selected.
  ///
  /// - Returns: those newly selected. Nothing is announced where there are none.
  @discardableResult
  public func select(_ contacts: [Contact]) -> [Contact] { attempt(contacts, selecting: true) }

  /// Selects a contact.
  @discardableResult
  public func select(_ contact: Contact) -> [Contact] { select([contact]) }

  /// Deselects contacts: those not selected are left out, then the filters are asked, then the rest is deselected.
  ///
  /// - Returns: those that were selected until now.
  @discardableResult
  public func deselect(_ contacts: [Contact]) -> [Contact] { attempt(contacts, selecting: false) }

  /// Deselects a contact.
  @discardableResult
  public func deselect(_ contact: Contact) -> [Contact] { deselect([contact]) }

  /// Selects those of `contacts` that were read where a saved selection says, in one attempt.
  @discardableResult
  public func reselect(_ ids: some Sequence<ContactID>, among contacts: some Sequence<Contact>) -> [Contact] {
    let wanted = Set(ids)
    return select(contacts.filter { $0.id.map { wanted.contains($0) } ?? false })
  }

  private func attempt(_ given: [Contact], selecting: Bool) -> [Contact] {
    while true {
      let (view, version, filters) = state.withLock { ($0.view, $0.version, $0.filters) }
      var seen: Set<SelectionKey> = []
      var candidates = given.filter { contact in
        let key = SelectionKey(contact)
        return view.keys.contains(key) != selecting && seen.insert(key).inserted
      }
      guard !candidates.isEmpty else { return [] }
      var refusals: [(filter: any SelectionFilter, contacts: [Contact])] = []
      for filter in filters {
        let kept = selecting ? filter.select(candidates, with: view) : filter.deselect(candidates, with: view)
        let keys = Set(kept.map { SelectionKey($0) })
        let refused = candidates.filter { !keys.contains(SelectionKey($0)) }
        if !refused.isEmpty { refusals.append((filter, refused)) }
        // A filter may hold back, not add.
        candidates = candidates.filter { keys.contains(SelectionKey($0)) }
        if candidates.isEmpty { break }
      }
      let accepted = candidates
      let isDone = state.withLock { state in
        guard state.version == version else { return false }
        state.version += 1
        let keys = accepted.map { SelectionKey($0) }
        if selecting {
          state.contacts += accepted
          state.keys.formUnion(keys)
        } else {
          state.keys.subtract(keys)
          let kept = state.keys
          state.contacts.removeAll { !kept.contains(SelectionKey($0)) }
        }
        return true
      }
      guard isDone else { continue }
      for (filter, refused) in refusals { filter.didRefuse(refused, selecting: selecting) }
      guard !accepted.isEmpty else { return [] }
      (selecting ? onSelected : onDeselected).fire(accepted)
      let change = SelectionChange(
        isSelection: selecting, contacts: accepted, countBefore: view.count,
        countAfter: view.count + (selecting ? accepted.count : -accepted.count))
      for filter in filters { filter.didChange(change) }
      return accepted
    }
  }
}
