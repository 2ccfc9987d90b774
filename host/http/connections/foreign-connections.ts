import { Connections } from './connections.ts';

/** Connections of a server that is not the gateway's: whose they are counts them. */
export class ForeignConnections extends Connections {
  override watch(): void {}
  override begin(): void {}
  override end(): void {}
  override hijack(): void {}
}
