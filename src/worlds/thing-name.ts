// Names of things: `type/id/kind/n` as the ledger has them, and names below one for its parts.

/** The ledger name that it is, or is a part of; a name of another form is its own. */
export const rootOf = (name: string): string => name.split('/').slice(0, 4).join('/')

/** Whether names below this one are parts of it. */
export const hasParts = (name: string): boolean => name.split('/').length === 4

/** The type of the resource that it was made for. */
export const typeOf = (name: string): string => name.split('/', 1)[0]!
