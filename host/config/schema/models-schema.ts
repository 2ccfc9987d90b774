import { always, block, decimal, entry, flag, freeMap, integer, list, text, textItem } from './schema-fields.ts';
import { shown } from './showing.ts';
import { groupStrategy } from './strategy-schema.ts';

const NAME = shown({ as: 'name' });

/** One entry of `models[].routes`. */
const route = entry({
  target: always(text('the target that is called', { isRequired: true, bounds: 'a declared `virtual_key`' }), ''),
  model: text(
    "the upstream model; in a group whose name ends in `*`, a `*` at its end is what stands for the name's. Goes before `model_map`",
    {
      otherwiseSaid: "the target's `model_map` of the name asked for, else that name",
      bounds: 'not empty; each upstream model of a target once',
    },
  ).meta(NAME),
  weight: decimal('as `targets[].weight`, for this group', {
    otherwise: 0,
    bounds: '≥ 0, sum > 0 under `loadbalance`',
  }),
  settings: freeMap('as `targets[].settings`, for this group', {
    otherwiseSaid: 'none',
    bounds: 'what the strategy declares',
  }),
});

/** One entry of `models`. */
export const modelGroup = entry({
  name: always(
    text('what clients ask for, after aliases; with `*` at its end every name that begins so', {
      isRequired: true,
      bounds: 'at most 256 characters, each once; no `?`, no blanks around, no other `*`',
    }).meta(NAME),
    '',
  ),
  routes: always(
    list('where its requests may go, in the order strategies look at them', route, {
      isRequired: true,
      bounds: '1 to 64',
    }),
    [],
  ),
  strategy: always(groupStrategy, { mode: 'fallback' }),
  fallbacks: list(
    'names that are tried behind the routes, in this order, as if a client had asked for them; also where `strategy` does not go on to the next route',
    textItem.meta(NAME),
    { bounds: 'at most 16, each once; without `*`, not its own name' },
  ),
  listed: flag('whether `/v1/models` has it; it serves all the same', { otherwise: true }).meta(
    shown({ isKept: true }),
  ),
  context: block(
    "limits that `/v1/models` shows, in the place of the catalog's",
    {
      max_input_tokens: integer('longest prompt, in tokens', { otherwiseSaid: "the catalog's", min: 1 }),
      max_output_tokens: integer('longest answer, in tokens; also the ceiling for formats that need one', {
        otherwiseSaid: "the catalog's",
        min: 1,
      }),
    },
    { otherwiseSaid: "the catalog's" },
  ),
});
