import { invalidRequest } from '../../host/common/invalid-request.ts';
import type { FactSources } from '../../host/common/fact-sources.ts';
import { quoted } from '../../host/contract/index.ts';
import type { Host } from '../../host/host.ts';
import type { JsonRoute } from '../../host/http/json-route.ts';
import { Query } from './query.ts';

/** What is known of a model, and what says it: rules, the configuration of the target, refusals of the provider. See docs/admin.md#routes. */
export function rulesRoute(host: Host): JsonRoute {
  return {
    method: 'GET',
    path: '/admin/rules',
    scope: 'read_only',
    answer: ({ request }) => {
      const query = new Query(request);
      const [provider, model] = [query.text('provider'), query.text('model')];
      if (provider === '' || model === '')
        throw invalidRequest('provider and model are required: ?provider=openai&model=gpt-4o');
      return { status: 200, body: { facts: factsOf(host, provider, model) } };
    },
  };
}

/** A target says it as its requests have it; a provider without one by the rules alone. */
function factsOf({ current, registry, services: { catalog } }: Host, provider: string, model: string): FactSources {
  const target = current?.targetList.find(({ virtualKey }) => virtualKey === provider);
  if (target) return target.factSourcesOf(model);
  if (!registry.providers.has(provider) && !catalog.rules.some(({ providers }) => providers.includes(provider)))
    throw invalidRequest(`the provider ${quoted(provider)} is not known`);
  return catalog.factSources(provider, model);
}
