import type { IncomingMessage } from 'node:http';
import { defineBuiltin } from '../../../host/builtin.ts';
import { lateFile } from '../../../host/contract/late.ts';
import { jsonBody } from '../../../host/http/surface-route.ts';
import { surfaceBuiltin } from '../../../host/surface-builtin.ts';
import { countingWith } from '../counting.ts';
import { MESSAGES_WIRE } from './wire.ts';
import type * as Read from './read.ts';

const { readRequest } = lateFile<typeof Read>(import.meta, './read.ts')(['readRequest']);

/** An empty one says nothing. */
const saysVersion = ({ 'anthropic-version': version }: IncomingMessage['headers']): boolean =>
  version !== undefined && version !== '';

const surface = surfaceBuiltin({
  surface: 'messages',
  path: '/v1/messages',
  read: jsonBody((body, request, bytes) => readRequest(body, request, bytes, 'messages')),
});

const counting = surfaceBuiltin({
  surface: 'messages',
  path: '/v1/messages/count_tokens',
  read: jsonBody((body, request, bytes) => readRequest(body, request, bytes, 'count_tokens')),
  serving: countingWith((tokens) => ({ input_tokens: tokens })),
});

/** `POST /v1/messages`, whole or as a stream of events, and what a message counts. */
export default defineBuiltin({
  name: 'messages',
  apply: (host) => {
    host.hooks.clientWires.tap('messages', (wires) => {
      wires.claim('/v1/messages', MESSAGES_WIRE);
      wires.claim('/v1/models', MESSAGES_WIRE, saysVersion);
      wires.claim('/v1/files', MESSAGES_WIRE, saysVersion);
    });
    surface.apply(host);
    counting.apply(host);
  },
});
