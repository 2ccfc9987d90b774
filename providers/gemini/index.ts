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
    keyShapes: [{ shape: 'AIza[A-Za-z0-9_-]{35}', shownAs: 'GOOGLE_KEY' }],
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
  // See docs/reference/ingress.md#what-is-lost and docs/reference/ingress.md#reasoning-of-other-vendors.
  chatTraits: { history: { marks: 'unasked', thoughts: ['google-gemini-v1'] } },
  tierHeader: 'x-gemini-service-tier', // Source: ai.google.dev, "Priority inference", 2026-11-27.
  // Source: semantic conventions 1.45 of OpenTelemetry, 2026-11-23.
  names: { telemetry: 'gcp.gemini' },
  bannerPlace: 3,
  // Source: docs.litellm.ai, "Providers", 2026-11-05; Portkey-AI/gateway, src/globals.ts, 2026-11-22.
  elsewhere: { litellm: { models: ['gemini'] }, portkey: { names: ['google'] } },
  translators: {
    chat: late('chat', ['toUpstream', 'fromUpstream', 'openStream']),
    embeddings: late('embeddings', ['toUpstream', 'fromUpstream']),
    images: late('images', ['toUpstream', 'fromUpstream']),
  },
  sameWire: { gemini: late('sameWire', ['toUpstream', 'countTokens']) },
  imageFormats: ['b64_json'],
  toFault: googleFault,
});
