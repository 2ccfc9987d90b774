import { deepFrozen } from '../common/deep-frozen.ts';
import { errorMessage } from '../common/error-message.ts';
import { type CallInfo, GatewayError, type TranslatedSurface, type WireRequest } from '../contract/index.ts';

async function* noBytes(): AsyncGenerator<Uint8Array> {}

/** The smallest valid request of each surface. */
const REQUESTS: Readonly<Record<TranslatedSurface, object>> = {
  chat: { model: 'm', messages: [{ role: 'user', content: 'hi' }] },
  embeddings: { model: 'm', input: 'hi' },
  images: { model: 'm', prompt: 'hi' },
  'images.edits': {
    model: 'm',
    prompt: 'hi',
    form: [{ name: 'image', file: { filename: 'a.png', bytes: 0, open: noBytes } }],
  },
  rerank: { model: 'm', query: 'hi', documents: ['hi'] },
  moderations: { model: 'm', input: 'hi' },
  'audio.transcriptions': { model: 'm', file: { filename: 'a.wav', bytes: 0, open: noBytes } },
  'audio.translations': { model: 'm', file: { filename: 'a.wav', bytes: 0, open: noBytes } },
  'audio.speech': { model: 'm', input: 'hi', voice: 'v' },
};

/** A call such as a translator gets when it serves. */
export const CANNED_CALL: CallInfo = {
  model: 'm',
  stream: false,
  root: 'http://localhost',
  credentials: {},
  exchangeId: '0'.repeat(32),
  signal: AbortSignal.any([]),
  wait: async () => {},
};

/** Runs a translator on its surface's smallest request; says what is wrong, or nothing. A refusal as such is not wrong. */
export function translatorProblem(surface: string, translator: unknown): string | undefined {
  const request = REQUESTS[surface as TranslatedSurface] as object | undefined;
  const { toUpstream } = translator as { toUpstream?: (request: object, call: CallInfo) => WireRequest };
  if (!request || typeof toUpstream !== 'function') return undefined; // the shape rule reports it
  try {
    const wire: unknown = toUpstream(deepFrozen(request), CANNED_CALL);
    if (wire instanceof Promise) {
      wire.catch(() => {}); // the module is refused, however the promise ends
      return 'translators are synchronous, this one returns a promise';
    }
    const path = (wire as WireRequest | undefined)?.path;
    return typeof path === 'string' ? undefined : 'it returns no path';
  } catch (error) {
    if (error instanceof GatewayError) return undefined; // a refusal: model "m" need not exist
    return errorMessage(error);
  }
}
