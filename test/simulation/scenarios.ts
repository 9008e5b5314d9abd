// What is simulated: the README's lifecycle, each catalogue, and small lifecycles for what these do not have.
import { databases } from '../../examples/database.ts'
import { hurried } from '../../src/testing/hurried.ts'
import type { Scenario } from '../../src/testing/simulation.ts'

export const readme: Scenario = { name: 'readme', lifecycles: [hurried(databases)] }
