import { type ChatRequest, defineProvider, type WireRequest } from 'gw/contract';
import { commonTranslators } from 'gw/common-wire';
import { ECHO_MODELS } from './models.ts';
import { respond } from './respond.ts';

const common = commonTranslators(['chat'], {}, { chat: { responses: false } });

/**
 * Answers without a network, in the common wire: the last user message comes back, word by word when streamed. The
 * model's name makes it slow or makes it fail; docs/echo.md lists the names.
 */
export default defineProvider({
  name: 'echo',
  wire: 'common',
  offline: true,
  connection: { env: [], baseUrl: 'http://echo.invalid', models: () => ECHO_MODELS },
  params: {},
  translators: common,
  converse: (_send, request, call) => respond(chatOf(request), call),
});

function chatOf({ body }: WireRequest): ChatRequest {
  return body as ChatRequest;
}
