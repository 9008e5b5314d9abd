// The client of `pg` by itself: its package declares types only for its index.
declare module 'pg/lib/client.js' {
  import { Client } from 'pg'
  export default Client
}
