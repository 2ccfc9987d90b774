import { createServer } from 'node:net';
import type { Host } from '../host.ts';
import { createHttpServer, listen } from '../http/server.ts';
import { Connections } from '../http/connections/connections.ts';
import { openControlSocket } from '../workers/control-socket.ts';
import { readForwarded } from '../workers/forwarded-header.ts';
import type { PrimaryTeam } from '../workers/team.ts';
import { type Beside, type Listeners, openListeners } from './open-listeners.ts';

/** The private socket, the workers, and the listener of the control plane where it has one of its own. Workers listen for clients. */
export async function openPrimaryListeners(
  host: Host,
  team: PrimaryTeam,
): Promise<{ readonly listeners: Listeners; readonly beside: Beside }> {
  const port = await tryPort(host);
  const { app, ...listeners } = await openListeners(host, { which: 'admin' });
  // Connections of workers are in no figure of clients.
  const server = createHttpServer(app.forwarded(readForwarded), {
    services: host.services,
    activity: host.activity,
    connections: new Connections(),
  });
  server.keepAliveTimeout = 0;
  const socket = await openControlSocket(server, folderOf(host));
  const close = (): void => socket.close();
  try {
    await team.begin({
      log: host.log,
      counters: host.counters,
      giveUp: () => host.giveUp?.(),
      given: (number) => ({
        number,
        size: team.size,
        variables: host.variables,
        masterKey: host.masterKey,
        port,
        socketPath: socket.path,
      }),
    });
  } catch (error) {
    team.killAll();
    listeners.close();
    close();
    throw error;
  }
  return {
    listeners: { ...listeners, port },
    beside: { drain: (limitMs) => team.drain(limitMs), close },
  };
}

const folderOf = ({ variables, temporaryFolder }: Host): string => variables['XDG_RUNTIME_DIR'] || temporaryFolder;

/** A port that another program has is refused before there are workers, whose sockets would share it in silence. Gives the number that 0 stands for. */
async function tryPort({ settings: { port, listeners } }: Host): Promise<number> {
  const server = createServer();
  const found = await listen(server, port, { address: listeners.address });
  await new Promise<void>((resolve) => {
    server.close(() => resolve());
  });
  return found;
}
