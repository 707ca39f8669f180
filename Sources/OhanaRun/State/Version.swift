/// The version of tool and library.
public enum Version {
  public static let current = "0.1.0"
}
