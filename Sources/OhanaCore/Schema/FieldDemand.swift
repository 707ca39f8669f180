/// What the input must have in some record, where only the records can tell: fields of a type such as phones, or a member at any depth.
/// Without any, what was asked for goes by another name.
package struct FieldDemand: Sendable {
  /// Whether the input had it.
  ///
  /// - Parameters:
  ///   - slots: of the fields that were found.
  ///   - names: of the records' members, as many as were noted.
  package let isMet: @Sendable (_ slots: Set<Int>, _ names: [[UInt8]]) -> Bool
  /// What is said where it had not, with the names that there are.
  package let problem: @Sendable (_ names: [[UInt8]]) -> OhanaError
}

extension RecordSchema {
  /// Demands that the input have one at least of some fields.
  ///
  /// - Parameters:
  ///   - slots: given out for them.
  ///   - type: as `--optional` would name them, and `rename` write one.
  ///   - places: where such fields can be: `a column phone, phone_2 …, nor the list 'fields'`.
  ///   - accepts: whether a name that no slot stands for is one of them.
  /// - Throws: `usage`/`unknown-field` where there are none, and the names are known; where only records tell, the run finds out.
  package mutating func require(
    anyOf slots: [Int], type: String, places: String, accepts: @escaping @Sendable ([UInt8]) -> Bool
  ) throws(OhanaError) {
    if isOptional(Array(type.utf8)) || isOptional(Array("fields".utf8)) { return }
    // What an earlier stage wrote is there.
    let written = Set(writtenRoots.values)
    let sources = Set(sourceFields.map(\.slot))
    if slots.contains(where: { written.contains($0) || !sources.contains($0) }) { return }
    let stage = currentStage
    let problem: @Sendable ([[UInt8]]) -> OhanaError = { names in
      OhanaError(
        .usage, "unknown-field", "\(stage): no input has \(places)",
        fix: Self.suggestion(for: Array(type.utf8), among: names)
          + "; put 'rename NAME=\(type)' in front, or give --optional \(type) where it may be missing")
    }
    if slots.isEmpty { throw problem(columns ?? layout.entries.map(\.name)) }
    guard columns == nil else { return }
    demands.append(
      FieldDemand(
        isMet: { found, names in
          // Where not all names were noted, one of them may be it.
          !found.isDisjoint(with: slots) || names.count >= Self.maxNotedNames || names.contains(where: accepts)
        }, problem: problem))
  }

  /// Demands that the input have a member `name` at some depth.
  ///
  /// - Parameter isMet: what is asked when all records have been read; where the names are known before, it is not.
  /// - Throws: `usage`/`unknown-field` where the names are known and it is none of them.
  package mutating func require(anywhere name: FieldName, isMet: @escaping @Sendable () -> Bool) throws(OhanaError) {
    if isOptional(name.whole) { return }
    if let columns {
      if columns.contains(name.whole) || layout.entries.contains(where: { $0.name == name.whole }) { return }
      throw unknownField(name, among: columns)
    }
    let stage = currentStage
    demands.append(
      FieldDemand(isMet: { _, _ in isMet() }) { names in
        OhanaError(
          .usage, "unknown-field", field: name.description, "\(stage): no record of the input has a member of this name",
          fix: Self.suggestion(for: name.whole, among: names) + ", or --optional \(name) where it may be missing")
      })
  }

  /// - Throws: `usage`/`unknown-field` unless a column that is read or written has this name.
  package func requireOutput(_ name: FieldName, option: String) throws(OhanaError) {
    let names = layout.entries.map(\.name)
    if isOptional(name.whole) || names.contains(name.whole) || columns?.contains(name.whole) == true { return }
    var told = self
    told.currentStage = option
    throw told.unknownField(name, among: names)
  }

  /// Names of members that are noted for suggestions.
  package static let maxNotedNames = 4_096
}
