import type { ProviderModule } from '../../../host/contract/index.ts';
import { bifrostReference, readBifrost } from './bifrost.ts';
import { Draft } from './draft.ts';
import { Environment, type ReadReference, type Variable } from './environment.ts';
import { litellmReference, readLitellm } from './litellm.ts';
import { portkeyReference, readPortkey } from './portkey.ts';
import { Entry, Ledger, type Outcome } from './reading.ts';

interface ImportFormat {
  /** What it is, and of when: the formats have no version of their own. */
  readonly title: string;
  readonly referenceIn: ReadReference;
  readonly read: (root: Entry, draft: Draft) => void;
}

/** The configurations of other gateways that can be read. */
export const IMPORT_FORMATS = new Map<string, ImportFormat>([
  [
    'litellm',
    {
      title: 'LiteLLM proxy config.yaml, as docs.litellm.ai described it on 2026-11-05',
      referenceIn: litellmReference,
      read: readLitellm,
    },
  ],
  [
    'portkey',
    {
      title: 'Portkey gateway config, as portkey.ai/docs and Portkey-AI/gateway 1.x described it on 2026-11-22',
      referenceIn: portkeyReference,
      read: readPortkey,
    },
  ],
  [
    'bifrost',
    {
      title: 'Bifrost config.json, as docs.getbifrost.ai described it on 2026-11-22 (transports 1.x and 2.0)',
      referenceIn: bifrostReference,
      read: readBifrost,
    },
  ],
]);

export interface Imported {
  /** A configuration; it has no target when the document has no provider that gw knows. */
  readonly document: Readonly<Record<string, unknown>>;
  readonly variables: readonly Variable[];
  readonly outcome: Outcome;
}

/** Turns the document of another gateway into one for this one. */
export function importDocument(
  kind: string,
  document: object,
  providers: ReadonlyMap<string, ProviderModule>,
): Imported {
  const format = IMPORT_FORMATS.get(kind);
  if (!format) throw new Error(`${kind} is not a format that can be imported`);
  const ledger = new Ledger();
  const draft = new Draft(kind, providers, new Environment(format.referenceIn));
  format.read(new Entry(document, [], ledger), draft);
  for (const { module } of draft.targets.values()) draft.environment.need(module);
  const result = draft.document();
  return { document: result, variables: draft.environment.variables, outcome: ledger.close(document) };
}
