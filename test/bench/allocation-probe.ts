/** Loaded into a gateway before its own code (`--import`): tells the bench how many bytes V8 has allocated so far. */
import { getHeapStatistics } from 'node:v8';

process.on('message', () =>
  process.send?.({
    allocatedBytes: (getHeapStatistics() as unknown as { readonly total_allocated_bytes: number })
      .total_allocated_bytes,
  }),
);
