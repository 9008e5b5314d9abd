// How the scripts read their options: one table each, from which also the help is made. What is wrong is said in a line, with what would
// be right and the help below it, and the exit code is 2: nobody has to read a stack because of a mistyped word.
import { parseArgs } from 'node:util'
import { didYouMeanOf } from '../src/base/did-you-mean.ts'

export interface Option<Value> {
  readonly words: string
  /** What stands after it; null: nothing does. */
  readonly takes: string | null
  /** When it is left out. */
  readonly or: Value
  /** Throws a UsageFault where it cannot be read. */
  readonly read: (given: string) => Value
}

/** Somebody gave what cannot be had; the message says what would be right. */
export class UsageFault extends Error {
  override readonly name = 'UsageFault'
}

type Table = Readonly<Record<string, Option<unknown>>>
type ValuesOf<T extends Table> = { readonly [Name in keyof T]: T[Name] extends Option<infer Value> ? Value : never }

export const flag = (words: string): Option<boolean> => ({ words, takes: null, or: false, read: () => true })

/** What stands after the option is made into something by `read`. */
export const made = <Value>(
  words: string,
  takes: string,
  read: (given: string) => Value,
): Option<Value | undefined> => ({
  words,
  takes,
  or: undefined,
  read,
})

/** A whole number, at least `from`. */
export function whole<Or extends number | undefined = undefined>(
  words: string,
  { from, or }: { readonly from: number; readonly or?: Or },
): Option<number | Or> {
  const read = (given: string) => {
    if (/^\d+$/.test(given) && Number(given) >= from && Number.isSafeInteger(Number(given))) return Number(given)
    throw new UsageFault(`'${given}' is no whole number from ${from} on.`)
  }
  return { words, takes: 'n', or: or as Or, read }
}

/** A number above 0, which may be broken. */
export function amount<Or extends number | undefined = undefined>(words: string, or?: Or): Option<number | Or> {
  const read = (given: string) => {
    if (/^(\d+\.?\d*|\.\d+)$/.test(given) && Number(given) > 0) return Number(given)
    throw new UsageFault(`'${given}' is no number above 0.`)
  }
  return { words, takes: 'n', or: or as Or, read }
}

export function oneOf<Name extends string, Or extends Name | undefined = undefined>(
  words: string,
  names: readonly Name[],
  or?: Or,
): Option<Name | Or> {
  return { words: `${words}: ${names.join(', ')}`, takes: 'name', or: or as Or, read: (given) => nameIn(names, given) }
}

/** Several of the names, with commas between them. */
export function someOf<Name extends string>(
  words: string,
  names: readonly Name[],
): Option<readonly Name[] | undefined> {
  const read = (given: string) => given.split(',').map((one) => nameIn(names, one))
  return { words: `${words}: ${names.join(', ')}`, takes: 'names', or: undefined, read }
}

function nameIn<Name extends string>(names: readonly Name[], given: string): Name {
  const found = names.find((name) => name === given)
  if (found !== undefined) return found
  throw new UsageFault(`there is no '${given}'. ${didYouMeanOf(given, names)}`)
}

/** The values of all options. Throws a UsageFault for the first that is wrong. */
export function readOptions<T extends Table>(args: readonly string[], table: T): ValuesOf<T> {
  const values: Record<string, unknown> = {}
  for (const [name, { or }] of Object.entries(table)) values[name] = or
  // Only cut into pieces here: the words about what is wrong are our own.
  const options = Object.fromEntries(
    Object.entries(table).map(([name, { takes }]) => [name, { type: takes === null ? 'boolean' : 'string' }] as const),
  )
  const { tokens } = parseArgs({ args: [...args], options, strict: false, tokens: true })
  for (const token of tokens) {
    if (token.kind === 'positional') throw new UsageFault(`'${token.value}' is no option.`)
    if (token.kind !== 'option') continue
    const { name, rawName, value, inlineValue } = token
    const option = Object.hasOwn(table, name) ? table[name] : undefined
    if (option === undefined) {
      const known = Object.keys(table).map((one) => `--${one}`)
      throw new UsageFault(`There is no option ${rawName}. ${didYouMeanOf(rawName, known)}`)
    }
    if (option.takes === null && value !== undefined) throw new UsageFault(`--${name} takes no value.`)
    if (option.takes !== null && (value === undefined || (!inlineValue && value.startsWith('--'))))
      throw new UsageFault(`--${name} lacks its value: --${name} <${option.takes}>.`)
    values[name] = readOne(name, option, value ?? '')
  }
  return values as ValuesOf<T>
}

function readOne(name: string, { read }: Option<unknown>, given: string): unknown {
  try {
    return read(given)
  } catch (error) {
    throw error instanceof UsageFault ? new UsageFault(`--${name}: ${error.message}`) : error
  }
}

function helpOf(command: string, table: Table): string {
  const rows = Object.entries(table).map(([name, { takes, words, or }]) => {
    const given = takes === null ? `--${name}` : `--${name} <${takes}>`
    const isTold = typeof or === 'number' || typeof or === 'string'
    return [given, isTold ? `${words} (default ${or})` : words] as const
  })
  const width = Math.max(...rows.map(([given]) => given.length))
  const lines = rows.map(([given, words]) => `  ${given.padEnd(width)}   ${words}`)
  return [`${command} -- [options]`, ...lines, ''].join('\n')
}

/** The options of this process. Ends it for `--help`, and with code 2 where they cannot be read. */
export function optionsOf<T extends Table>(command: string, table: T): ValuesOf<T> {
  const all = { ...table, help: flag('this text') }
  try {
    const values = readOptions(process.argv.slice(2), all)
    if (!values.help) return values as unknown as ValuesOf<T>
    process.stdout.write(helpOf(command, all))
    process.exit(0)
  } catch (error) {
    if (!(error instanceof UsageFault)) throw error
    process.stderr.write(`${error.message}\n\n${helpOf(command, all)}`)
    process.exit(2)
  }
}
