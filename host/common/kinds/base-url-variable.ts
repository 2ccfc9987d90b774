import type { ProviderModule } from '../../contract/index.ts';

/** Variable that replaces a provider's API root. */
export function baseUrlVariable({ name, connection }: Pick<ProviderModule, 'name' | 'connection'>): string {
  return connection.baseUrlEnv ?? `${name.toUpperCase().replaceAll('-', '_')}_BASE_URL`;
}
