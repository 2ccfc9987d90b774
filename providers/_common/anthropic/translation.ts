import { lateFile } from 'gw/contract';

export const { toMessagesBody, readMessage, openMessagesStream } = lateFile<typeof import('./wire.ts')>(import.meta, './wire.ts')('messages', ['toMessagesBody', 'readMessage', 'openMessagesStream']);
