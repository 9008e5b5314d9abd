// Where the file of a thread is: threads are started by the address of their file.

/** Beside `module`, and named as it with the ending. Run from the sources it is a .ts file, published it is a .js file: as the module is. */
export const threadFile = (module: string, ending = '-thread'): URL =>
  new URL(module.replace(/(\.[jt]s)(\?.*)?$/, `${ending}$1`))
