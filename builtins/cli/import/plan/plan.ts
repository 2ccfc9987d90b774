import type { ProviderModule } from '../../../../host/contract/index.ts';
import { cleanAddress } from './addresses.ts';
import { isCalls, MAX_CONCURRENCY, rounded } from '../amounts.ts';
import { type Naming, namingOf } from '../provider-names.ts';
import type { Entry } from '../reading.ts';
import { type ReadReference, writtenIn } from './held.ts';
import type {
  CredentialParts,
  PlaceParts,
  Placed,
  PlannedCredential,
  PlannedInstance,
  PlannedName,
  PlannedRoute,
  TargetSetting,
} from './planned.ts';

/** A configuration while it is put together: places, what is needed to get in, and names that lead to them. */
export class Plan {
  readonly format: string;
  readonly naming: Naming;
  readonly known: ReadonlyMap<string, ProviderModule>;
  readonly referenceIn: ReadReference;
  instances: readonly PlannedInstance[] = [];
  /** The instances in the order in which the document has them. */
  readonly read: PlannedInstance[] = [];
  readonly names = new Map<string, PlannedName>();
  readonly aliases = new Map<string, { readonly name: string; readonly entry: Entry }>();
  /** Members of the document beside those that are made of the plan. */
  readonly members: Record<string, unknown> = {};
  /** The top-level strategy, where the document has one; else the order of the targets. */
  strategy: Readonly<Record<string, unknown>> | undefined;
  /** The key that opens the other gateway. */
  masterKey: Entry | undefined;
  /** Whether the plain form cannot say it, where a format knows. */
  needsFleet = false;
  /** Where every name goes that nothing else answers. */
  any: PlannedRoute | undefined;
  /** Where each model of the document was placed, by where it stands. */
  readonly placed = new Map<string, Pick<PlannedRoute, 'instance' | 'credential' | 'model'>>();
  /** Credentials of entries that are equal to another but for the key. */
  readonly #pooled = new Set<PlannedCredential>();
  readonly #instances = new Map<string, PlannedInstance>();
  readonly #credentials = new Map<PlannedInstance, Map<string, PlannedCredential>>();

  constructor(format: string, known: ReadonlyMap<string, ProviderModule>, referenceIn: ReadReference) {
    this.format = format;
    this.known = known;
    this.naming = namingOf(format, known);
    this.referenceIn = referenceIn;
  }

  /** The instance of a place: one for each that is distinct. */
  place(parts: PlaceParts): PlannedInstance {
    const identity = identityOf(parts);
    const known = this.#instances.get(identity);
    if (known) {
      for (const entry of entriesOf(parts)) known.repeats.push(entry);
      return known;
    }
    const made: PlannedInstance = {
      ...parts,
      repeats: [],
      credentials: [],
      settled: new Map(),
      stated: new Map(),
      isClosed: false,
      anyModel: undefined,
    };
    this.#instances.set(identity, made);
    this.instances = [...this.instances, made];
    this.read.push(made);
    return made;
  }

  /** The credential of an instance: one for each distinct set of secrets. */
  credential(instance: PlannedInstance, parts: CredentialParts): PlannedCredential {
    const all = this.#credentials.get(instance) ?? new Map<string, PlannedCredential>();
    this.#credentials.set(instance, all);
    const identity = JSON.stringify([placedTexts(parts.secrets), parts.organization && writtenIn(parts.organization)]);
    const known = all.get(identity);
    if (known) {
      for (const { entry } of parts.secrets.values()) instance.repeats.push(entry);
      if (parts.organization) instance.repeats.push(parts.organization);
      return known;
    }
    const made: PlannedCredential = { ...parts, weights: [], weight: undefined, calls: undefined, models: new Set() };
    all.set(identity, made);
    instance.credentials = [...instance.credentials, made];
    if (instance.credentials.some(({ calls }) => calls !== undefined)) instance.settled.delete('concurrency');
    return made;
  }

  /** Calls in flight with a credential; those of an only one bound its target. */
  calls(instance: PlannedInstance, credential: PlannedCredential, entry: Entry): void {
    const count = entry.number;
    if (count === undefined) return;
    if (!isCalls(count)) return entry.leave(`max_concurrency is a whole number from 1 to ${MAX_CONCURRENCY}`);
    const { calls } = credential;
    if (calls && calls.count > count) return entry.leave(`${calls.entry.where} is larger`);
    if (calls && calls.count < count) calls.entry.amend(`${entry.where} is larger`);
    credential.calls = { count, entry };
    if (instance.credentials.length === 1) instance.settled.set('concurrency', { max_concurrency: count });
    entry.carry();
  }

  /** The name, made where it is new. */
  name(name: string): PlannedName {
    const known = this.names.get(name);
    if (known) return known;
    const made: PlannedName = {
      name,
      routes: [],
      fallbacks: [],
      failoverOn: new Set(),
      mode: 'loadbalance',
      affinity: false,
      isListed: true,
    };
    this.names.set(name, made);
    return made;
  }

  /** Adds a route. Entries equal but for the key are one, with the sum of their weights. */
  route(name: PlannedName, route: PlannedRoute): void {
    this.placed.set(route.entry.where, route);
    route.credential.models?.add(route.model ?? name.name);
    const same = name.routes.find(({ instance, model }) => instance === route.instance && model === route.model);
    if (same) this.#pooled.add(route.credential);
    if (!same) name.routes = [...name.routes, route];
    else if (same.tier === route.tier) same.weight += route.weight;
    else
      route.entry.carry(
        'a further key of a place that stands before it: it is asked at once where the first is refused',
      );
  }

  /** Names that clients use, one hop each: a name that leads to another one leads to where that leads. */
  alias(name: string, model: string, entry: Entry): void {
    if (name === '' || model === '' || this.endOf(model) === name)
      entry.leave('an alias is a name that leads to another one, which is not an alias of it');
    else if (this.aliases.has(name)) entry.leave(`the alias "${name}" stands already`);
    else this.aliases.set(name, { name: model, entry });
  }

  /** Where a chain of aliases ends. */
  endOf(model: string): string {
    let end = model;
    for (let next = this.aliases.get(end); next !== undefined; next = this.aliases.get(end)) end = next.name;
    return end;
  }

  /** Whether something of the plan answers a name. */
  answers(name: string): boolean {
    const end = this.endOf(name);
    if ((this.names.get(end)?.routes.length ?? 0) > 0 || this.any) return true;
    return [...this.names.values()].some(
      ({ name: one, routes }) =>
        one.endsWith('*') && routes.length > 0 && end.length >= one.length && end.startsWith(one.slice(0, -1)),
    );
  }

  /** Leaves out the places and credentials that no name leads to. */
  prune(): void {
    const routes = [...this.names.values()].flatMap((name) => name.routes);
    const used = new Set(routes.map(({ instance }) => instance));
    this.instances = this.instances.filter((instance) => used.has(instance));
    for (const instance of this.instances)
      instance.credentials = instance.credentials.filter(
        (one) => this.#pooled.has(one) || routes.some(({ credential }) => credential === one),
      );
  }

  /** Adds to the weight of a target what an entry of the document has of it. */
  weigh(instance: PlannedInstance, entry: Entry): void {
    const known = instance.settled.get('weight');
    instance.settled.set('weight', rounded((typeof known === 'number' ? known : 0) + (entry.number ?? 0)));
    entry.carry();
  }

  /** Puts the place that takes what no rule does in front of all others. */
  putFirst({ instance, model }: { readonly instance: PlannedInstance; readonly model: Entry | undefined }): void {
    const isIt = (one: PlannedInstance): boolean => one === instance;
    this.instances = this.instances.toSorted((a, b) => Number(isIt(b)) - Number(isIt(a)));
    const isRoute = (one: PlannedRoute): boolean => isIt(one.instance) && one.model === model?.text;
    for (const name of this.names.values())
      name.routes = name.routes.toSorted((a, b) => Number(isRoute(b)) - Number(isRoute(a)));
  }

  /** States a setting of a target. Of two that differ the larger one holds. */
  state(instance: PlannedInstance, setting: TargetSetting, stated: Stated): void {
    const known = instance.settled.get(setting);
    const differs = known !== undefined && JSON.stringify(known) !== JSON.stringify(stated.value);
    if (differs && sizeOf(known) >= sizeOf(stated.value))
      return stated.entry.leave(`the target has a larger ${setting} already`);
    if (differs) instance.stated.get(setting)?.amend(`the target has the larger ${setting} of ${stated.entry.where}`);
    instance.settled.set(setting, stated.value);
    instance.stated.set(setting, stated.entry);
    stated.entry.carry(stated.difference);
  }

  /** Sets it for every target that has not stated it. */
  stateAll(setting: TargetSetting, { value, entry, difference }: Stated): void {
    for (const { settled } of this.instances) if (!settled.has(setting)) settled.set(setting, value);
    const isUsed = this.instances.some(({ settled }) => JSON.stringify(settled.get(setting)) === JSON.stringify(value));
    if (isUsed) entry.carry(difference);
    else entry.leave(`no target is without a ${setting} of its own`);
  }
}

export interface Stated {
  readonly value: unknown;
  readonly entry: Entry;
  readonly difference?: string | undefined;
}

/** What is larger: a duration, tries, calls in flight. */
function sizeOf(value: unknown): number {
  if (typeof value === 'number') return value;
  if (typeof value === 'string') return Number.parseFloat(value) * (value.endsWith('ms') ? 1 : 1000);
  const [first] = Object.values(value ?? {});
  return typeof first === 'number' ? first : 0;
}

const placedTexts = (placed: ReadonlyMap<string, Placed>): readonly unknown[] =>
  [...placed].map(([key, { entry }]) => [key, writtenIn(entry)]).toSorted(([a = ''], [b = '']) => (a < b ? -1 : 1));

function identityOf({ module, address, settings, headers }: PlaceParts): string {
  return JSON.stringify([
    module.name,
    address === undefined ? '' : addressText(writtenIn(address.entry), module.name),
    placedTexts(settings),
    headers.map(([name, entry]) => [name.toLowerCase(), writtenIn(entry)]),
  ]);
}

/** Addresses that differ by what is cut off are one, but for the user that they name. */
function addressText(text: string, kind: string): string {
  const cleaned = cleanAddress(text, kind.startsWith('azure'));
  const isSame = cleaned !== undefined && !text.includes('@');
  return (isSame ? cleaned.text : text).replace(/\/+$/, '');
}

const entriesOf = ({ address, settings, headers }: PlaceParts): Entry[] => [
  ...(address ? [address.entry] : []),
  ...[...settings.values()].map(({ entry }) => entry),
  ...headers.map(([, entry]) => entry),
];
