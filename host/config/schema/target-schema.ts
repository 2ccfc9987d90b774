import {
  always,
  block,
  decimal,
  duration,
  entry,
  freeMap,
  integer,
  integerItem,
  list,
  text,
  textItem,
  textMap,
} from './schema-fields.ts';
import { shown } from './showing.ts';

const NAME = shown({ as: 'name' });

/** One entry of `targets`. */
export const target = entry({
  virtual_key: always(
    text("the provider, and the target's name in headers, logs and metrics", {
      isRequired: true,
      bounds: 'a known provider, each once',
    }),
    '',
  ),
  weight: decimal('share of the traffic under `loadbalance`; other strategies do not look at it', {
    otherwise: 0,
    bounds: '≥ 0, sum > 0 under `loadbalance`',
  }),
  models: list('model ids it serves beside those the gateway knows of; never restricts', textItem.meta(NAME), {
    bounds: 'exact ids: no `*` or `?`, no blanks around, each once',
  }),
  model_map: textMap('model asked for → model sent upstream, after aliases; its names count as served', {
    bounds: 'neither side empty',
  }).meta(NAME),
  retry: block(
    'tries on this target before the next one',
    {
      attempts: integer(
        'tries in all; 0 counts as 1. In any 10 s a target is tried again at most 10 times, or a fifth as often as it gets requests, whichever is more',
        { otherwise: 1, min: 0 },
      ),
      on_status_codes: list(
        'statuses worth another try, instead of the default; failed connections always are',
        integerItem,
        { otherwiseSaid: '408, 429, ≥ 500' },
      ),
      initial_backoff_ms: integer(
        'the wait before try n + 1 is random, from 0 to this × 2ⁿ⁻¹ ms, at most 30 s; a wait the provider asks for goes first, and above 30 s the target is given up',
        { otherwise: 100, min: 0 },
      ),
    },
    { otherwiseSaid: 'one try' },
  ),
  retry_on_status: list('another name of `retry.on_status_codes`', integerItem, {
    bounds: 'equal to it when both are there',
  }),
  model_facts: list(
    'what is known of upstream models, where the [rules of models](catalog.md#rules-of-models) do not know them or say otherwise; a later entry wins',
    entry({
      models: list(
        'names of upstream models, with `*` for any run of characters; case does not matter',
        textItem.meta(NAME),
        {
          isRequired: true,
          bounds: 'at least one; at most 4 stars and 128 characters each',
        },
      ),
      as: text(
        'the model whose facts they have, and whose limits where the catalog does not know them: `openai/gpt-4o`',
        {
          bounds: 'a provider, `/`, a model; `as` or `set` is there',
        },
      ).meta(NAME),
      set: freeMap('facts that win over `as` and over the rules; `null` takes one away', {
        bounds: '[facts](catalog.md#rules-of-models)',
      }),
    }),
    { bounds: 'at most 100' },
  ),
  request_timeout: duration('longest time for one try; of a stream, until its first chunk', { bounds: '> 0' }),
  responses: text(
    'whether requests of `POST /v1/responses` go to this target as they are, or translated to chat; without it `responses.translate` decides',
    { values: ['native', 'translate'] },
  ),
  chat_via: text(
    'which API of its service answers chats, where it has two: `auto` asks the [rules of models](catalog.md#which-api-an-attempt-uses)',
    { values: ['auto', 'chat', 'responses'], otherwise: 'auto' },
  ),
  circuit_breaker: block(
    'leaves a failing target alone for a while',
    {
      failure_threshold: integer('failures in a row that open it', {
        otherwise: 5,
        min: 0,
        bounds: '0 is the default',
      }),
      success_threshold: integer('successes that close it', { otherwise: 1, min: 0, bounds: '0 is the default' }),
      max_half_threshold: integer('probes at a time while it tests the target', {
        otherwise: 1,
        min: 0,
        bounds: '0 is the default',
      }),
      timeout: duration('how long it stays open before a probe', {
        otherwise: '30s',
        bounds: '≥ 0, 0 is the default',
      }),
    },
    { otherwiseSaid: 'no breaker' },
  ),
  concurrency: block(
    'bounds the calls in flight',
    {
      max_concurrency: integer('calls at a time; a stream counts until it ends', {
        isRequired: true,
        min: 1,
        max: 10_000,
      }),
      queue_size: integer('calls that may wait; beyond it 429 `provider_saturated` at once', {
        otherwise: 1000,
        min: 0,
        max: 10_000,
        bounds: '0 is the default',
      }),
    },
    { otherwiseSaid: 'no bound' },
  ),
  settings: freeMap(
    'what a third-party strategy reads of a target; refused for one that reads nothing, as the shipped ones do',
    { otherwiseSaid: 'none', bounds: 'what the strategy declares' },
  ),
});
