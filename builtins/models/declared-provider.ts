import { TextScrubber } from '../../host/config/scrub-text.ts';
import type { Generation } from '../../host/generation/generation.ts';
import type { Host } from '../../host/host.ts';
import type { CredentialView } from '../../host/pipeline/credentials/credential-desk.ts';
import type { ProviderInstance } from '../../host/upstream/instance.ts';

/** What administrators see of an entry of `providers` beside its models. No value of a secret is among it. */
export function declaredProvider(
  { redactor }: Pick<Host, 'redactor'>,
  { config, hooks }: Pick<Generation, 'config' | 'hooks'>,
  instance: ProviderInstance,
): object {
  const { name, kind, baseUrl } = instance;
  const data = config.providers && Object.hasOwn(config.providers, name) ? config.providers[name]?.data : undefined;
  return {
    kind,
    source: 'configuration',
    base_url: baseUrl === undefined ? null : new TextScrubber(redactor).text(baseUrl),
    data: data ?? null,
    credentials: (hooks.credentials.call()?.views(instance) ?? []).map(shownCredential),
  };
}

const moment = (at: number | undefined): string | null => (at ? new Date(at).toISOString() : null);

function shownCredential(view: CredentialView): object {
  return {
    name: view.name,
    vendor_account: view.vendorAccount,
    state: view.state,
    class: view.class ?? null,
    until: moment(view.until),
    models_resting: view.modelsResting,
    in_flight: view.inFlight,
    weight: view.weight,
    max_concurrency: view.maxConcurrency ?? null,
    last_refreshed_at: moment(view.refreshedAt),
  };
}
