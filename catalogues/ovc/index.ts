// OpenvCloud: accounts, cloudspaces, machines, disks, images, nodes with their stacks.
// Declared with the public language alone.
import { accounts } from './account.ts'
import { cloudspaces } from './cloudspace.ts'
import { disks } from './disk.ts'
import { images } from './image.ts'
import { machines } from './machine.ts'
import { nodes, stacks } from './node.ts'

export { accounts, cloudspaces, machines, disks, images, nodes, stacks }

/** The lifecycles of the catalogue by the names of their resources. */
export const ovc = {
  account: accounts,
  cloudspace: cloudspaces,
  machine: machines,
  disk: disks,
  image: images,
  node: nodes,
  stack: stacks,
}
