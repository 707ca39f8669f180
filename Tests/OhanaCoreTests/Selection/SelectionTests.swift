import OhanaCore
import Synchronization
import Testing

/// Writes down what a selection and its filters announce.
private final class Log: Sendable {
  private let lines = Mutex<[String]>([])
  func add(_ event: String, _ contacts: [Contact]? = nil) {
    let names = contacts.map { "(" + $0.map { $0.fullName ?? "?" }.joined(separator: " ") + ")" } ?? ""
    lines.withLock { $0.append(event + names) }
  }
  func take() -> [String] {
    lines.withLock { lines in
      defer { lines = [] }
      return lines
    }
  }
  func watch(_ selection: Selection) {
    selection.onSelected.observe(self) { $0.add("selected", $1) }
    selection.onDeselected.observe(self) { $0.add("deselected", $1) }
  }
  func watch(_ filter: MaximumSelectionFilter) {
    filter.onReached.observe(self) { log, _ in log.add("reached") }
    filter.onExceeded.observe(self) { $0.add("exceed", $1) }
    filter.onNoLongerReached.observe(self) { log, _ in log.add("no-longer-at-max") }
  }
  func watch(_ filter: MinimumSelectionFilter) {
    filter.onReached.observe(self) { log, _ in log.add("reached-min") }
    filter.onFellBelow.observe(self) { $0.add("below", $1) }
    filter.onNoLongerReached.observe(self) { log, _ in log.add("no-longer-at-min") }
  }
}

@Suite("Selections") struct SelectionTests {
  static func contact(_ name: String, phone: Bool = false) -> Contact {
    var contact = Contact(fullName: name, fields: phone ? [ContactField(.phone, "")] : [])
    contact.id = ContactID(source: "test", ordinal: Int(name.unicodeScalars.first!.value))
    return contact
  }
  static let (a, b, c, d) = (contact("A"), contact("B"), contact("C"), contact("D"))
  private let log = Log()

  private func selection(_ filters: [any SelectionFilter], _ start: [Contact] = []) -> Selection {
    let selection = Selection()
    selection.select(start)
    selection.filters = filters
    log.watch(selection)
    return selection
  }
  private func names(_ selection: Selection) -> String { selection.contacts.map { $0.fullName! }.joined(separator: " ") }

  @Test("O-80 O-84 SEL: maximum two") func maximum() {
    let maximum = MaximumSelectionFilter(2)
    log.watch(maximum)
    let selection = selection([maximum])
    selection.select(Self.a)
    #expect(log.take() == ["selected(A)"])
    selection.select(Self.b)
    #expect(log.take() == ["selected(B)", "reached"])
    #expect(selection.select(Self.c).isEmpty)
    #expect(log.take() == ["exceed(C)"])
    #expect(names(selection) == "A B")
    selection.select([Self.a, Self.c])
    #expect(log.take() == ["exceed(C)"], "A was in already")
    selection.deselect(Self.a)
    #expect(log.take() == ["deselected(A)", "no-longer-at-max"])
    selection.select(Self.b)
    #expect(log.take().isEmpty, "selected already")
  }

  @Test("O-84 SEL: an attempt beyond the maximum is refused whole, or trimmed where that is the policy") func policies() {
    let refusing = MaximumSelectionFilter(2)
    let trimming = MaximumSelectionFilter(2, onExceed: .trim)
    log.watch(refusing)
    log.watch(trimming)
    var chosen = selection([refusing], [Self.a])
    chosen.select([Self.c, Self.d])
    #expect(log.take() == ["exceed(C D)"])
    #expect(names(chosen) == "A")
    chosen = selection([trimming], [Self.a])
    #expect(chosen.select([Self.c, Self.d]) == [Self.c])
    #expect(log.take() == ["exceed(D)", "selected(C)", "reached"])
  }

  @Test("O-84 SEL: 0 is no limit; a maximum lowered below what is selected deselects nobody and refuses the next") func lowered() {
    let maximum = MaximumSelectionFilter(0)
    log.watch(maximum)
    let selection = selection([maximum])
    selection.select([Self.a, Self.b, Self.c])
    #expect(log.take() == ["selected(A B C)"])
    maximum.maximum = 3
    maximum.maximum = 1
    #expect(log.take().isEmpty)
    #expect(names(selection) == "A B C")
    selection.select(Self.d)
    #expect(log.take() == ["exceed(D)"])
  }

  @Test("O-81 O-85 SEL: minimum one") func minimum() {
    let minimum = MinimumSelectionFilter(1)
    log.watch(minimum)
    var chosen = selection([minimum], [Self.a, Self.b])
    chosen.deselect(Self.a)
    #expect(log.take() == ["deselected(A)", "reached-min"])
    chosen.deselect(Self.b)
    #expect(log.take() == ["below(B)"])
    chosen = selection([minimum], [Self.a, Self.b])
    chosen.deselect([Self.a, Self.b])
    #expect(log.take() == ["below(A B)"])
    #expect(names(chosen) == "A B")
    chosen = selection([minimum], [Self.a])
    chosen.select(Self.b)
    #expect(log.take() == ["selected(B)", "no-longer-at-min"])
    chosen.deselect(Self.c)
    #expect(log.take().isEmpty, "not selected")
  }

  @Test("O-85: a minimum of 0 refuses nothing, and is reached when the selection becomes empty; more than there is cannot be deselected")
  func minimumOfZero() {
    let minimum = MinimumSelectionFilter(0)
    log.watch(minimum)
    let selection = selection([minimum])
    selection.select(Self.a)
    #expect(log.take() == ["selected(A)", "no-longer-at-min"])
    selection.deselect([Self.a, Self.b, Self.c])
    #expect(log.take() == ["deselected(A)", "reached-min"])
    minimum.minimum = 5
    selection.deselect([Self.a])
    #expect(log.take().isEmpty)
  }

  @Test("O-86 O-87 SEL: required then maximum accepts what maximum then required refuses") func order() {
    let (n, p) = (Self.contact("n"), Self.contact("p", phone: true))
    let required = RequiredFieldSelectionFilter(.phone)
    let maximum = MaximumSelectionFilter(1)
    var chosen = selection([required, maximum])
    chosen.select([n, p])
    #expect(names(chosen) == "p")
    chosen = selection([maximum, required])
    chosen.select([n, p])
    #expect(names(chosen) == "")
    chosen = selection([required], [n])
    chosen.deselect(n)
    #expect(chosen.count == 0, "deselecting is never blocked")
  }

  @Test("O-82 O-83: filters see candidates only, may not add, and take effect from the next attempt on") func filters() {
    struct Foreign: SelectionFilter {
      let seen: @Sendable ([Contact], SelectionView) -> Void
      func select(_ candidates: [Contact], with selection: SelectionView) -> [Contact] {
        seen(candidates, selection)
        return candidates.dropFirst() + [SelectionTests.d]
      }
    }
    let log = self.log
    let selection = selection([Foreign { log.add("asked \($1.count)\($1.contains(SelectionTests.a))", $0) }], [Self.a])
    selection.select([Self.a, Self.b, Self.c, Self.b])
    #expect(log.take() == ["asked 1true(B C)", "selected(C)"])
    selection.filters = []
    selection.select(Self.d)
    #expect(names(selection) == "A C D")
  }

  @Test("O-17: contacts read at two places are two, whatever is in them; made by hand they are one if equal") func identity() {
    let selection = selection([])
    var twin = Self.a
    twin.id!.ordinal = 1_000
    selection.select([Self.a, twin])
    #expect(selection.count == 2)
    var changed = Self.a
    changed.firstName = "changed"
    #expect(selection.contains(changed))
    let made = Contact(firstName: "x")
    selection.select([made, Contact(firstName: "x"), Contact(firstName: "y")])
    #expect(selection.count == 4)
    selection.deselect(Contact(firstName: "x"))
    #expect(!selection.contains(made))
  }

  @Test("O-28 O-88: a selection's ids select the same contacts again") func reselects() {
    let first = selection([], [Self.c, Self.a])
    let ids = first.ids
    let later = Selection()
    later.reselect(ids, among: [Self.a, Self.b, Self.c])
    #expect(Set(later.ids) == Set(ids))
    #expect(later.count == 2)
  }

  @Test("O-101: callbacks may select and deselect") func reentrancy() {
    let selection = selection([MaximumSelectionFilter(3)])
    selection.onSelected.observe(log) { [weak selection] _, contacts in
      if contacts == [SelectionTests.a] { selection?.select(SelectionTests.b) }
      if contacts == [SelectionTests.b] { selection?.deselect(SelectionTests.a) }
    }
    selection.select(Self.a)
    #expect(names(selection) == "B")
    #expect(log.take() == ["selected(A)", "selected(B)", "deselected(A)"])
  }

  @Test("O-80: attempts from many threads never go beyond the maximum") func threads() async {
    let selection = selection([MaximumSelectionFilter(10)])
    await withTaskGroup(of: Void.self) { group in
      for number in 0..<200 {
        group.addTask {
          var contact = Contact(fullName: "\(number)")
          contact.id = ContactID(source: "t", ordinal: number)
          selection.select(contact)
        }
      }
    }
    #expect(selection.count == 10)
    #expect(selection.onSelected.observerCount == 1)
  }
}
