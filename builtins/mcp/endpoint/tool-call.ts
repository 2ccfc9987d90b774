import type { ServerResponse } from 'node:http';
import { CredentialEnded } from '../../../host/stores/credential-ended.ts';
import { GatewayError, type ToolReply, type ToolRequest } from '../../../host/contract/index.ts';
import type { Host } from '../../../host/host.ts';
import { attributionHeaders } from '../../../host/http/attribution.ts';
import type { FlatHeaders } from '../../../host/http/reply.ts';
import { answerExchange } from '../../../host/http/surface-route.ts';
import type { LiveExchange } from '../../../host/pipeline/live-exchange.ts';
import type { RunningGeneration } from '../../../host/pipeline/running-generation.ts';
import { run } from '../../../host/pipeline/run.ts';
import type { ToolFailure } from '../../../host/pipeline/tool-servers.ts';
import { findTool } from './offered.ts';

/** How a call ends, as its client is answered. */
interface Ends {
  answered(result: object, headers: FlatHeaders): void;
  /** The gateway itself failed: what may be said of it. */
  failed(message: string): void;
  /** No server has the tool any more. */
  vanished(): void;
}

/**
 * Calls a tool as an exchange of its own, on the surface `mcp`: plugins see the arguments before and the answer after, a budget and
 * the request's time limit hold, and a client that leaves ends the call. What is refused is a result that says so: the model
 * behind the client reads it.
 */
export function callTool(host: Host, request: ToolRequest, response: ServerResponse, ends: Ends): Promise<void> {
  let refused: GatewayError | undefined;
  return answerExchange(host, 'mcp', { request, streaming: false }, response, {
    run: async (exchange, generation) => {
      try {
        await run(exchange, generation, () => toolReply(exchange, generation));
      } catch (error) {
        if (!(error instanceof GatewayError) || error.code === 'client_canceled' || error instanceof CredentialEnded)
          throw error;
        refused = error;
      }
      return undefined;
    },
    send: (_read, exchange) => {
      const headers = attributionHeaders(exchange, host.redactor);
      if (!refused) ends.answered(shown(exchange.reply as ToolReply), headers);
      else if (refused.code === 'resource_not_found') ends.vanished();
      else if (refused.code === 'gateway_timeout')
        ends.answered(errorResult('the tool call timed out' satisfies ToolFailure), headers);
      else if (exchange.plugins.rejectedBy === undefined || refused.code === 'plugin_error')
        ends.failed(refused.message);
      else ends.answered(errorResult(host.redactor.excerpt(refused.message, refused.messageLimit)), headers);
      return undefined;
    },
  });
}

/** The tool is looked for again: since it was found, plugins have run, and the tool may belong to another server now. */
async function toolReply(exchange: LiveExchange, generation: RunningGeneration): Promise<ToolReply> {
  const { name, arguments: given } = exchange.request as ToolRequest;
  const servers = generation.hooks.toolServers.call();
  const outcome =
    findTool(generation, exchange.limits, name) && (await servers?.call({ exchange, name, arguments: given }));
  if (!outcome || outcome.kind === 'unknown')
    throw new GatewayError('resource_not_found', 'no ready tool server has this tool any more');
  return outcome.kind === 'result' ? outcome.result : errorResult(outcome.failure);
}

const errorResult = (text: string): ToolReply => ({ content: [{ type: 'text', text }], isError: true });

/** What goes to the client, and nothing else that a server or a plugin has put there. */
function shown({ content, structuredContent, isError }: ToolReply): object {
  return {
    content,
    ...(structuredContent !== undefined && { structuredContent }),
    ...(isError !== undefined && { isError }),
  };
}
