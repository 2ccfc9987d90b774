import type { Credential, ProviderInstance } from '../../../host/upstream/instance.ts';
import { accountWords, credentialWords, rendezvous, type Words } from './rendezvous.ts';

/** Where an instance keeps what a vendor remembers: a credential, or those that have one label for their vendor account. */
export interface Place {
  /** Its label, or the name of its credential, each behind a word of its own. */
  readonly key: string;
  readonly words: Words;
  readonly credentials: readonly Credential[];
}

/** What a credential's place is called: labels and names are two spaces. */
export const placeOf = ({ isLabelled, vendorAccount, name }: Credential): string =>
  isLabelled ? `account ${vendorAccount}` : `credential ${name}`;

/** Places of the instances of one configuration. */
export class Places {
  readonly #known = new Map<ProviderInstance, readonly Place[]>();

  constructor(instances: Iterable<ProviderInstance>) {
    for (const instance of instances) this.#known.set(instance, placesIn(instance));
  }

  /** In the order of a session; those that may not be called for the model are left out. */
  ordered(instance: ProviderInstance, upstreamModel: string, session: Words): Place[] {
    return rendezvous(session, this.#known.get(instance) ?? [], ({ words, credentials }) => ({
      words,
      weight: weightOf(credentials, upstreamModel),
    }));
  }

  /** The first of that order, whatever state its credentials are in. */
  first(instance: ProviderInstance, upstreamModel: string, session: Words): Place | undefined {
    return this.ordered(instance, upstreamModel, session)[0];
  }

  /** Whether calls may go to a place for a model. */
  isOpen(instance: ProviderInstance | undefined, key: string | undefined, upstreamModel: string): boolean {
    if (!instance || key === undefined) return !instance && key === undefined;
    return (this.#known.get(instance) ?? []).some(
      (place) => place.key === key && weightOf(place.credentials, upstreamModel) > 0,
    );
  }
}

function weightOf(credentials: readonly Credential[], upstreamModel: string): number {
  let sum = 0;
  for (const credential of credentials)
    if (credential.weight > 0 && credential.allows(upstreamModel)) sum += credential.weight;
  return sum;
}

function placesIn({ name, kind, credentials }: ProviderInstance): readonly Place[] {
  return [...Map.groupBy(credentials, placeOf)].map(([key, members]) => {
    const [first] = members;
    const words = first?.isLabelled
      ? accountWords(kind, first.vendorAccount)
      : credentialWords(name, first?.name ?? '');
    return { key, words, credentials: members };
  });
}
