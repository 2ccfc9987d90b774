import { always, block, decimal, entry, freeMap, integerItem, list, text, textItem } from './schema-fields.ts';
import { shown } from './showing.ts';

const NAME = shown({ as: 'name' });
const TARGET = { bounds: 'a declared `virtual_key`' } as const;

const condition = entry({
  key: text('what is looked at', { values: ['model', 'model_prefix', 'metadata'] }),
  field: text('entry of the header `X-Gateway-Metadata`', { bounds: 'for `metadata` alone, and required there' }),
  value: text('what it must equal, or begin with').meta(NAME),
  target_key: text('the target that takes it', TARGET),
});

const contentCondition = entry({
  type: text('how they are compared; a regular expression is RE2, found anywhere', {
    values: ['prompt_contains', 'prompt_not_contains', 'prompt_regex'],
  }),
  value: text('text or pattern').meta(NAME),
  target_key: text('the target that takes it', TARGET),
});

const variant = entry({
  target_key: text('the target of the variant', TARGET),
  weight: decimal('its share', { otherwise: 0, bounds: '≥ 0, sum > 0' }),
  label: text("its name in logs and figures; without one, its target's", { bounds: 'any' }),
});

/** Keys in a `strategy` block that one strategy each reads, and those that any of them has. */
const common = {
  settings: freeMap('settings of a strategy that is not shipped', { bounds: "the strategy's own schema" }).meta(
    shown({ as: 'strategy settings' }),
  ),
  affinity: text(
    '`session`: the requests of one conversation go to the same place as long as it serves, so that its caches are of use. For chats, completions and Responses',
    { otherwise: 'off', values: ['off', 'session'] },
  ),
  failover_on: list(
    'further failures after which the next target is tried, beside failed connections, timeouts, 3xx, 408, 429, ≥ 500 and local refusals',
    textItem,
    { values: ['context_length', 'content_policy', 'too_large', 'model_access'] },
  ),
  failover_on_status_codes: list('further statuses after which the next target is tried', integerItem),
  unpriced_strategy: text(
    'under `cost-optimized`, what becomes of targets without a price: [strategies.md](strategies.md#cost-optimized)',
    { otherwise: 'fallback', values: ['fallback', 'skip', 'allow'] },
  ),
  conditions: list('rules of `conditional`; the first match decides, else the first target', condition),
  content_conditions: list(
    'rules of `content-based` on the texts of user messages; the first match decides, else the first target',
    contentCondition,
  ),
  ab_variants: list('variants of `ab-test`', variant),
} as const;

const mode = (otherwise: string): ReturnType<typeof text> =>
  text('how targets are ordered', {
    otherwise,
    bounds: 'a strategy of [strategies.md](strategies.md), or of a module',
  });

/** The block `strategy`. */
export const strategy = block(
  'how a target is chosen',
  { mode: always(mode('single').meta(shown({ always: '' })), 'single'), ...common },
  { otherwiseSaid: 'mode `single`' },
);

/** The block `strategy` of a group of models: its routes are what the targets are elsewhere. Pages explain its keys once, in the other block. */
export const groupStrategy = block(
  'how a route is chosen: the keys of the [block of that name](#strategy), where `target_key` is the key of a route',
  { mode: always(mode('fallback'), 'fallback'), ...common },
  { otherwiseSaid: 'mode `fallback`' },
).meta({ sameKeysAs: 'strategy' });
