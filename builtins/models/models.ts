import type { Router } from 'express';
import { defineBuiltin, ORDER } from '../../host/builtin.ts';
import { type JsonAnswer, type JsonCall, mountJson, mountJsonBeside } from '../../host/http/json-route.ts';
import { type ClientForm, formOf, GEMINI_FORM } from './client-forms.ts';
import { Discovery } from './discovery.ts';
import { ModelViews } from './model-views.ts';

const PATH = '/v1/models';
/** Where clients of the Gemini API look. */
const GEMINI_PATH = '/v1beta/models';
const READ = { method: 'GET', scope: 'admitted' } as const;

/** `GET /v1/models`, one model by its id, the same for clients of the Gemini API, `GET /v1/capabilities`, `GET /admin/providers`, and live discovery, which feeds both and the routing. */
export default defineBuiltin({
  name: 'models',
  apply: ({ hooks }) => {
    let discovery: Discovery | undefined;
    let views: ModelViews | undefined;
    const createdOf = (provider: string, model: string): number => discovery?.createdOf(provider, model) ?? 0;

    hooks.open.tapPromise('models', async (host) => {
      discovery = new Discovery(host, () => host.applier.refresh());
    });
    hooks.close.tapPromise('models', async () => discovery?.stop());
    hooks.models.tap('discovery', (collector) =>
      collector.add('discovered', discovery?.idsOf(collector.provider, collector.instance) ?? []),
    );
    hooks.modelList.tap('models', () => views?.all());
    hooks.firstModels.tapPromise('models', async (first) => discovery?.askFirst(first));
    hooks.examine.tapPromise('models', async ({ host, add, probed }) => {
      if (!probed) return;
      const { probeFindings } = await import('./probe-credentials.ts');
      add('Models by credential', await probeFindings(host, probed));
    });
    hooks.mount.tap({ name: 'models', stage: ORDER.listings }, (router, host) => {
      const { discoveryIntervalMs } = host.settings;
      if (discoveryIntervalMs !== undefined) discovery?.start(discoveryIntervalMs); // by now all providers are connected, those of stored modules too
      views = new ModelViews(host, createdOf);
      mountModels(router, views);
    });
  },
});

function mountModels(router: Router, views: ModelViews): void {
  const { host } = views;
  const shown = (body: object): JsonAnswer => ({ status: 200, body });
  mountJson(router, host, [
    { method: 'GET', scope: 'read_only', path: '/admin/providers', answer: () => views.byProvider() },
    { ...READ, path: PATH, answer: (call) => views.page(formOf(call.request), call) },
    { ...READ, path: GEMINI_PATH, answer: (call) => views.page(GEMINI_FORM, call) },
    { ...READ, path: '/v1/capabilities', answer: async ({ limits }) => shown(await views.capabilities(limits)) },
  ]);
  // With the header the client asks the provider itself.
  const one = async (form: ClientForm | undefined, call: JsonCall): Promise<JsonAnswer> =>
    shown(await views.one(form, call));
  const answer = (call: JsonCall): Promise<JsonAnswer> | undefined =>
    call.request.headers['x-provider'] === undefined ? one(formOf(call.request), call) : undefined;
  mountJsonBeside(router, host, { ...READ, path: `${PATH}/*id`, answer });
  const ofGemini = (call: JsonCall): Promise<JsonAnswer> => one(GEMINI_FORM, call);
  mountJsonBeside(router, host, { ...READ, path: `${GEMINI_PATH}/*id`, answer: ofGemini });
}
