import type { TargetConfig } from '../../../host/config/document.ts';
import { memberOf, setMember } from '../../../host/contract/json/members.ts';
import type { ProviderModule } from '../../../host/contract/index.ts';
import type { Environment } from './environment.ts';
import type { Entry } from './reading.ts';
import { addressOf, credentialOf } from './environment.ts';
import { type Naming, namingOf } from './provider-names.ts';
import { MAX_CONCURRENCY, orderOf, type Precedence } from './order.ts';

/** Settings of a target that a document may state, once or several times alike. */
export type TargetSetting = Exclude<keyof TargetConfig, 'virtual_key' | 'models' | 'model_map' | 'settings'>;

export interface DraftTarget {
  readonly module: ProviderModule;
  /** Model asked for, and model sent upstream. */
  readonly routes: Map<string, string>;
  readonly settings: Map<TargetSetting, unknown>;
}

interface Fallback {
  readonly model: string;
  readonly provider: string;
  readonly upstream: string;
  readonly entry: Entry;
}

/** How the targets are chosen: in their order, drawn by weight, or in a way that knows no last one. */
export type FallbackStyle = 'ordered' | 'weighted' | 'none';

/** Share of the traffic of a target that only follows others: about one request in a million is its own. */
const FOLLOWER_WEIGHT = 0.000001;

/** A configuration while it is put together: one target for each provider, whatever the document had of it. */
export class Draft {
  readonly environment: Environment;
  readonly targets = new Map<string, DraftTarget>();
  readonly aliases = new Map<string, string>();
  /** Members of the document beside targets and aliases. */
  readonly members: Record<string, unknown> = {};
  /** Members of `strategy`. */
  readonly strategy: Record<string, unknown> = {};
  /** The order in which targets are wanted. */
  readonly precedence: Precedence[] = [];
  /** How the document's format names the providers. */
  readonly naming: Naming;
  readonly #format: string;
  readonly #known: ReadonlyMap<string, ProviderModule>;
  readonly #fallbacks: Fallback[] = [];
  /** Where the weight of a target is stated. */
  readonly #weights = new Map<string, Entry>();
  readonly #providers = new Map<string, string>();
  /** What was first written as the address of a provider, if anything. */
  readonly #addresses = new Map<string, string>();

  constructor(format: string, known: ReadonlyMap<string, ProviderModule>, environment: Environment) {
    this.#format = format;
    this.#known = known;
    this.naming = namingOf(format, known);
    this.environment = environment;
  }

  target(provider: string): DraftTarget {
    const found = this.targets.get(provider);
    if (found) return found;
    const module = this.#known.get(provider);
    if (!module) throw new Error(`${provider} is not a provider of gw`);
    const target: DraftTarget = { module, routes: new Map(), settings: new Map() };
    this.targets.set(provider, target);
    return target;
  }

  /** Remembers which provider a place of the document belongs to. */
  note(entry: Entry, provider: string): void {
    this.#providers.set(entry.where, provider);
  }

  providerAt(entry: Entry): string | undefined {
    return this.#providers.get(entry.where);
  }

  /** A further reason to go on to the next target. */
  advanceOn(reason: string): void {
    const reasons = new Set(this.strategy['failover_on'] as readonly string[] | undefined);
    this.strategy['failover_on'] = [...reasons.add(reason)];
  }

  /** Requests for `model` may go to this provider, which gets them under the name `upstream`. False when they already go there under another. */
  route(provider: string, model: string, upstream: string): boolean {
    const { routes } = this.target(provider);
    const known = routes.get(model);
    if (known !== undefined) return known === upstream;
    routes.set(model, upstream);
    return true;
  }

  /** Requests for `model` are to go to this provider where the others fail. */
  fallback(fallback: Fallback): void {
    this.#fallbacks.push(fallback);
  }

  /** Chat of this provider goes to one deployment, which its environment names: the first that the document has. */
  isDeployment(provider: string, entry: Entry, upstream: string): boolean {
    const { chatModelEnv } = this.target(provider).module.connection;
    return chatModelEnv === undefined || this.environment.plain(chatModelEnv, entry.with(upstream));
  }

  /** Settings of a provider that are variables here. `at` finds where the document has one. */
  settings(provider: string, at: (names: readonly string[]) => readonly Entry[]): void {
    const { elsewhere } = this.target(provider).module;
    for (const { variable, from, isSecret, as } of (elsewhere && memberOf(elsewhere, this.#format)?.settings) ?? [])
      for (const entry of at(from)) {
        if (isSecret) this.environment.secret(variable, entry);
        else if (as === undefined) this.environment.plain(variable, entry);
        else this.environment.made(variable, as, entry);
      }
  }

  credential(provider: string, entry: Entry): void {
    const name = credentialOf(this.target(provider).module);
    if (name === undefined) entry.leave(`${provider} takes no key here`);
    else this.environment.secret(name, entry);
  }

  /** False when this provider stands there with another address, or with its own: gw has one for each. */
  address(provider: string, entry: Entry): boolean {
    const written = JSON.stringify(entry.value ?? '');
    const first = this.#addresses.get(provider);
    if (first === undefined) this.#addresses.set(provider, written);
    if (first !== undefined && first !== written) return false;
    this.environment.plain(addressOf(this.target(provider).module), entry);
    return true;
  }

  /** States a setting of a target. A second statement that differs is left: gw has one target for each provider. */
  set(provider: string, setting: TargetSetting, value: unknown, entry: Entry, difference?: string): void {
    const { settings } = this.target(provider);
    const known = settings.get(setting);
    if (known !== undefined && JSON.stringify(known) !== JSON.stringify(value)) {
      entry.leave(`the target ${provider} has another ${setting} already`);
      return;
    }
    settings.set(setting, value);
    if (setting === 'weight') this.#weights.set(provider, entry);
    entry.carry(difference);
  }

  /** Sets it for every target that has not stated it. */
  setAll(setting: TargetSetting, value: unknown, entry: Entry, difference?: string): void {
    for (const { settings } of this.targets.values()) if (!settings.has(setting)) settings.set(setting, value);
    const isUsed = [...this.targets.values()].some(
      ({ settings }) => JSON.stringify(settings.get(setting)) === JSON.stringify(value),
    );
    if (isUsed) entry.carry(difference);
    else entry.leave(`no target is without a ${setting} of its own`);
  }

  /** One request at a time or more, as the source counts them. */
  concurrency(provider: string, entry: Entry): void {
    const calls = entry.number;
    if (calls === undefined) return;
    if (!Number.isInteger(calls) || calls < 1 || calls > MAX_CONCURRENCY)
      entry.leave(`max_concurrency is a whole number from 1 to ${MAX_CONCURRENCY}`);
    else this.set(provider, 'concurrency', { max_concurrency: calls }, entry);
  }

  /** Names that clients use, one hop each: a name that leads to another one leads to where that leads. */
  alias(name: string, model: string, entry: Entry): void {
    if (name === '' || model === '' || this.#end(model) === name)
      entry.leave('an alias is a name that leads to another one, which is not an alias of it');
    else if (this.aliases.has(name)) entry.leave(`the alias "${name}" stands already`);
    else {
      this.aliases.set(name, model);
      entry.carry();
    }
  }

  /** Providers that serve a model. */
  servers(model: string): string[] {
    return [...this.targets].filter(([, { routes }]) => routes.has(model)).map(([provider]) => provider);
  }

  /** Whether some model is served by several. */
  get isShared(): boolean {
    const models = new Set([...this.targets.values()].flatMap(({ routes }) => [...routes.keys()]));
    return [...models].some((model) => this.servers(model).length > 1);
  }

  /** Adds what follows where others fail, and says for each whether it could be. */
  placeFallbacks(how: FallbackStyle): void {
    const sharing = new Set(
      [...this.targets]
        .filter(([, { routes }]) => [...routes.keys()].some((model) => this.servers(model).length > 1))
        .map(([provider]) => provider),
    );
    for (const fallback of this.#fallbacks) {
      const { model, provider, upstream, entry } = fallback;
      const refusal = this.#refusalOf(fallback, how, sharing);
      if (refusal !== undefined) {
        entry.leave(refusal);
        continue;
      }
      this.route(provider, model, upstream);
      if (how === 'ordered') entry.carry();
      else this.#follow(provider, entry);
    }
  }

  #refusalOf({ model, provider }: Fallback, how: FallbackStyle, sharing: ReadonlySet<string>): string | undefined {
    const first = this.servers(model).filter((one) => one !== provider);
    if (this.targets.get(provider)?.routes.has(model))
      return `${provider} serves "${model}" already, and gw goes on to another provider, not to another model of the same one`;
    if (first.length === 0) return `no target serves "${model}"`;
    if (how === 'none')
      return `the strategy would choose ${provider} for "${model}" too, and not only where others fail`;
    if (how === 'weighted')
      return sharing.has(provider)
        ? `${provider} shares the traffic of other models by its weight, and would share that of "${model}" too`
        : undefined;
    return this.#puts(first, provider)
      ? undefined
      : `gw has one order of targets for all models, in which ${provider} stands before ${first.join(', ')}`;
  }

  #follow(provider: string, entry: Entry): void {
    this.target(provider).settings.set('weight', FOLLOWER_WEIGHT);
    this.#weights.get(provider)?.amend(`it is ${FOLLOWER_WEIGHT}, because this target follows others`);
    entry.carry(`${provider} has the weight ${FOLLOWER_WEIGHT}, so that it is asked after the others`);
  }

  /** Whether the order of targets can have all of these before that one; then it does. */
  #puts(before: readonly string[], after: string): boolean {
    const wanted = before.map((first) => ({ first, then: after }));
    if (!orderOf([...this.targets.keys()], [...this.precedence, ...wanted])) return false;
    for (const wish of wanted) this.precedence.push(wish);
    return true;
  }

  /** One target at least must get the traffic that is drawn by weight. */
  #settleWeights(): void {
    const isDrawn = this.strategy['mode'] === 'loadbalance';
    if (!isDrawn || [...this.targets.values()].some(({ settings }) => Number(settings.get('weight') ?? 0) > 0)) return;
    this.strategy['mode'] = 'fallback';
    for (const entry of this.#weights.values())
      entry.amend('no target has a weight above 0: gw asks them in their order');
  }

  /** The document. */
  document(): Readonly<Record<string, unknown>> {
    this.#settleWeights();
    const names = orderOf([...this.targets.keys()], this.precedence) ?? [...this.targets.keys()];
    const aliases: Record<string, string> = {};
    for (const [name, model] of this.aliases) setMember(aliases, name, this.#end(model));
    return {
      apiVersion: 'v1',
      strategy: this.strategy,
      targets: names.map((name) => targetDocument(name, this.target(name))),
      ...(this.aliases.size > 0 && { aliases }),
      ...this.members,
    };
  }

  /** Where a chain of aliases ends. */
  #end(model: string): string {
    let end = model;
    for (let next = this.aliases.get(end); next !== undefined; next = this.aliases.get(end)) end = next;
    return end;
  }
}

function targetDocument(name: string, { routes, settings }: DraftTarget): Readonly<Record<string, unknown>> {
  const models = [...routes].filter(([model, upstream]) => model === upstream).map(([model]) => model);
  const map: Record<string, string> = {};
  for (const [model, upstream] of routes) if (model !== upstream) setMember(map, model, upstream);
  return {
    virtual_key: name,
    ...(settings.has('weight') && { weight: settings.get('weight') }),
    ...(models.length > 0 && { models }),
    ...(Object.keys(map).length > 0 && { model_map: map }),
    ...Object.fromEntries(
      [...settings]
        .filter(([setting]) => setting !== 'weight')
        .map(([setting, value]) => [setting, structuredClone(value)]),
    ), // targets that share a value would share an anchor
  };
}
