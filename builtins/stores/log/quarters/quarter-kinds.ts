import type { Knex } from 'knex';
import { type LogFilters, TERMINAL_STAGES } from '../../../../host/stores/log/log-repository.ts';
import { OUTCOME } from '../searched.ts';

/** What sums of a quarter are kept by, with the SQL that says it of a row. Empty where a row does not say it. */
export const DIMENSIONS = {
  provider: "coalesce(provider, '')",
  model: "coalesce(model, '')",
  target: "coalesce(target, '')",
  surface: "coalesce(surface, '')",
  api_key_id: "coalesce(api_key_id, '')",
  code: "coalesce(code, '')",
  status: 'coalesce(status, 0)',
  outcome: OUTCOME,
  stage: "coalesce(stage, '')", // by the column itself SQLite would read the index of all stages
} as const;
export type Dimension = keyof typeof DIMENSIONS;

/**
 * Several tables in one, by their kind: what is asked together is kept together, and no more. One table of all dimensions would have nearly as
 * many lines as there are rows. The last one is of the rows of every stage, the others of those that end a request.
 */
export const KINDS: readonly (readonly Dimension[])[] = [
  ['provider', 'model', 'target', 'surface', 'outcome'],
  ['api_key_id', 'outcome'],
  ['code', 'status', 'outcome'],
  ['stage'],
];
const BY_STAGE = 3;
/** The fewest lines first. */
const TERMINAL_KINDS = [2, 1, 0];

/** What a question needs of a kind. */
export interface KindQuestion {
  readonly kind: number;
  /** Leaves the lines that its filters leave. */
  readonly leave: (query: Knex.QueryBuilder) => Knex.QueryBuilder;
}

/** The kind that answers sums by these dimensions with these filters; `undefined` where only rows do. */
export function kindOf(filters: LogFilters, by: readonly Dimension[]): KindQuestion | undefined {
  const { stages, since: _since, before: _before, search = {}, ...named } = filters;
  const conditions = conditionsOf(named, search);
  if (!conditions) return undefined;
  const needed = new Set([...by, ...conditions.keys()]);
  const kind = isTerminal(stages)
    ? TERMINAL_KINDS.find((each) => [...needed].every((name) => KINDS[each]?.includes(name)))
    : stages.length === 0 && [...needed].every((name) => name === 'stage')
      ? BY_STAGE
      : undefined;
  if (kind === undefined) return undefined;
  return {
    kind,
    leave: (query) => {
      void query.where({ kind });
      for (const condition of conditions.values()) condition(query);
      return query;
    },
  };
}

const isTerminal = (stages: readonly string[]): boolean =>
  stages.length === TERMINAL_STAGES.length && TERMINAL_STAGES.every((stage) => stages.includes(stage));

type Condition = (query: Knex.QueryBuilder) => void;

/** What the filters ask of each dimension; `undefined` where they ask what no kind holds. */
function conditionsOf(
  { model, provider, apiKeyId, ...otherNames }: Omit<LogFilters, 'stages' | 'since' | 'before' | 'search'>,
  { statuses, codes, outcomes, equal = {}, ...otherSearch }: NonNullable<LogFilters['search']>,
): ReadonlyMap<Dimension, Condition> | undefined {
  const { target, surface, ...otherTexts } = equal;
  if ([otherNames, otherSearch, otherTexts].some((rest) => Object.values(rest).some((value) => value !== undefined)))
    return undefined;
  const conditions = new Map<Dimension, Condition>();
  const is = (name: Dimension, value: string | undefined): void => {
    if (value !== undefined) conditions.set(name, (query) => void query.where({ [name]: value }));
  };
  is('model', model);
  is('provider', provider);
  is('target', target);
  is('surface', surface);
  is('api_key_id', apiKeyId === null ? '' : apiKeyId);
  if (codes) conditions.set('code', (query) => void query.whereIn('code', [...codes]));
  if (outcomes) conditions.set('outcome', (query) => void query.whereIn('outcome', [...outcomes]));
  if (statuses)
    conditions.set(
      'status',
      (query) =>
        void query.where((any) => {
          for (const range of statuses) void any.orWhereBetween('status', range);
        }),
    );
  return conditions;
}
