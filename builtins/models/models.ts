import { GatewayError } from '../../host/contract/index.ts';
import type { HostPrincipal } from '../../host/common/host-principal.ts';
import { defineBuiltin, ORDER } from '../../host/builtin.ts';
import { untargetedModels } from '../../host/generation/build.ts';
import type { Generation } from '../../host/generation/generation.ts';
import { registeredNames } from '../../host/generation/registered-names.ts';
import type { Host } from '../../host/host.ts';
import { type JsonCall, mountJson, mountJsonBeside } from '../../host/http/json-route.ts';
import { shownModel } from '../../host/pipeline/shown.ts';
import { capabilitiesOf } from './capabilities.ts';
import { type ClientForm, formOf, GEMINI_FORM } from './client-forms.ts';
import { Discovery } from './discovery.ts';
import { type CreatedOf, listModels, type ModelEntry } from './listing.ts';
import { type OfferedModel, offeredModels } from './offered.ts';

const PATH = '/v1/models';
/** Where clients of the Gemini API look. */
const GEMINI_PATH = '/v1beta/models';
const READ = { method: 'GET', scope: 'admitted' } as const;

type Listed = ReadonlyMap<string, ModelEntry>;

/** `GET /v1/models`, one model by its id, the same for clients of the Gemini API, `GET /v1/capabilities`, `GET /admin/providers`, and live discovery, which feeds both and the routing. */
export default defineBuiltin({
  name: 'models',
  apply: ({ hooks }) => {
    let discovery: Discovery | undefined;
    const listed = new WeakMap<Generation, Listed>(); // a generation never changes, and a new catalog makes a new one

    const listingOf = (host: Host, principal: HostPrincipal | undefined): Listed => {
      const { current } = host;
      if (!current) return new Map();
      const limits = principal?.limits;
      const isOwn = limits !== undefined && (limits.models !== undefined || limits.providers !== undefined);
      const known = isOwn ? undefined : listed.get(current);
      if (known) return known;
      const listing = listModels(
        current,
        host.services.catalog,
        (provider, model) => discovery?.createdOf(provider, model) ?? 0,
        limits,
      );
      if (!isOwn) listed.set(current, listing);
      return listing;
    };

    hooks.open.tapPromise('models', async (host) => {
      discovery = new Discovery(host, () => host.applier.refresh());
    });
    hooks.close.tapPromise('models', async () => discovery?.stop());
    hooks.models.tap('discovery', (collector) =>
      collector.add('discovered', discovery?.idsOf(collector.provider) ?? []),
    );
    hooks.mount.tap({ name: 'models', stage: ORDER.listings }, (router, host) => {
      const { discoveryIntervalMs } = host.settings;
      if (discoveryIntervalMs !== undefined) discovery?.start(discoveryIntervalMs); // by now all providers are connected, those of stored modules too
      const none = { providers: {}, image_response_formats: {} };
      const createdOf = (provider: string, model: string): number => discovery?.createdOf(provider, model) ?? 0;
      const offered = (principal: HostPrincipal | undefined): readonly OfferedModel[] =>
        host.current ? offeredModels(listingOf(host, principal), host.current, host.services.catalog) : [];
      const pageFor = (form: ClientForm | undefined, { principal, request }: JsonCall): object =>
        form
          ? form.page(offered(principal), queryOf(request.url))
          : { object: 'list', data: [...listingOf(host, principal).values()] };
      const modelFor = (form: ClientForm | undefined, { principal, parameter }: JsonCall): object =>
        form
          ? clientModelOf(host, form, offered(principal), parameter('id'))
          : modelOf(host, listingOf(host, principal), parameter('id'));
      mountJson(router, host, [
        {
          method: 'GET',
          scope: 'read_only',
          path: '/admin/providers',
          answer: () => ({ status: 200, body: modelsByProvider(host, createdOf) }),
        },
        { ...READ, path: PATH, answer: (call) => ({ status: 200, body: pageFor(formOf(call.request), call) }) },
        { ...READ, path: GEMINI_PATH, answer: (call) => ({ status: 200, body: pageFor(GEMINI_FORM, call) }) },
        {
          ...READ,
          path: '/v1/capabilities',
          answer: ({ principal }) => ({
            status: 200,
            body: host.current ? capabilitiesOf(host.current, listingOf(host, principal).values()) : none,
          }),
        },
      ]);
      // With the header the client asks the provider itself.
      const answer = (call: JsonCall) =>
        call.request.headers['x-provider'] === undefined
          ? { status: 200, body: modelFor(formOf(call.request), call) }
          : undefined;
      mountJsonBeside(router, host, { ...READ, path: `${PATH}/*id`, answer });
      mountJsonBeside(router, host, {
        ...READ,
        path: `${GEMINI_PATH}/*id`,
        answer: (call) => ({ status: 200, body: modelFor(GEMINI_FORM, call) }),
      });
    });
  },
});

/** What each registered provider lists, whatever the strategy makes of it. See docs/admin.md#routes. */
function modelsByProvider(host: Host, createdOf: CreatedOf): object[] {
  const { current, providers } = host;
  return [...registeredNames(host)].map((name) => {
    const ids = current?.targets.has(name)
      ? current.models.advertised(name)
      : untargetedModels(host, name, providers.get(name));
    return { name, models: ids.map((id) => ({ id, object: 'model', created: createdOf(name, id), owned_by: name })) };
  });
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
