/** The pool alone: the package's entry also loads fetch, WebSocket and caches, a twentieth of a second of every start. */
declare module 'undici/lib/dispatcher/pool.js' {
  import { Pool } from 'undici';

  export default Pool;
}

/** Makes the sockets of a pool. */
declare module 'undici/lib/core/connect.js' {
  import type { Socket } from 'node:net';
  import type { buildConnector } from 'undici';

  /** Returns the socket that is connecting; the callback comes later, once. */
  type Connect = (options: buildConnector.Options, callback: buildConnector.Callback) => Socket;

  export default function build(options: buildConnector.BuildOptions): Connect;
}

/** What undici keeps its parser under, on each socket. */
declare module 'undici/lib/core/symbols.js' {
  const symbols: { readonly kParser: unique symbol };

  export default symbols;
}
