// Whose address it is, where it is counted how often somebody comes.
import { isIP } from 'node:net'

/** Whoever has one IPv6 address has a whole /64 of them: they count as one. An IPv4 address is itself, also in the dress of IPv6. */
export function networkOf(address: string): string {
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)
  if (mapped !== null) return mapped[1]!
  if (isIP(address) !== 6) return address
  const [before, after] = address.split('::') as [string, string?]
  const [head, tail] = [groupsOf(before), groupsOf(after ?? '')]
  const zeros = after === undefined ? 0 : 8 - head.length - tail.length
  const groups = [...head, ...Array.from({ length: zeros }, () => '0'), ...tail]
  return `${groups
    .slice(0, 4)
    .map((group) => Number.parseInt(group, 16).toString(16))
    .join(':')}::/64`
}

const groupsOf = (part: string): readonly string[] => (part === '' ? [] : part.split(':'))
