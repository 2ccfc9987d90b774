import { defineBuiltin } from '../../host/builtin.ts';

/** What a line says of an answer with `isError`: what it says beside that is content, which no line holds. */
const SAYS_SO = 'the tool says that it failed';

/** Log lines and figures of tool servers and of calls of their tools, by models and by clients. See docs/observability.md#log-lines. */
export default defineBuiltin({
  name: 'tool-lines',
  apply: ({ hooks }) => {
    hooks.toolServerTried.tap('tool-lines', ({ server, error }, { counters }) => {
      if (error !== undefined) counters.add('gateway_mcp_server_init_failures_total', { server_name: server });
    });
    // Of the configuration that serves, at each scrape: a server that is gone has no series, and no old one overwrites a new one.
    hooks.gauges.tap('tool-lines', (gauges, { current }) => {
      for (const { name, ready } of current?.hooks.toolServers.call()?.servers() ?? [])
        gauges.set('gateway_mcp_server_up', { server_name: name }, ready ? 1 : 0);
    });
    hooks.assemble.tapPromise('tool-lines', async ({ hooks: pipeline, services: { log, counters } }) => {
      pipeline.toolCalled.tap('tool-lines', ({ exchange, server, tool, startedAt, endedAt, status, error }) => {
        const labels = { server_name: server, tool_name: tool };
        counters.add('gw_mcp_tool_calls_total', { ...labels, status });
        counters.observe('gw_mcp_tool_call_duration_seconds', (endedAt - startedAt) / 1000, labels);
        if (status === 'ok') return;
        const latencyMs = Math.round((endedAt - startedAt) * 1000) / 1000;
        log.warn('mcp tool call failed', {
          server,
          tool,
          latency_ms: latencyMs,
          error: error ?? SAYS_SO,
          trace_id: exchange.id,
        });
      });
    });
  },
});
