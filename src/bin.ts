// The `homeostat` command.
import { main } from './cli/cli.ts'

await main(process.argv.slice(2))
