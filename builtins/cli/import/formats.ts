import type { ProviderModule } from '../../../host/contract/index.ts';
import { bifrostReference, readBifrost } from './bifrost/bifrost.ts';
import { litellmReference, readLitellm } from './litellm/litellm.ts';
import { fleetDocument } from './plan/fleet-form.ts';
import type { ReadReference } from './plan/held.ts';
import { isPlain, plainDocument } from './plan/plain-form.ts';
import { Plan } from './plan/plan.ts';
import { portkeyReference, readPortkey } from './portkey/portkey.ts';
import { Entry, Ledger, type Outcome } from './reading.ts';
import { type Variable, Variables } from './variables.ts';

interface ImportFormat {
  /** What it is, and of when: the formats have no version of their own. */
  readonly title: string;
  readonly referenceIn: ReadReference;
  readonly read: (root: Entry, plan: Plan) => void;
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

/** What an import may ask of its surroundings. */
export interface ImportPlace {
  readonly providers: ReadonlyMap<string, ProviderModule>;
  /** The value of a variable where the import runs: of addresses and settings that take no reference here. Secrets are not asked for. */
  readonly lookUp: (name: string) => string | undefined;
}

/** Turns the document of another gateway into one for this one. */
export function importDocument(kind: string, document: object, { providers, lookUp }: ImportPlace): Imported {
  const format = IMPORT_FORMATS.get(kind);
  if (!format) throw new Error(`${kind} is not a format that can be imported`);
  const ledger = new Ledger();
  const plan = new Plan(kind, providers, format.referenceIn);
  format.read(new Entry(document, [], ledger), plan);
  const variables = new Variables(format.referenceIn);
  const result = isPlain(plan) ? plainDocument(plan, variables) : fleetDocument(plan, variables, lookUp);
  return { document: result, variables: variables.all, outcome: ledger.close(document) };
}
