// Two lifecycles that name each other compile and are typed: why a type of resource is declared before its lifecycle.
import { resourceType } from 'homeostat'
import { z } from 'zod'

const disk = resourceType('disk', { properties: z.object({}), statuses: { stable: { Free: '', Used: '' }, transitional: { Moving: '' } } })
const machine = resourceType('machine', { properties: z.object({}), statuses: { stable: { On: '' }, transitional: { Stopping: '' } } })

export const disks = disk.relations({ machine: { link: machine } }).lifecycle({
  heal: { Moving: [{ when: { machine: ['On'] }, status: 'Used' }, { status: 'Free' }] },
})
export const machines = machine.relations({ disks: { linkedBy: disk, as: 'machine' } }).lifecycle({
  heal: { Stopping: { status: 'On', move: { disks: { from: ['Moving'], to: 'Free' } } } },
})
export const wrong = disk.relations({ machine: { link: machine } }).lifecycle({
  // @ts-expect-error the other's status is typed, too
  heal: { Moving: [{ when: { machine: ['Free'] }, status: 'Used' }, { status: 'Free' }] },
})
