// Sahara: clusters and their instances. Declared with the public language alone.
import { clusters } from './cluster.ts'
import { instances } from './instance.ts'

export { clusters, instances }

/** The lifecycles of the catalogue by the names of their resources. */
export const sahara = { cluster: clusters, instance: instances }
