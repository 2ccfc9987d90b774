import { type Authorize, defineProvider } from 'gw/contract';
import { listedModels } from 'gw/common-wire';
import {
  BETA_HEADER,
  CLAUDE_CHATS,
  DIRECT,
  MESSAGES_PARAMS,
  messagesFault,
  messagesSameWire,
  openMessagesStream,
  readMessage,
  toMessagesBody,
  VERSION_HEADER,
} from '../_common/anthropic/index.ts';

/** A client of this wire says the version that its body keeps to. Servers that speak it too may want the key as a bearer token. */
const authorize: Authorize = (request, credentials) => {
  const fixed = { [VERSION_HEADER]: request.headers[VERSION_HEADER] ?? '2023-06-01' };
  const { ANTHROPIC_API_KEY: key = '', auth } = credentials;
  return auth === 'bearer' ? { ...fixed, authorization: `Bearer ${key}` } : { ...fixed, 'x-api-key': key };
};

/** The Messages API. Prompt tokens arrive with a stream's first event, completion tokens with its last but one. See docs/providers.md#claude-models. */
export default defineProvider({
  name: 'anthropic',
  wire: 'native',
  connection: {
    env: ['ANTHROPIC_API_KEY'],
    baseUrl: 'https://api.anthropic.com/v1',
    authorize,
    settings: { auth: { variable: 'auth', values: ['x-api-key', 'bearer'] } },
    keyShapes: [{ shape: 'sk-ant-[A-Za-z0-9_-]{20,}', shownAs: 'ANTHROPIC_KEY' }],
  },
  params: MESSAGES_PARAMS,
  chatTraits: CLAUDE_CHATS,
  bannerPlace: 2,
  // Source: docs.litellm.ai, "Providers", 2026-11-05.
  elsewhere: { litellm: { names: ['anthropic_text'], models: ['claude'] } },
  translators: {
    chat: {
      toUpstream: (request, call) => ({ path: '/messages', ...toMessagesBody(request, call, DIRECT) }),
      fromUpstream: (reply, call) => readMessage(reply, call, DIRECT),
      openStream: (call) => openMessagesStream(call, DIRECT),
    },
  },
  sameWire: { messages: messagesSameWire },
  toFault: messagesFault,
  clientHeaders: [BETA_HEADER, VERSION_HEADER],
  discovery: { path: '/models?limit=1000', read: (body) => listedModels.read(body) },
});
