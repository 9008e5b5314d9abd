// The keys that secrets are sealed with in the store: from the environment, or from a file in the data folder that is made at the first start
// and is for its owner alone. Newest first, one per line (or between commas): to change the key, put a new one first and start again.
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { secretText } from '../base/random.ts'

const secretKeyFile = (data: string): string => join(data, 'secret.key')

/** `make`: where there is none, one is made up. */
export function secretKeys(data: string, { make }: { readonly make: boolean }): readonly string[] {
  const given = process.env['HOMEOSTAT_SECRET_KEY']
  if (given !== undefined && given.trim() !== '') return keysIn(given)
  const file = secretKeyFile(data)
  if (make && !existsSync(file)) makeKey(file)
  return existsSync(file) ? keysIn(readFileSync(file, 'utf8')) : []
}

function makeKey(file: string): void {
  try {
    writeFileSync(file, `${secretText()}\n`, { mode: 0o600, flag: 'wx' })
  } catch (error) {
    // Another process was quicker: its key counts.
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  }
}

const keysIn = (text: string): string[] =>
  text
    .split(/[\s,]+/)
    .map((key) => key.trim())
    .filter((key) => key !== '')
