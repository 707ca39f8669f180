public import OhanaCore

extension RecordBatch {
  /// Fills ``RecordBatch/members`` from the records' own bytes, as a reader of NDJSON does where the plan asks for it: of a repeated key
  /// the first place and the last value.
  public func fillMembers() {
    members.removeAll()
    var numbers: [[UInt8]: UInt32] = [:]
    let scratch = ByteBuffer()
    for record in 0..<recordCount {
      var walk = JSONMembers(in: arena.base, at: Int(records[record].offset))
      var places: [UInt32: Int] = [:]
      while let member = walk.next() {
        let name = Array(member.key(in: arena.base, scratch: scratch))
        let number = numbers[name] ?? UInt32(numbers.count)
        if numbers.updateValue(number, forKey: name) == nil {
          members.keys.append(name)
          members.keyHoldsNested.append(false)
        }
        if member.value.kind.rawValue >= ValueKind.array.rawValue { members.keyHoldsNested[Int(number)] = true }
        if let place = places[number] {
          members.members[place].span = member.value
        } else {
          places[number] = members.count
          members.append(MemberTable.Member(key: number, span: member.value))
        }
      }
      members.endRecord()
    }
  }
}
