import { Buffer } from 'node:buffer';
import { bearer, defineProvider, type UnaryReply } from 'gw/contract';
import { commonChat, commonTranslators, listedModels, objectOf } from 'gw/common-wire';
import { closedBody } from './request.ts';
import { editStream, withOneMessage } from './server-tools.ts';

/** The request schema is closed: what is not in it is answered with 422. Source: Mistral API reference, "Chat", 2026-11-21. */
const params = {
  seed: 'translate',
  max_completion_tokens: 'unsupported',
  logprobs: 'unsupported',
  top_logprobs: 'unsupported',
  user: 'unsupported',
  logit_bias: 'unsupported',
} as const;

const chat = commonChat(params, {
  ceiling: 'max_tokens',
  renames: { seed: 'random_seed' },
  streamOptions: false,
  adjust: (body, notes, { facts }) =>
    closedBody(body, notes, { reported: Object.keys(params), thinks: facts?.thoughts_back === 'parts' }),
  editStream,
});

/** Speech comes as JSON. Source: Mistral documentation, "Speech generation", 2026-11-21. */
function readAudio(reply: UnaryReply): Uint8Array {
  const { audio_data: audio } = objectOf(reply);
  if (typeof audio !== 'string' || audio === '') throw new Error('the answer holds no audio');
  return Buffer.from(audio, 'base64');
}

/**
 * Common wire with names of its own, and a closed schema: turns and fields are sent as it has them (`request.ts`).
 * `stream_options` and reasoning of earlier turns are refused with 422; streams bring usage unasked. Source:
 * openai/openai-agents-python issue 442, 2025-04-05, and charmbracelet/crush issue 1590, 2025-12-10.
 */
export default defineProvider({
  name: 'mistral',
  wire: 'common',
  connection: {
    env: ['MISTRAL_API_KEY'],
    baseUrl: 'https://api.mistral.ai/v1',
    authorize: bearer('MISTRAL_API_KEY'),
  },
  params,
  // Source: semantic conventions 1.45 of OpenTelemetry, 2026-11-23.
  names: { telemetry: 'mistral_ai' },
  bannerPlace: 5,
  // Source: docs.litellm.ai, "Providers", 2026-11-05; Portkey-AI/gateway, src/globals.ts, 2026-11-22.
  elsewhere: { litellm: { models: ['mistral', 'codestral'] }, portkey: { names: ['mistral-ai'] } },
  translators: {
    chat: {
      ...chat,
      fromUpstream: (reply, call, request) => chat.fromUpstream(withOneMessage(reply, request), call, request),
    },
    ...commonTranslators(['embeddings', 'moderations', 'audio.transcriptions', 'audio.speech'], params, {
      embeddings: { encodingFormat: 'any', renames: { dimensions: 'output_dimension' }, drops: ['input_type'] },
      'audio.speech': { renames: { voice: 'voice_id' }, drops: ['speed'], readAudio },
    }),
  },
  passthrough: true,
  responses: true,
  discovery: listedModels,
});
