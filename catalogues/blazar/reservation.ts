// A reservation: moved only by its lease (spec 1.3).
import { lease, reservation } from './resource-types.ts'

export const reservations = reservation.relations({ lease: { parent: lease } }).lifecycle({
  // table 1.3
  begins: ['pending'],
  moves: [
    { from: ['pending'], to: 'active', by: 'lease' },
    { from: ['pending', 'active'], to: 'error', by: 'lease' },
    { from: ['error'], to: 'error', by: 'lease' },
    { from: ['pending', 'active', 'error'], to: 'deleted', by: 'lease' },
    { from: ['*'], to: 'gone', by: 'lease' },
  ],
  heal: {},
})
