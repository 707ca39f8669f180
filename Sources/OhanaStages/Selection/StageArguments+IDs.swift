internal import OhanaCore

extension StageArguments {
  /// What `--ids` looks up: the one key of `--by`, or `id`.
  ///
  /// - Parameter name: of the stage, for messages.
  func idKey(of name: String) throws -> EqualityKey {
    let keys = try EqualityKey.parse(list: value("--by") ?? "id", what: "\(name) --by")
    guard keys.count == 1 else { throw problem("bad-value", "--by takes one key", fix: "compute one by an expression") }
    return keys[0]
  }
}
