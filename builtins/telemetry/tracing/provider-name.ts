import type { ProviderModule } from '../../../host/contract/index.ts';

/** What collectors know a provider by; its own name where the conventions have none. */
export function conventionalName({ name, names }: ProviderModule): string {
  return names?.telemetry ?? name;
}
