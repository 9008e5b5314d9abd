// Defects stop the program: an assertion that fails is our bug, never the user's. They stay on in production.

/** Thrown for a broken promise inside Homeostat itself. */
export class Defect extends Error {
  override readonly name = 'Defect'
}

/** States what must be true here; the message says what is broken if it is not. */
export function assert(holds: unknown, message: string): asserts holds {
  if (!holds) throw new Defect(message)
}

/** Ends an exhaustive switch: a new kind that nobody handles does not compile. */
export function unreachable(value: never): never {
  throw new Defect(`no case for ${JSON.stringify(value)}`)
}
