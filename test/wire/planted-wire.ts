import { type BuiltinModule, defineBuiltin, ORDER } from '../../host/builtin.ts';
import { type ChatChunk, type ChatReply, type ChatRequest, GatewayError } from '../../host/contract/index.ts';
import { jsonBody } from '../../host/http/surface-route.ts';
import { surfaceBuiltin } from '../../host/surface-builtin.ts';
import { bytesOfText } from '../../host/upstream/sse.ts';
import type { ClientFailure } from '../../host/wire/client-failure.ts';
import type { ClientStream, ClientWire } from '../../host/wire/client-wire.ts';

/** Paths of a second wire, which has nothing in common with the first. */
export const ROOT = '/v1/planted';
export const TYPE = 'text/x-planted';

const shown = ({ status, code, requestId, retryAfterS, message }: ClientFailure): string =>
  `${status} ${code} ${requestId} ${retryAfterS ?? '-'} ${message}`;

/** Numbers its lines, so that what a failed attempt wrote would show. */
class PlantedStream implements ClientStream {
  readonly contentType = TYPE;
  readonly frames = undefined;
  readonly #id: string;
  #lines = 0;

  constructor(id: string) {
    this.#id = id;
  }

  chunk({ choices }: ChatChunk): string {
    const text = choices.map(({ delta }) => delta.content ?? '').join('');
    const opening = this.#lines === 0 ? this.#line(`opens ${this.#id}`) : '';
    return text === '' ? opening : opening + this.#line(text);
  }

  keepAlive(): string {
    return '';
  }

  end(): string {
    return this.#line('closes');
  }

  error(failure: ClientFailure): string {
    return this.#line(`breaks ${shown(failure)}`);
  }

  #line(text: string): string {
    this.#lines += 1;
    return bytesOfText(`${this.#lines} ${text}\n`);
  }
}

const WIRE: ClientWire = {
  error: (failure) => ({ contentType: TYPE, body: shown(failure) }),
  noRoute: (failure) => ({ contentType: TYPE, body: `nowhere ${shown(failure)}` }),
  reply: ({ id, reply }) => ({ id, said: (reply as ChatReply).choices[0]?.message.content }),
  openStream: ({ id }) => new PlantedStream(id),
};

const wire = defineBuiltin({
  name: 'planted wire',
  apply: ({ hooks }) => {
    hooks.clientWires.tap('planted', (wires) => wires.claim(ROOT, WIRE));
    hooks.mount.tap({ name: 'planted', stage: ORDER.listings }, (router) => {
      router.get(`${ROOT}/panic`, () => {
        throw new Error('an unexpected error');
      });
    });
  },
});

const surface = surfaceBuiltin({
  surface: 'chat',
  path: `${ROOT}/chat`,
  read: jsonBody((body) => {
    const { model = 'm', say } = body;
    if (typeof model !== 'string' || typeof say !== 'string')
      throw new GatewayError('invalid_request', 'model and say must be texts');
    const request: ChatRequest = { model, messages: [{ role: 'user', content: say }] };
    return { request, streaming: body['streaming'] === true };
  }),
});

export const PLANTED: readonly BuiltinModule[] = [wire, surface];
