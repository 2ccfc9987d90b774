import type { ChatChunk } from '../../contract/index.ts';

/** Passes chunks through whatever guards the stream; may end it by throwing. */
export type ChunkFilter = (chunks: readonly ChatChunk[], moment: 'push' | 'end') => readonly ChatChunk[];
