import { type StrategyPlace, TOP_LEVEL } from '../../contract/index.ts';
import type { GatewayConfig, StrategyConfig, TargetConfig } from '../document.ts';
import { routeKeys } from '../route-keys.ts';

/** A target as a strategy's rules look at it: of a group of models a route, by its key. */
export type RankedConfig = Pick<TargetConfig, 'virtual_key' | 'weight' | 'settings'>;

/** A `strategy` block, and what it ranks. */
export interface PlacedStrategy {
  readonly place: StrategyPlace;
  readonly strategy: StrategyConfig;
  readonly targets: readonly RankedConfig[];
}

/** The strategy of the document, then those of its groups of models. */
export function placedStrategies({ strategy, targets, models = [] }: GatewayConfig): readonly PlacedStrategy[] {
  const groups = models.map((group, index): PlacedStrategy => {
    const keys = routeKeys(group);
    return {
      place: { strategy: `models[${index}].strategy`, targets: `models[${index}].routes`, entry: 'route' },
      strategy: group.strategy,
      targets: group.routes.map(({ weight, settings }, at) => ({
        virtual_key: keys[at] ?? '',
        ...(weight !== undefined && { weight }),
        ...(settings !== undefined && { settings }),
      })),
    };
  });
  return [{ place: TOP_LEVEL, strategy, targets }, ...groups];
}

/** The path of a problem that a strategy reports as if it were the document's own. */
export function movedPath(path: string, { strategy, targets }: StrategyPlace): string {
  if (isAt(path, TOP_LEVEL.strategy)) return strategy + path.slice(TOP_LEVEL.strategy.length);
  if (isAt(path, TOP_LEVEL.targets)) return targets + path.slice(TOP_LEVEL.targets.length);
  return path;
}

const isAt = (path: string, holder: string): boolean =>
  path.startsWith(holder) && (path.length === holder.length || '.['.includes(path.charAt(holder.length)));

const NAMES_OF_TARGETS = /^targets(\[\d+\](\.virtual_key)?)?$/;
const ALL_OF_TARGETS = /^targets(\[\d+\](\.(virtual_key|weight|settings))?)?$/;

/** What a module's own rules may compare with: about all targets together all that it knows of them, about anything else their names. */
export function comparedBy(path: string, { targets }: StrategyPlace): RegExp {
  const isOfAll = path === targets;
  if (targets === TOP_LEVEL.targets) return isOfAll ? ALL_OF_TARGETS : NAMES_OF_TARGETS;
  const members = isOfAll ? '(target|model|weight|settings)' : '(target|model)';
  const index = targets.replace(/\D+/g, '');
  return new RegExp(`^models(\\[${index}\\](\\.(name|routes(\\[\\d+\\](\\.${members})?)?))?)?$`);
}
