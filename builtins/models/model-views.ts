import { GatewayError } from '../../host/contract/index.ts';
import type { HostPrincipal } from '../../host/common/host-principal.ts';
import type { Generation } from '../../host/generation/generation.ts';
import { untargetedModels } from '../../host/generation/known-models.ts';
import { registeredNames } from '../../host/generation/registered-names.ts';
import type { Host } from '../../host/host.ts';
import type { JsonCall } from '../../host/http/json-route.ts';
import { shownModel } from '../../host/pipeline/shown.ts';
import { capabilitiesOf } from './capabilities.ts';
import type { ClientForm } from './client-forms.ts';
import { type CreatedOf, listModels, type ModelEntry } from './listing.ts';
import { type OfferedModel, offeredModels } from './offered.ts';

type Listed = ReadonlyMap<string, ModelEntry>;

/** What is shown of models: in lists, alone, by provider, and what they can do. Callers see what their limits leave. */
export class ModelViews {
  readonly host: Host;
  readonly #createdOf: CreatedOf;
  readonly #listed = new WeakMap<Generation, Listed>(); // a generation never changes, and a new catalog makes a new one

  constructor(host: Host, createdOf: CreatedOf) {
    this.host = host;
    this.#createdOf = createdOf;
  }

  page(form: ClientForm | undefined, { principal, request }: JsonCall): object {
    return form
      ? form.page(this.#offered(principal), queryOf(request.url))
      : { object: 'list', data: [...this.#listingOf(principal).values()] };
  }

  /** Throws a 404 for a model that the caller does not see. */
  one(form: ClientForm | undefined, { principal, parameter }: JsonCall): object {
    return form
      ? clientModelOf(this.host, form, this.#offered(principal), parameter('id'))
      : modelOf(this.host, this.#listingOf(principal), parameter('id'));
  }

  capabilities(principal: HostPrincipal | undefined): object {
    const { current } = this.host;
    if (!current) return { providers: {}, image_response_formats: {} };
    return capabilitiesOf(current, this.#listingOf(principal).values());
  }

  /** What each registered provider lists, whatever the strategy makes of it. See docs/admin.md#routes. */
  byProvider(): object[] {
    const { current, providers } = this.host;
    return [...registeredNames(this.host)].map((name) => {
      const ids = current?.targets.has(name)
        ? current.models.advertised(name)
        : untargetedModels(this.host, name, providers.get(name));
      const models = ids.map((id) => ({ id, object: 'model', created: this.#createdOf(name, id), owned_by: name }));
      return { name, models };
    });
  }

  #offered(principal: HostPrincipal | undefined): readonly OfferedModel[] {
    const { current, services } = this.host;
    return current ? offeredModels(this.#listingOf(principal), current, services.catalog) : [];
  }

  #listingOf(principal: HostPrincipal | undefined): Listed {
    const { current, services } = this.host;
    if (!current) return new Map();
    const limits = principal?.limits;
    const isOwn = limits !== undefined && (limits.models !== undefined || limits.providers !== undefined);
    const known = isOwn ? undefined : this.#listed.get(current);
    if (known) return known;
    const listing = listModels(current, services.catalog, this.#createdOf, limits);
    if (!isOwn) this.#listed.set(current, listing);
    return listing;
  }
}

/** Ids may hold slashes, encoded or not. */
function modelOf({ redactor }: Host, listing: Listed, id: string): ModelEntry {
  const entry = listing.get(id);
  if (!entry) throw new GatewayError('model_not_found', `the model "${shownModel(id, redactor)}" does not exist`);
  return entry;
}

const queryOf = (url = ''): URLSearchParams => new URLSearchParams(url.slice(url.indexOf('?') + 1 || url.length));

/** A model as clients of another wire see it; a name may stand behind that of its collection. */
function clientModelOf({ redactor }: Host, form: ClientForm, models: readonly OfferedModel[], name: string): object {
  const id = name.replace(/^models\//, '');
  const model = models.find((each) => each.id === id);
  const shown = model && form.one(model);
  if (!shown) throw new GatewayError('model_not_found', `the model "${shownModel(id, redactor)}" does not exist`);
  return shown;
}
