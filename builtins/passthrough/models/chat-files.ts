import {
  type ChatRequest,
  type Fields,
  GatewayError,
  isFields,
  SURFACE_NAMES,
  SURFACES,
} from '../../../host/contract/index.ts';
import { defineBuiltin, ORDER } from '../../../host/builtin.ts';
import { tapEventual } from '../../../host/pipeline/eventual.ts';
import type { LiveExchange } from '../../../host/pipeline/live-exchange.ts';
import type { Owners } from '../../../host/stores/owners.ts';
import { foreignIds, isBound } from '../ownership.ts';

/** With `files.bind_owner`, a chat that names another credential's file is refused before any plugin runs, as if there were no such file. */
export default defineBuiltin({
  name: 'chat-files',
  apply: ({ hooks }) => {
    hooks.assemble.tapPromise('chat-files', async ({ hooks: pipeline, config }, host) => {
      if (!isBound('file', config)) return;
      const owners = host?.stores.owners;
      for (const surface of SURFACE_NAMES) {
        if (SURFACES[surface].isChat)
          tapEventual(
            pipeline.beforeRequest[surface],
            { name: 'chat-files', stage: ORDER.owners },
            (exchange) => owners && refusal(exchange, owners.value),
          );
      }
    });
  },
});

function refusal({ request, principal }: LiveExchange, owners: Owners): Promise<GatewayError | undefined> | undefined {
  const ids = filesOf(request as ChatRequest);
  if (ids.length === 0) return undefined;
  return foreignIds(owners, 'file', ids, principal?.id ?? '').then(({ size }) =>
    size > 0 ? new GatewayError('resource_not_found', 'the file does not exist') : undefined,
  );
}

/** Ids of the files that the parts of the messages name. */
function filesOf({ messages }: ChatRequest): readonly string[] {
  return messages.flatMap(({ content }) => (Array.isArray(content) ? content.flatMap(fileOf) : []));
}

function fileOf({ file }: Readonly<Fields>): readonly string[] {
  const id = isFields(file) ? file['file_id'] : undefined;
  return typeof id === 'string' ? [id] : [];
}
