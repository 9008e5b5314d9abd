// The keys that secrets are sealed with in the store: from the environment, or from a file in the data folder that is made at the first start
// and is for its owner alone. Newest first, one per line (or between commas): to change the key, put a new one first and start again.
import { existsSync, linkSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { HomeostatError } from '../base/errors.ts'
import { secretText } from '../base/random.ts'

const secretKeyFile = (data: string): string => join(data, 'secret.key')

/** `make`: where there is none, one is made up. */
export function secretKeys(data: string, { make }: { readonly make: boolean }): readonly string[] {
  const given = process.env['HOMEOSTAT_SECRET_KEY']
  if (given !== undefined && given.trim() !== '') return keysIn(given)
  const file = secretKeyFile(data)
  if (make && !existsSync(file)) makeKey(file)
  if (!existsSync(file)) return []
  const keys = keysIn(readFileSync(file, 'utf8'))
  if (keys.length > 0) return keys
  throw new HomeostatError(
    'secret_key_missing',
    `${file} has no key in it. Put the one back that it had: secrets in the store cannot be read without it. If there are none, remove the file, and a new key is made.`,
  )
}

/** Whole, and on the disk before anything is sealed with it: a power cut must not leave secrets without their key. */
function makeKey(file: string): void {
  const made = `${file}.${process.pid}`
  rmSync(made, { force: true })
  writeFileSync(made, `${secretText()}\n`, { mode: 0o600, flag: 'wx', flush: true })
  try {
    linkSync(made, file)
  } catch (error) {
    // Another process was quicker: its key counts.
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  } finally {
    rmSync(made)
  }
}

const keysIn = (text: string): string[] =>
  text
    .split(/[\s,]+/)
    .map((key) => key.trim())
    .filter((key) => key !== '')
