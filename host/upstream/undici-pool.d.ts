/** The pool alone: the package's entry also loads fetch, WebSocket and caches, a twentieth of a second of every start. */
declare module 'undici/lib/dispatcher/pool.js' {
  import { Pool } from 'undici';

  export default Pool;
}
