import { lateFile } from '../../../host/contract/late.ts';
import type { ClientFailure } from '../../../host/wire/client-failure.ts';
import type { ClientWire, WireBody } from '../../../host/wire/client-wire.ts';
import { retryHeaders } from '../errors.ts';
import { errorBody } from './errors.ts';
import type * as Writing from './writing.ts';

const writing = lateFile<typeof Writing>(import.meta, './writing.ts')(['reply', 'openStream', 'openSameWire']);

const errorReply = (failure: ClientFailure): WireBody => ({ contentType: 'application/json', body: JSON.stringify(errorBody(failure)) });

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
