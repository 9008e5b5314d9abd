// Which Homeostat this is, from its package.json.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

/** From src/cli in a checkout, from dist/src/cli in a package. */
const places = ['../../package.json', '../../../package.json']

export function version(): string {
  for (const place of places) {
    try {
      const found = JSON.parse(readFileSync(join(import.meta.dirname, place), 'utf8')) as Record<string, string>
      if (found['name'] === 'homeostat') return found['version']!
    } catch {
      // Not there: it is the other place.
    }
  }
  return 'unknown'
}
