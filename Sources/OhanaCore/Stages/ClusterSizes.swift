/// How many keys were met how often, by class of size.
public struct ClusterSizes: Sendable, Equatable {
  /// The least size of each class.
  private static let least = [1, 2, 3, 4, 5, 10, 100]
  /// What the classes are called, smallest first: the range of their sizes.
  public static let names = ["1", "2", "3", "4", "5-9", "10-99", "100+"]
  /// Keys of each class, in the order of ``names``.
  public private(set) var keys = [Int](repeating: 0, count: ClusterSizes.names.count)

  /// No keys.
  public init() {}

  /// Adds `count` keys that were met so many times each.
  ///
  /// - Parameter times: at least 1.
  public mutating func add(_ count: Int, metTimes times: Int) {
    precondition(times > 0, "a key that was never met is none")
    keys[Self.least.lastIndex { $0 <= times }!] += count
  }
}

extension ClusterSizes: Codable {
  private struct Class: Codable {
    var size: String
    var keys: Int
  }

  /// An array of objects with `size` and `keys`, in the order of ``names``.
  public func encode(to encoder: any Encoder) throws {
    try zip(Self.names, keys).map { Class(size: $0, keys: $1) }.encode(to: encoder)
  }

  /// Takes what `encode` wrote; classes that are missing are empty.
  public init(from decoder: any Decoder) throws {
    for entry in try [Class](from: decoder) {
      guard let index = Self.names.firstIndex(of: entry.size) else { continue }
      keys[index] = entry.keys
    }
  }
}

/// An ordered stage that knows how often each key was met, when it has had its last batch.
public protocol ClusterCounting: OrderedStage {
  /// Of all keys that are not blank; known once ``OrderedStage/finish()`` has returned.
  var clusterSizes: ClusterSizes { get }
}
