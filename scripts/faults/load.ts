// The mixed operations of the load: what a user of each catalogue asks for next. Refusals belong to it: much is asked of what is busy.
import type { Random } from '../../src/base/random.ts'
import type { Request } from './messages.ts'
import { nodes } from './systems.ts'

export type Wish = Omit<Request, 'key'>

/** One user: what it has made, and what it asks for next. */
export interface User {
  next(): Wish
}

type Made = { readonly type: string; readonly id: string }

const oneOf = <T>(random: Random, list: readonly T[]): T => list[random.below(list.length)]!

abstract class Operator implements User {
  protected readonly random: Random
  protected readonly name: string
  protected made: Made[] = []
  #count = 0

  constructor(random: Random, name: string) {
    this.random = random
    this.name = name
  }

  abstract next(): Wish

  protected newId(kind: string): string {
    return `${this.name}-${kind}${++this.#count}`
  }

  protected create(wish: Omit<Wish, 'operation' | 'id'> & { operation?: string }, kind: string): Wish {
    const id = this.newId(kind)
    // Of older ones it asks no more.
    this.made = [...this.made, { type: wish.type, id }].slice(-6)
    return { operation: 'create', ...wish, id }
  }

  protected some(type: string): Made | undefined {
    const all = this.made.filter((one) => one.type === type)
    return all.length === 0 ? undefined : oneOf(this.random, all)
  }
}

class OpensdsUser extends Operator {
  next(): Wish {
    const type = 'opensds.volume'
    const volume = this.some(type)
    const die = this.random.below(12)
    if (volume === undefined || die < 2) {
      const multiAttach = this.random.below(2) === 0
      return this.create({ type, create: { properties: { size: 1, multiAttach } } }, 'v')
    }
    const parent = volume
    if (die < 4) {
      const properties = { hostId: `h${this.random.below(5)}` }
      return this.create({ type: 'opensds.attachment', create: { properties, parent } }, 'a')
    }
    if (die < 5) return this.create({ type: 'opensds.snapshot', create: { properties: {}, parent } }, 's')
    const attachment = this.some('opensds.attachment')
    if (die < 7 && attachment !== undefined) return { ...attachment, operation: 'delete' }
    const snapshot = this.some('opensds.snapshot')
    if (die < 8 && snapshot !== undefined) return { ...snapshot, operation: 'delete' }
    if (die < 10) return { ...volume, operation: 'extend', input: { size: 2 + this.random.below(20) } }
    return { ...volume, operation: 'delete' }
  }
}

class OvcUser extends Operator {
  next(): Wish {
    const machine = this.some('ovc.machine')
    const disk = this.some('ovc.disk')
    const die = this.random.below(12)
    if (machine === undefined || die === 0) {
      const parent = { type: 'ovc.cloudspace', id: oneOf(this.random, spaces) }
      const links = { node: oneOf(this.random, nodes) }
      const create = { properties: { verified: true, memory: 512 }, parent, links }
      return this.create({ type: 'ovc.machine', create }, 'm')
    }
    if (die < 3) return { ...machine, operation: 'deploy' }
    if (die < 6) {
      const operation = oneOf(this.random, ['stop', 'start', 'pause', 'resume', 'reboot', 'reset'])
      return { ...machine, operation, ...(operation === 'stop' ? { input: {} } : {}) }
    }
    if (disk === undefined || die < 8) {
      const parent = { type: 'ovc.account', id: 'account' }
      const isOn = this.random.below(2) === 0
      const create = { properties: { size: 2 }, parent, ...(isOn ? { links: { machine: machine.id } } : {}) }
      return this.create({ type: 'ovc.disk', operation: isOn ? 'createOn' : 'create', create }, 'd')
    }
    if (die < 9) return { ...disk, operation: 'attach', input: { machine: machine.id } }
    if (die < 10) return { ...disk, operation: oneOf(this.random, ['delete', 'destroy']) }
    if (die < 11) return { ...disk, operation: 'resize', input: { size: 3 + this.random.below(9) } }
    return { ...machine, operation: oneOf(this.random, ['delete', 'destroy']) }
  }
}

class SaharaUser extends Operator {
  next(): Wish {
    const type = 'sahara.cluster'
    const cluster = this.some(type)
    const counts = { w: 1 + this.random.below(2), m: this.random.below(2) }
    const die = this.random.below(10)
    if (cluster === undefined || die < 2) return this.create({ type, create: { properties: { counts } } }, 'c')
    if (die < 7) return { ...cluster, operation: 'scale', input: { counts } }
    return { ...cluster, operation: 'delete' }
  }
}

class BlazarUser extends Operator {
  next(): Wish {
    const type = 'blazar.lease'
    const lease = this.some(type)
    const die = this.random.below(10)
    if (lease === undefined || die < 3) {
      const startDate = Date.now() + 300 + this.random.below(1_200)
      const endDate = startDate + (this.random.below(2) === 0 ? 86_400_000 : 500 + this.random.below(1_500))
      const reservations = Array.from({ length: 1 + this.random.below(2) }, () => ({ resourceType: 'host' }))
      const input = { reservations, minutesBeforeEndLease: 0 }
      return this.create({ type, create: { properties: { startDate, endDate } }, input }, 'l')
    }
    if (die < 5) return { ...lease, operation: 'delete' }
    if (die < 7) return { ...lease, operation: 'update', input: { endDate: Date.now() + 86_400_000 } }
    return { ...lease, operation: oneOf(this.random, ['start', 'end']) }
  }
}

const kinds = [OpensdsUser, OvcUser, SaharaUser, BlazarUser, OpensdsUser]
const spaces = ['space1', 'space2'] as const

export const userOf = (random: Random, index: number): User => new kinds[index % kinds.length]!(random, `u${index}`)

/** What must be there before the users come, each after the one before has settled. */
export const ground: readonly Wish[] = [
  ...nodes.map((id) => ({ type: 'ovc.node', id, operation: 'create', create: { properties: {} } })),
  { type: 'ovc.account', id: 'account', operation: 'create', create: { properties: { enabled: true } } },
  ...spaces.flatMap((id) => [
    {
      type: 'ovc.cloudspace',
      id,
      operation: 'create',
      create: { properties: { enabled: true }, parent: { type: 'ovc.account', id: 'account' } },
    },
    { type: 'ovc.cloudspace', id, operation: 'deploy' },
  ]),
]
