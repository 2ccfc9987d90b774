import { GatewayError } from '../../host/contract/index.ts';
import type { KeyLimits } from '../../host/common/host-principal.ts';
import type { Generation } from '../../host/generation/generation.ts';
import { untargetedModels } from '../../host/generation/known-models.ts';
import { registeredNames } from '../../host/generation/registered-names.ts';
import type { Host } from '../../host/host.ts';
import { arrayOf, slicesOf, within } from '../../host/http/json-pieces.ts';
import type { JsonAnswer, JsonCall } from '../../host/http/json-route.ts';
import { listsModels, listsProviders, mayAsk } from '../../host/pipeline/key-access.ts';
import { shownModel } from '../../host/pipeline/shown.ts';
import { capabilitiesOf } from './capabilities.ts';
import type { ClientForm } from './client-forms.ts';
import { declaredProvider } from './declared-provider.ts';
import { type CreatedOf, GroupListing } from './group-listing.ts';
import { type Listing, listModels } from './listing.ts';
import type { ListedModel, ModelEntry } from './model-entry.ts';
import { offeredModel, offeredModels } from './offered.ts';

/** Entries that are written in one turn; shorter lists leave as a whole. */
const SLICE = 500;

/** What is shown of models: in lists, alone, by provider, and what they can do. Callers see what their limits leave. */
export class ModelViews {
  readonly host: Host;
  readonly #createdOf: CreatedOf;
  readonly #listed = new WeakMap<Generation, Promise<Listing>>(); // a generation never changes, and a new catalog makes a new one

  constructor(host: Host, createdOf: CreatedOf) {
    this.host = host;
    this.#createdOf = createdOf;
  }

  /** Everything that a credential without limits sees. */
  async all(): Promise<readonly ModelEntry[]> {
    return Array.from((await this.#listingOf(this.host.current, undefined)).values(), ({ entry }) => entry);
  }

  async page(form: ClientForm | undefined, { limits, request }: JsonCall): Promise<JsonAnswer> {
    const { current, services } = this.host;
    const listing = await this.#listingOf(current, limits);
    if (!form) return listed(listing);
    const offered = current ? await offeredModels(listing, current.config.aliases, services) : [];
    return { status: 200, body: form.page(offered, queryOf(request.url)) };
  }

  /** Throws a 404 for a model that the caller does not see. */
  async one(form: ClientForm | undefined, { limits, parameter }: JsonCall): Promise<object> {
    const { current, redactor } = this.host;
    const listing = await this.#listingOf(current, limits);
    const name = parameter('id');
    const id = form ? name.replace(/^models\//, '') : name; // a name may stand behind that of its collection
    const find = (model: string): ListedModel | undefined => listing.get(model) ?? this.#unlisted(model, limits);
    const model = form && current && offeredModel(id, find, current.config.aliases);
    const shown = form ? model && form.one(model) : find(id)?.entry;
    if (!shown) throw new GatewayError('model_not_found', `the model "${shownModel(id, redactor)}" does not exist`);
    return shown;
  }

  async capabilities(limits: KeyLimits | undefined): Promise<object> {
    const { current } = this.host;
    if (!current) return { providers: {}, image_response_formats: {} };
    return capabilitiesOf(current, await this.#listingOf(current, limits));
  }

  /** What each registered provider lists, whatever the strategy makes of it; entries of `providers` last, registered or not. See docs/admin.md#routes. */
  byProvider(): JsonAnswer {
    const { current } = this.host;
    if (!current) return providerLists([], () => ({}));
    const { instances, targets, models } = current;
    const registered = registeredNames(this.host);
    const others = [...registered].filter((name) => !instances.has(name));
    const lists = [...others, ...instances.keys()].map((name): ProviderList => {
      const instance = instances.get(name);
      const facts = instance && declaredProvider(this.host, current, instance);
      if (!registered.has(name)) return { name, ids: [], facts };
      return {
        name,
        ids: targets.has(name) ? models.advertised(name) : untargetedModels(this.host, current, name),
        facts,
      };
    });
    return providerLists(lists, (id, name) => ({
      id,
      object: 'model',
      created: this.#createdOf(name, id),
      owned_by: name,
    }));
  }

  /** A name of a group with a star, of which there are too many for a list. */
  #unlisted(name: string, limits: KeyLimits = {}): ListedModel | undefined {
    const { current, services } = this.host;
    if (!current?.groups || !mayAsk(limits, name, current.config.aliases)) return undefined;
    const calling = { generation: current, catalog: services.catalog, createdOf: this.#createdOf, limits };
    return new GroupListing(calling, current.groups).one(name);
  }

  async #listingOf(current: Generation | undefined, limits: KeyLimits | undefined): Promise<Listing> {
    if (!current) return new Map();
    const isOwn = limits !== undefined && (listsModels(limits) || listsProviders(limits));
    const known = isOwn ? undefined : this.#listed.get(current);
    if (known) return known;
    const { catalog, clock } = this.host.services;
    const listing = listModels(current, { catalog, clock, createdOf: this.#createdOf }, limits);
    if (!isOwn) this.#listed.set(current, listing);
    return listing;
  }
}

function listed(listing: Listing): JsonAnswer {
  const data = Array.from(listing.values(), ({ entry }) => entry);
  return data.length <= SLICE
    ? { status: 200, body: { object: 'list', data } }
    : {
        status: 200,
        pieces: within(
          '{"object":"list","data":',
          arrayOf(slicesOf(data, SLICE), (entry) => entry),
          '}',
        ),
      };
}

interface ProviderList {
  readonly name: string;
  readonly ids: readonly string[];
  /** Members beside its models, of an entry of `providers` alone. */
  readonly facts: object | undefined;
}

type ShowModel = (id: string, provider: string) => object;

function providerLists(lists: readonly ProviderList[], shown: ShowModel): JsonAnswer {
  const count = lists.reduce((sum, { ids }) => sum + ids.length, 0);
  return count <= SLICE
    ? {
        status: 200,
        body: lists.map(({ name, ids, facts }) => ({ name, models: ids.map((id) => shown(id, name)), ...facts })),
      }
    : { status: 200, pieces: providerPieces(lists, shown) };
}

async function* providerPieces(lists: readonly ProviderList[], shown: ShowModel): AsyncGenerator<string> {
  for (const [at, { name, ids, facts = {} }] of lists.entries()) {
    yield `${at === 0 ? '[' : ','}{"name":${JSON.stringify(name)},"models":`;
    yield* arrayOf(slicesOf(ids, SLICE), (id) => shown(id, name));
    const more = JSON.stringify(facts).slice(1);
    yield more === '}' ? more : `,${more}`;
  }
  yield ']';
}

const queryOf = (url = ''): URLSearchParams => new URLSearchParams(url.slice(url.indexOf('?') + 1 || url.length));
