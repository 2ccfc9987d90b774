import { defineProvider, headerKey, isFields, type ProviderFault, tryParseJson, type WireReply } from 'gw/contract';
import { params, toUpstream } from './request.ts';
import { fromUpstream, openStream } from './reply.ts';

/** Brook answers in lines of JSON, and tells what it used in the last one. Its errors are `{"trouble": {"what", "retry_in_s"}}`. */
export default defineProvider({
  name: 'brook',
  wire: 'native',
  framing: 'ndjson',
  connection: {
    env: ['BROOK_TOKEN'],
    baseUrl: 'https://brook.example', // BROOK_BASE_URL replaces it
    authorize: headerKey('x-brook-token', 'BROOK_TOKEN'),
  },
  params,
  translators: { chat: { toUpstream, fromUpstream, openStream } },
  toFault,
});

function toFault({ body }: WireReply): ProviderFault | undefined {
  const said = body instanceof Uint8Array ? tryParseJson(new TextDecoder().decode(body)) : undefined;
  const trouble = isFields(said) ? said['trouble'] : undefined;
  if (!isFields(trouble) || typeof trouble['what'] !== 'string') return undefined; // not a body of Brook's own
  const seconds = trouble['retry_in_s'];
  return { message: trouble['what'], ...(typeof seconds === 'number' && { retryAfterMs: seconds * 1000 }) };
}
