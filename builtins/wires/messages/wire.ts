import { lateFile } from '../../../host/contract/late.ts';
import type { ClientFailure } from '../../../host/wire/client-failure.ts';
import type { ClientWire, WireBody } from '../../../host/wire/client-wire.ts';
import { retryHeaders } from '../errors.ts';
import { errorBody } from './errors.ts';
import type * as Writing from './writing.ts';

const { replyWithoutCitations, ...writing } = lateFile<typeof Writing>(
  import.meta,
  './writing.ts',
)(['reply', 'replyWithoutCitations', 'openStream', 'openSameWire']);

const errorReply = (failure: ClientFailure): WireBody => ({
  contentType: 'application/json',
  body: JSON.stringify(errorBody(failure)),
});

/** What clients of Anthropic's Messages API are answered with. */
export const MESSAGES_WIRE: ClientWire = {
  error: errorReply,
  noRoute: errorReply,
  ...writing,
  credentials: ['bearer', { header: 'x-api-key' }],
  namesScheme: false,
  headers: (id) => ['request-id', id],
  errorHeaders: retryHeaders,
};

/** The wire for clients that refuse `citations: null`, which the vendor itself leaves out where a text has none. */
const UNCITED_WIRE: ClientWire = { ...MESSAGES_WIRE, reply: replyWithoutCitations };

/** Source: AI SDK 5.0.277 and 6.0.326, 2026-11-23, whose whole answers fail on the null; 7.0.173 takes it, and says `ai-sdk-provider-utils`. */
export const wireFor = (userAgent = ''): ClientWire =>
  userAgent.includes('ai-sdk/provider-utils/') ? UNCITED_WIRE : MESSAGES_WIRE;
