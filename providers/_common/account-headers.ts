import type { Credentials } from 'gw/contract';

/** The headers that name an organization and a project, where an instance or its credential says them. Source: OpenAI API reference, "Authentication", 2026-11-27. */
export function accountHeaders({ organization, project }: Credentials): Readonly<Record<string, string>> {
  return {
    ...(organization !== undefined && { 'openai-organization': organization }),
    ...(project !== undefined && { 'openai-project': project }),
  };
}
