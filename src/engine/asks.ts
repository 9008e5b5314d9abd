// Questions to the store, each asked once.
import type { Ask } from '../decision/situation.ts'

export function distinct(asks: Ask[]): Ask[] {
  if (asks.length < 2) return asks
  const seen = new Set<string>()
  return asks.filter((ask) => {
    const name = nameOfAsk(ask)
    if (seen.has(name)) return false
    seen.add(name)
    return true
  })
}

function nameOfAsk(ask: Ask): string {
  switch (ask.ask) {
    case 'resource':
      return `r${ask.no}`
    case 'named':
      return `n${ask.type}\u0000${ask.id}`
    case 'children':
      return `c${ask.no}`
    case 'linkedBy':
      return `l${ask.no} ${ask.link}`
    case 'key':
      return `k${ask.key}`
    case 'endedRun':
      return `e${ask.no}-${ask.begun}`
  }
}
