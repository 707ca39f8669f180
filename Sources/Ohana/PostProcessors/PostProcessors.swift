public import OhanaCore
public import OhanaStages

/// Keeps contacts that have a field of a type; an empty value counts, order stays.
public struct RequiredFieldPostProcessor: StageBacked {
  public let stage: any PlannedStage

  /// - Parameter nonempty: a blank value does not count.
  public init(_ type: ContactFieldType, nonempty: Bool = false) { stage = RequireStage([], types: [type], nonempty: nonempty) }
  /// Keeps records in which all of these have a value.
  public init(names: [FieldName]) { stage = RequireStage(names) }
}

/// Keeps contacts that have a postal address; one of blanks counts, an empty list does not.
public struct RequiredPostalAddressPostProcessor: StageBacked {
  public let stage: any PlannedStage
  /// - Parameter nonempty: an address whose parts are all blank does not count.
  public init(nonempty: Bool = false) { stage = RequireStage([], types: [.address], nonempty: nonempty) }
}

/// Keeps contacts for which an expression is true, in the language of the stage `filter`.
public struct FilterPostProcessor: StageBacked {
  public let stage: any PlannedStage
  /// - Throws: `usage` for text that is no expression.
  public init(_ expression: String) throws(OhanaError) { stage = FilterStage(try Expression(expression, functions: .standard)) }
}

/// Keeps one contact per key, at its place; a contact with a blank in its key always stays.
public struct DedupePostProcessor: StageBacked {
  public let stage: any PlannedStage

  /// - Parameters:
  ///   - field: compared by its decoded text.
  ///   - kind: what makes two values the same: `.email`, `.fold` …
  ///   - keep: which of them stays.
  public init(by field: FieldName, kind: EqualityKind = .exact, keep: DedupeStage.Keep = .first) {
    self.init(by: [EqualityKey(.field(field), kind: kind)], keep: keep)
  }
  /// - Parameter keys: all have to be equal.
  public init(by keys: [EqualityKey], keep: DedupeStage.Keep = .first) {
    precondition(!keys.isEmpty, "a dedupe needs a key")
    stage = DedupeStage(keys: keys, keep: keep, text: "dedupe")
  }
}

/// Sorts contacts by name: stable, by code points of the decomposed text (kind `ohana`) unless another order is asked for. A missing or empty
/// name comes last; where both miss it, the other name decides by the same rule.
public struct AlphabeticalSortPostProcessor: StageBacked {
  /// Which name decides.
  public enum Mode: Sendable {
    /// The full name alone.
    case fullName
    /// Then by last name.
    case firstName
    /// Then by first name.
    case lastName
  }
  public let stage: any PlannedStage
  public let optionalNames: [FieldName]

  /// - Parameter order: how texts compare; `.locale("sv")` is the order of a language, which is for people to read.
  public init(_ mode: Mode, order: OrderKind = .ohana) {
    optionalNames =
      switch mode {
      case .fullName: ["full_name"]
      case .firstName: ["first", "last"]
      case .lastName: ["last", "first"]
      }
    stage = SortStage(
      keys: optionalNames.map { OrderKey(.field($0), kind: order) },
      text: optionalNames.map(\.description).joined(separator: ","))
  }
}

/// Exactly the contacts that arrive, the last first. Behind a sort it turns round ties and missing names too.
public struct ReverseOrderPostProcessor: StageBacked {
  public let stage: any PlannedStage
  /// Takes nothing: the order is that of what arrives.
  public init() { stage = ReverseStage() }
}

/// Makes one contact of each field of a type: with all the rest of the contact, and no field but this one.
public struct SplitOnFieldTypePostProcessor: StageBacked {
  public let stage: any PlannedStage
  public var makesRows: Bool { true }

  /// - Parameter keepsOthers: fields of other types stay.
  /// - Precondition: not `address`.
  public init(_ type: ContactFieldType, keepsOthers: Bool = false) { stage = SplitStage(on: type, keepsOthers: keepsOthers) }
}

/// Writes into each contact how many fields it has: properties `stats.fields`, `stats.phones`, `stats.emails`, `stats.has_mobile`.
public struct StatisticsPostProcessor: StageBacked {
  public let stage: any PlannedStage

  /// - Parameter mobileLabels: labels of mobile phones, compared as they are.
  public init(mobileLabels: [String] = ["mobile", "iPhone"]) { stage = CountFieldsStage(mobileLabels: mobileLabels) }
}

/// Writes each phone number in other formats, as properties of its field (`phone.e164`), or of the contact where it stands in a column. The
/// number itself stays, and what is no number gets nothing.
public struct PhoneNumberFormattingPostProcessor: StageBacked {
  public let stage: any PlannedStage

  /// - Parameters:
  ///   - formats: a set, also by the sum of its bits: `PhoneFormats(rawValue: 5)`.
  ///   - region: of numbers without a country code; nil: those get nothing.
  ///   - invalid: what becomes of contacts with numbers that cannot be.
  public init(_ formats: PhoneFormats = .e164, region: PhoneRegion?, invalid: PhoneStage.Invalid = .keep) {
    stage = PhoneStage(region: region, formats: formats, invalid: invalid)
  }
}

/// Any stage of the package, as it is written on the command line: `StagePostProcessor("normalize", "email:email")`.
public struct StagePostProcessor: StageBacked {
  public let stage: any PlannedStage
  public var makesRows: Bool { Self.makesRows(stage) }

  /// Of the package's own stages, only a split gives several records for one.
  private static func makesRows(_ stage: any PlannedStage) -> Bool {
    switch stage {
    case let processor as any PostProcessor: processor.makesRows
    case let group as GroupStage: group.branches.joined().contains(where: makesRows)
    default: stage is SplitStage
    }
  }

  /// Stands for a stage that was made in code.
  public init(_ stage: any PlannedStage) { self.stage = stage }
  /// - Throws: `usage` for an unknown stage or arguments it does not take.
  public init(_ name: String, _ arguments: String...) throws {
    guard let entry = StageCatalog.entry(named: name) else {
      let names = StageCatalog.all.map(\.help.name)
      let near = NearMiss.best(for: name, among: names).map { "did you mean \($0)? " } ?? ""
      throw OhanaError(.usage, "unknown-stage", "there is no stage '\(name)'", fix: near + "there are " + names.joined(separator: ", "))
    }
    stage = try entry.parse(arguments)
  }
}
