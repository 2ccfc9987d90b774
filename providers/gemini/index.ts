import { defineProvider, headerKey } from 'gw/contract';
import { googleFault } from '../_common/google/faults.ts';
import { embeddings } from './embeddings.ts';
import { images } from './images.ts';
import { toUpstream } from './request.ts';
import { fromUpstream } from './response.ts';
import { sameWire } from './same-wire.ts';
import { openStream } from './stream.ts';

/** Native wire, `generateContent`. Source: providers reference 5.2 and 7. */
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
  translators: { chat: { toUpstream, fromUpstream, openStream }, embeddings, images },
  sameWire: { gemini: sameWire },
  imageFormats: ['b64_json'],
  toFault: googleFault,
});
