// What `homeostat init` writes: a lifecycle, its driver on a local world, a test, a config and a README, ready to run.
import { cpSync, existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { CliError, exits } from './cli-error.ts'
import { makeFolder } from './named-files.ts'
import { version } from './version.ts'

/** From src/cli in a checkout, from dist/src/cli in a package. */
const places = ['../../templates/project', '../../../templates/project']

/** Names of the files, which are all new: a folder with something in it is left alone. */
export function writeProject(folder: string): readonly string[] {
  const hint = 'Give an empty or a new folder: homeostat init my-project'
  makeFolder(folder, { hint })
  if (readdirSync(folder).some((name) => !name.startsWith('.git')))
    throw new CliError(exits.cannotCreate, `${folder} is not empty.`, hint)
  const template = places.map((place) => join(import.meta.dirname, place)).find((place) => existsSync(place))
  if (template === undefined) throw new CliError(exits.defect, 'The templates of the package are missing.')
  const files = readdirSync(template, { recursive: true, encoding: 'utf8' }).filter((name) => name.includes('.'))
  cpSync(template, folder, { recursive: true })
  const packageFile = join(folder, 'package.json')
  // From a checkout, the project uses that checkout as it is: there is nothing published of it.
  const root = join(template, '..', '..')
  const isCheckout = existsSync(join(root, 'src', 'bin.ts'))
  const content = readFileSync(packageFile, 'utf8').replace(
    'node --test',
    isCheckout ? 'node --conditions=source --test' : 'node --test',
  )
  const name =
    basename(folder)
      .toLowerCase()
      .replaceAll(/[^a-z0-9-]+/g, '-') || 'project'
  writeFileSync(
    packageFile,
    content.replace('my-project', name).replace('HOMEOSTAT_VERSION', isCheckout ? `file:${root}` : version()),
  )
  if (isCheckout) {
    // Its types are those of its sources.
    const compiler = join(folder, 'tsconfig.json')
    const options = readFileSync(compiler, 'utf8')
    writeFileSync(compiler, options.replace('"types":', '"customConditions": ["source"],\n    "types":'))
  }
  writeFileSync(join(folder, '.gitignore'), 'node_modules/\ndata/\n')
  return [...files, '.gitignore'].sort()
}
