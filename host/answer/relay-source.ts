import type { ModuleRef } from '../boundary/module-fault.ts';
import type { ChunkEdit, ProviderModule, StreamDecoder } from '../contract/index.ts';
import type { ClientStream, SameWireStream } from '../wire/client-wire.ts';
import type { ChunkFilter } from './guarded/chunk-filter.ts';
import type { ChunkFacts } from './chunk-normalizer.ts';

interface Source {
  readonly framing: NonNullable<ProviderModule['framing']>;
  /** The module that made the functions below: faults in them name it. */
  readonly module?: ModuleRef | undefined;
}

/** The upstream streams chunks of the common wire. */
export interface CommonSource extends Source {
  readonly speaks: 'common';
  /** Changes each chunk before it is corrected: every one is then parsed. */
  readonly edit?: ChunkEdit | undefined;
}

/** The upstream streams events of its own wire, and each becomes chunks of the common one. */
export interface NativeSource extends Source {
  readonly speaks: 'native';
  readonly decode: StreamDecoder;
  /**
   * True where only an event of the wire ends an answer, and where events without a chunk say that the answer goes on. See
   * docs/reference/data-plane.md#silence.
   */
  readonly tellsAll?: boolean;
}

/** The upstream streams events of the client's own wire: they leave in their own bytes, and their chunks are read beside. */
export interface SameWireSource extends Source {
  readonly speaks: 'client';
  readonly decode: StreamDecoder;
  readonly stream: SameWireStream;
  /** True when plugins read also what only the vendor of that wire has. */
  readonly readsAsides: boolean;
}

/** What an upstream streams, and how it is read. */
export type RelaySource = CommonSource | NativeSource | SameWireSource;

/** Plugins that guard a stream. */
export interface RelayGuards {
  readonly filter: ChunkFilter;
  /** True when some guard keeps texts back until it has seen what follows them. */
  readonly holdsBack: boolean;
  /** True when nothing may leave before a plugin has judged the whole answer: `takeHeld` gives it then. */
  readonly awaitsVerdict: boolean;
}

/** What a relay is made of. */
export interface RelayOptions extends ChunkFacts {
  /** Encoder of the client's wire; where the upstream speaks it, the stream of `source`. */
  readonly encoder: ClientStream;
  readonly source: RelaySource;
  /** Present when plugins guard the stream: every chunk is then parsed. */
  readonly guards?: RelayGuards | undefined;
  /** False when what was delivered will not be asked for. */
  readonly assembles?: boolean;
}
