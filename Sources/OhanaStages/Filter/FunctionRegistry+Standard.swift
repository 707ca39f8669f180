public import OhanaCore

extension FunctionRegistry {
  /// The functions of every expression a user writes.
  public static let standard = FunctionRegistry.core
}
