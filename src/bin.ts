// The `homeostat` command. What was compiled once is kept for the next time: half of a short command's time.
import { enableCompileCache } from 'node:module'

enableCompileCache()
const { main } = await import('./cli/cli.ts')
await main(process.argv.slice(2))
