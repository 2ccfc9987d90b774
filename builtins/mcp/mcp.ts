import { defineBuiltin } from '../../host/builtin.ts';
import type { Connections } from './connections.ts';
import type { RemoteConnections } from './remote-connections.ts';

/**
 * Tool servers: connections to those that the configuration names, and the loop that lets models use their tools. What it takes
 * is loaded with the first configuration that names one, and nothing of it stands in the way of requests while none does.
 */
export default defineBuiltin({
  name: 'mcp',
  apply: ({ hooks }) => {
    let connections: Connections | undefined;
    let remote: RemoteConnections | undefined;
    hooks.close.tapPromise({ name: 'mcp', limitMs: () => CLOSE_LIMIT_MS }, async () => connections?.close());
    hooks.assemble.tapPromise(
      'mcp',
      async ({ config: { mcp_servers: servers, mcp }, hooks: pipeline, carryover, services }, host) => {
        if (servers.length === 0 || !host) return;
        const parts = await import('./parts.ts');
        if (host.team?.role === 'worker') remote ??= new parts.RemoteConnections(host.team.channel);
        else connections ??= new parts.Connections(host);
        const open = remote ?? connections;
        if (!open) return;
        const configured = servers.map((config) => ({ config, connection: open.lease(config, carryover) }));
        const tools = new parts.ConfiguredServers(configured, { hooks: pipeline, clock: services.clock });
        pipeline.toolServers.tap('mcp', () => tools);
        parts.tapLoop({ hooks: pipeline, tools, services, maxRounds: tools.maxRounds }, mcp.stream === true);
      },
    );
  },
});

/** Somewhat more than the servers themselves have, so that what is left of them is still killed. */
const CLOSE_LIMIT_MS = 8000;
