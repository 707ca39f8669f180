/// The version of tool and library.
public enum Version {
  /// Of tool and library, by Semantic Versioning.
  public static let current = "0.1.0"
}
