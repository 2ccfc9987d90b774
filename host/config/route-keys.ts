import type { ModelGroupConfig } from './document.ts';

/**
 * What strategies, conditions and variants call the routes of a group, in their order: the target where it has one route there,
 * else the target, `@` and the upstream model as written, or the group's name where the route names none.
 */
export function routeKeys({ name, routes }: Pick<ModelGroupConfig, 'name' | 'routes'>): readonly string[] {
  const counts = new Map<string, number>();
  for (const { target } of routes) counts.set(target, (counts.get(target) ?? 0) + 1);
  return routes.map(({ target, model = name }) => ((counts.get(target) ?? 0) < 2 ? target : `${target}@${model}`));
}
