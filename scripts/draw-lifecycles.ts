// `npm run draw`: writes docs/catalogues from the declarations of the catalogues. That folder holds nothing else.
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { documents } from './draw/documents.ts'

const folder = join(resolve(import.meta.dirname, '..'), 'docs', 'catalogues')
const files = documents()
rmSync(folder, { recursive: true, force: true })
mkdirSync(folder, { recursive: true })
for (const [name, text] of files) writeFileSync(join(folder, name), text)
console.log(`${files.size} files written to docs/catalogues`)
