import { bearer, type ChatTranslator, defineProvider } from 'gw/contract';
import { commonChat } from 'gw/common-wire';
import { legacyChat, LEGACY_PARAMS } from './legacy.ts';

const isJamba = (model: string): boolean => /jamba/i.test(model);

const jamba = commonChat({}, { drops: ['web_search_options'] });

/** Jamba models speak the common wire, older ones complete a text. */
const chat: ChatTranslator = {
  toUpstream: (request, call) => (isJamba(call.model) ? jamba : legacyChat).toUpstream(request, call),
  fromUpstream: (reply, call, request) => (isJamba(call.model) ? jamba : legacyChat).fromUpstream(reply, call, request),
  openStream: 'common',
};

/** Common wire, and text completion for models before Jamba. See docs/providers.md#what-differs. */
export default defineProvider({
  name: 'ai21',
  wire: 'common',
  connection: {
    env: ['AI21_API_KEY'],
    baseUrl: 'https://api.ai21.com/studio/v1',
    authorize: bearer('AI21_API_KEY'),
  },
  params: {},
  paramsFor: (model) => (isJamba(model) ? {} : LEGACY_PARAMS),
  // Source: docs.litellm.ai, "Providers", 2026-11-05.
  elsewhere: { litellm: { names: ['ai21_chat'] } },
  translators: { chat },
  passthrough: true,
  responses: true,
});
