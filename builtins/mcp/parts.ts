/** What is loaded once a configuration names a tool server. */
export { Connections } from './connections.ts';
export { RemoteConnections } from './remote-connections.ts';
export { ConfiguredServers } from './configured-servers.ts';
export { tapLoop } from './loop/loop.ts';
