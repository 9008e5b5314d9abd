// What a homeostat.config.ts says, and how it is found and read: which lifecycles are served with which drivers, and on what store.
import { existsSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { z } from 'zod'
import type { Engine } from '../engine/engine.ts'
import { defaultSettings, type EngineSettings } from '../engine/options.ts'
import type { LifecycleSet } from '../engine/typed-client.ts'
import type { Driver } from '../lifecycle/driver.ts'
import { typeOf, type AnyLifecycle } from '../lifecycle/lifecycle.ts'
import type { OidcOptions } from '../server/oidc.ts'
import type { WebhookSettings } from '../server/webhook-sender.ts'
import type { Inventions } from '../testing/workload.ts'
import type { World } from '../worlds/world.ts'
import { HomeostatError, messageOf } from '../base/errors.ts'
import { CliError, exits } from './cli-error.ts'
import type { PostgresPlace } from './open-store.ts'

/** Lifecycles that belong together, with their drivers under the same names. */
export interface Module {
  readonly lifecycles: Readonly<Record<string, AnyLifecycle>>
  readonly drivers?: Readonly<Record<string, object>> | undefined
  /** What `homeostat simulate` asks for where a schema alone says too little. */
  readonly inventions?: Inventions | undefined
}

/** A module whose drivers are checked against its lifecycles at compile time. */
export const defineModule = <const Set extends LifecycleSet>(module: {
  readonly lifecycles: Set
  readonly drivers?: { readonly [K in keyof Set]?: Driver<Set[K]> }
  readonly inventions?: Inventions
}): Module => module as Module

export interface Config {
  readonly modules: readonly Module[]
  /**
   * A SQLite file, or a PostgreSQL database: its address (`postgres://...`), or `{ url, schema, durability, ... }`. Left out: `homeostat.db` in
   * the data folder.
   */
  readonly store?: string | PostgresPlace | undefined
  /** Default 127.0.0.1. */
  readonly host?: string | undefined
  /** Default 4600. */
  readonly port?: number | undefined
  readonly auth?:
    | {
        /** open: everybody who reaches the port may do everything; only on loopback. Default: closed. */
        readonly access?: 'open' | 'closed' | undefined
        /** It is reached over TLS. */
        readonly secure?: boolean | undefined
        /** Addresses of proxies whose word on the client's address counts. */
        readonly proxies?: readonly string[] | undefined
        /** People sign in by this OIDC issuer, beside local accounts. */
        readonly oidc?: OidcOptions | undefined
      }
    | undefined
  /**
   * Only these are called, for webhooks and the issuer: hosts (`hooks.example.com`, `*.example.com`), addresses, networks (`203.0.113.0/24`).
   * Left out: whatever the other rules leave. Remote drivers have a list of their own (`allow`).
   */
  readonly allowCalls?: readonly string[] | undefined
  /** How webhooks are sent; `privateAddresses` lets them go to this machine and to private networks. */
  readonly webhooks?: Omit<WebhookSettings, 'sends'> | undefined
  /** Requests that one token, account or address may send. Default: 10,000 a second, 20,000 at once. */
  readonly rate?: { readonly perSecond: number; readonly burst: number } | undefined
  /** Connections of clients that may be open at once. Default: 12,000. */
  readonly connections?: number | undefined
  readonly engine?: Partial<EngineSettings> | undefined
  /** The worlds that drivers act upon: the development mode can break them and show what is really there. */
  readonly worlds?: readonly World[] | undefined
  /** What `--demo` brings to life. It ends when the signal fires. */
  readonly demo?: ((engine: Engine, signal: AbortSignal) => Promise<void>) | undefined
}

/** What a config that is a function is told. */
export interface ConfigContext {
  /** The data folder, absolute. */
  readonly data: string
  readonly isDev: boolean
}

type Given = Config | ((context: ConfigContext) => Config | Promise<Config>)

/** Only says what the type is, so that an editor helps. */
export const defineConfig = (config: Given): Given => config

const configName = 'homeostat.config.ts'

/** A rhythm of nothing would never rest; others of these figures may be 0. */
const rhythms: readonly string[] = [
  'leaseMs',
  'concurrency',
  'runs',
  'batchLimit',
  'pollMs',
  'lookMs',
  'healEveryMs',
  'sweepEveryMs',
  'inventoryEveryMs',
] satisfies (keyof EngineSettings)[]

const setting = (name: string, byDefault: unknown): z.ZodType => {
  if (typeof byDefault === 'string') return z.string()
  if (typeof byDefault === 'boolean') return z.boolean()
  if (typeof byDefault !== 'number') return z.record(z.string(), z.any())
  return rhythms.includes(name) ? z.number().positive() : z.number().min(0)
}
const settings = Object.fromEntries(
  Object.entries(defaultSettings).map(([name, byDefault]) => [name, setting(name, byDefault)]),
)

/** Of the parts that can be wrong without a type error: a config is written by hand. */
const shape = z.strictObject({
  modules: z
    .array(
      z.strictObject({
        lifecycles: z.record(z.string(), z.custom(isLifecycle)),
        drivers: z.any().optional(),
        inventions: z.any().optional(),
      }),
    )
    .min(1),
  store: z
    .union([
      z.string().min(1),
      z.strictObject({
        url: z.string().min(1),
        schema: z.string().min(1).optional(),
        role: z.string().min(1).optional(),
        durability: z.enum(['none', 'disk', 'standby']).optional(),
        commits: z.number().int().positive().optional(),
        patienceMs: z.number().positive().optional(),
        tls: z.any().optional(),
      }),
    ])
    .optional(),
  host: z.string().min(1).optional(),
  port: z.number().int().min(0).max(65_535).optional(),
  auth: z
    .strictObject({
      access: z.enum(['open', 'closed']).optional(),
      secure: z.boolean().optional(),
      proxies: z.array(z.string()).optional(),
      oidc: z
        .strictObject({
          issuer: z.url(),
          clientId: z.string().min(1),
          clientSecret: z.string().min(1).optional(),
          publicUrl: z.url(),
          scopes: z.array(z.string()).optional(),
          rolesClaim: z.string().min(1).optional(),
          roles: z.record(z.string(), z.enum(['viewer', 'operator', 'admin'])),
          tenantClaim: z.string().min(1).optional(),
          privateAddresses: z.boolean().optional(),
        })
        .optional(),
    })
    .optional(),
  allowCalls: z.array(z.string().min(1)).optional(),
  webhooks: z
    .strictObject({
      tries: z.number().int().positive(),
      firstWaitMs: z.number().positive(),
      patienceMs: z.number().positive(),
      privateAddresses: z.boolean(),
    })
    .partial()
    .optional(),
  rate: z.strictObject({ perSecond: z.number().positive(), burst: z.number().min(1) }).optional(),
  connections: z.number().int().positive().optional(),
  engine: z.strictObject(settings).partial().optional(),
  worlds: z.array(z.any()).optional(),
  demo: z.any().optional(),
})

/** What a config may say: docs/cli.md tells what each is for. */
export const configFields: readonly string[] = Object.keys(shape.shape)

function isLifecycle(value: unknown): boolean {
  return typeof value === 'object' && value !== null && 'resource' in value && 'body' in value
}

/** The nearest config in this folder or one above it; null when there is none. */
function findConfig(from: string): string | null {
  for (let folder = resolve(from); ; folder = dirname(folder)) {
    const file = join(folder, configName)
    if (existsSync(file)) return file
    if (dirname(folder) === folder) return null
  }
}

export async function loadConfig(given: string | undefined, context: ConfigContext): Promise<Config> {
  const file = given === undefined ? findConfig('.') : resolve(given)
  if (file === null || !existsSync(file)) {
    const where = given === undefined ? `no ${configName} in this folder or one above it` : `${given} is not there`
    throw new CliError(exits.usage, `There is nothing to serve: ${where}.`, 'Begin a project with: homeostat init')
  }
  const config = await configIn(file, context)
  const judged = shape.safeParse(config)
  if (!judged.success) {
    const faults = judged.error.issues.map(({ path, message }) => `${path.join('.') || 'default export'}: ${message}`)
    throw new CliError(exits.usage, `${file} is not a config:`, faults.join('\n'))
  }
  return config as Config
}

async function configIn(file: string, context: ConfigContext): Promise<unknown> {
  try {
    const { default: found } = (await import(pathToFileURL(file).href)) as { readonly default?: Given }
    return typeof found === 'function' ? await found(context) : found
  } catch (error) {
    if (error instanceof CliError || error instanceof HomeostatError) throw error
    // It is the code of somebody else: what it says and where, without our own places.
    const [where] = /file:\/\/[^\s)]+:\d+/.exec(error instanceof Error ? (error.stack ?? '') : '') ?? []
    throw new CliError(
      exits.usage,
      `${file} cannot be loaded: ${messageOf(error)}`,
      where?.includes('/src/cli/') ? '' : where,
    )
  }
}

/** All modules as one set: a name that two modules use is told apart by the type of its resource. */
export function togetherOf({ modules }: Config): {
  readonly lifecycles: readonly AnyLifecycle[]
  readonly drivers: Readonly<Record<string, object>>
} {
  const drivers: Record<string, object> = {}
  const lifecycles = modules.flatMap((module) => Object.values(module.lifecycles))
  for (const module of modules)
    for (const [name, lifecycle] of Object.entries(module.lifecycles)) {
      const driver = module.drivers?.[name] ?? module.drivers?.[typeOf(lifecycle)]
      if (driver !== undefined) drivers[typeOf(lifecycle)] = driver
    }
  return { lifecycles, drivers }
}
