/// Has a say in what may be selected and deselected: an extension point.
///
/// Filters are asked at every attempt, in the order of ``Selection/filters``, each with what the one before it let through. They see only
/// candidates that the attempt would change, and an unchangeable view of the selection. Asking must change nothing: an attempt that another
/// thread got in the way of is asked for again. What came of it they are told afterwards, once.
public protocol SelectionFilter: Sendable {
  /// Which of `candidates`, none of them selected, may be selected. All, unless said otherwise.
  func select(_ candidates: [Contact], with selection: SelectionView) -> [Contact]
  /// Which of `candidates`, all of them selected, may be deselected. All, unless said otherwise.
  func deselect(_ candidates: [Contact], with selection: SelectionView) -> [Contact]
  /// This filter held `contacts` back.
  func didRefuse(_ contacts: [Contact], selecting: Bool)
  /// The selection has changed, and its signals have fired.
  func didChange(_ change: SelectionChange)
}

extension SelectionFilter {
  public func select(_ candidates: [Contact], with selection: SelectionView) -> [Contact] { candidates }
  public func deselect(_ candidates: [Contact], with selection: SelectionView) -> [Contact] { candidates }
  public func didRefuse(_ contacts: [Contact], selecting: Bool) {}
  public func didChange(_ change: SelectionChange) {}
}

/// A selection as it is at one moment.
public struct SelectionView: Sendable {
  /// In the order of their selection.
  public let contacts: [Contact]
  let keys: Set<SelectionKey>
  /// How many are selected.
  public var count: Int { contacts.count }
  /// Whether a contact of the same place, or content, is selected.
  public func contains(_ contact: Contact) -> Bool { keys.contains(SelectionKey(contact)) }
}

/// What one attempt did.
public struct SelectionChange: Sendable {
  /// Contacts were selected; otherwise deselected.
  public let isSelection: Bool
  /// Those selected, or deselected, by it.
  public let contacts: [Contact]
  /// Contacts selected before.
  public let countBefore: Int
  /// Contacts selected since.
  public let countAfter: Int
}

/// What tells contacts apart: where they were read, or their content where they were made by hand.
enum SelectionKey: Sendable, Hashable {
  case id(ContactID)
  case content(Contact)
  init(_ contact: Contact) { self = contact.id.map { .id($0) } ?? .content(contact) }
}
