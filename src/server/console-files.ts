// The built console as pages: its files by name, and its one page for every address that only the console knows.
import { readFile } from 'node:fs/promises'
import { extname, join, normalize } from 'node:path'
import type { Page } from './http-server.ts'

const types: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.woff2': 'font/woff2',
  '.json': 'application/json',
}

/** Files are read once: a folder that is built anew is served after a restart. */
export function consoleFiles(folder: string): (path: string) => Promise<Page | null> {
  const known = new Map<string, Promise<Page | null>>()
  return (path) => {
    const file = fileOf(path)
    if (file === null) return Promise.resolve(null)
    const found = known.get(file) ?? readPage(folder, file)
    // What is not there is not remembered: nobody can fill the memory with names.
    void found.then((page) => (page === null ? known.delete(file) : known.set(file, found)))
    return found
  }
}

/** Addresses without a file's ending are the console's own; null: certainly no file of ours. */
function fileOf(path: string): string | null {
  if (extname(path) === '' || /^\/(resources|lifecycles)\//.test(path)) return 'index.html'
  const name = normalize(path).slice(1)
  return types[extname(name)] === undefined || !/^[\w./-]+$/.test(name) || name.includes('..') ? null : name
}

async function readPage(folder: string, file: string): Promise<Page | null> {
  const body = await readFile(join(folder, file)).catch(() => null)
  if (body === null) return null
  return { type: types[extname(file)]!, body, isImmutable: file.startsWith('assets/') }
}
