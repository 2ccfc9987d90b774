import { lateFile } from 'gw/contract';
import type * as Wire from './wire.ts';

export const { toMessagesBody, readMessage, openMessagesStream } = lateFile<typeof Wire>(
  import.meta,
  './wire.ts',
)(['toMessagesBody', 'readMessage', 'openMessagesStream']);
