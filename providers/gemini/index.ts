import { defineProvider, headerKey, lateFile } from 'gw/contract';
import { googleFault } from '../_common/google/faults.ts';
import type * as Wire from './wire.ts';

const late = lateFile<typeof Wire>(import.meta, './wire.ts');

/** Native wire, `generateContent`. See docs/providers.md#gemini-models. */
export default defineProvider({
  name: 'gemini',
  wire: 'native',
  connection: {
    env: ['GEMINI_API_KEY'],
    baseUrl: 'https://generativelanguage.googleapis.com/v1beta',
    authorize: headerKey('x-goog-api-key', 'GEMINI_API_KEY'), // never in the address
  },
  params: {
    max_completion_tokens: 'unsupported', // the ceiling that counts travels as max_tokens
    response_format: 'translate',
    logprobs: 'translate',
    top_logprobs: 'translate',
    parallel_tool_calls: 'unsupported',
    user: 'unsupported',
    logit_bias: 'unsupported',
  },
  translators: {
    chat: late('chat', ['toUpstream', 'fromUpstream', 'openStream']),
    embeddings: late('embeddings', ['toUpstream', 'fromUpstream']),
    images: late('images', ['toUpstream', 'fromUpstream']),
  },
  sameWire: { gemini: late('sameWire', ['toUpstream', 'countTokens']) },
  imageFormats: ['b64_json'],
  toFault: googleFault,
});
