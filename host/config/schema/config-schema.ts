import Joi from 'joi';
import {
  always,
  block,
  duration,
  flag,
  integer,
  list,
  text,
  textItem,
  textMap,
  type BlockOf,
} from './schema-fields.ts';
import { account } from './accounts-schema.ts';
import { identity } from './identity-schema.ts';
import { mcpServer } from './mcp-schema.ts';
import { modelGroup } from './models-schema.ts';
import { observability } from './observability-schema.ts';
import { plugin } from './plugin-schema.ts';
import { providers } from './providers-schema.ts';
import { shown } from './showing.ts';
import { strategy } from './strategy-schema.ts';
import { target } from './target-schema.ts';

const ALWAYS_THERE = shown({ always: {} });
const STREAM_TIME = 'a duration of 1s to 60s; `off` or `0`: never';
const TARGET = { bounds: 'a declared `virtual_key`' } as const;

const keys = {
  apiVersion: text('version of this format; anything but `v1` is warned of', {
    otherwise: 'v1',
    bounds: 'any',
  }).default('v1'),
  providers,
  strategy: always(strategy, { mode: 'single' }).meta(ALWAYS_THERE),
  targets: always(
    list('upstreams, in the order strategies look at them', target, {
      isRequired: true,
      bounds: 'at least one',
    }),
    [],
  ).meta(shown({ always: [] })),
  max_request_bytes: integer('largest request body; 0 is the default; above it 413', { otherwise: 10_485_760, min: 0 }),
  request_timeout: duration(
    'longest time for a whole request with plugins, waits, retries and fallbacks; of a stream, until its first chunk',
    { bounds: '> 0' },
  ),
  plugins: always(list('what requests and answers pass, in this order', plugin), []),
  aliases: always(
    textMap('name that clients use → model id; exact, one hop, before everything else; not listed as a model', {
      bounds: 'name and value not empty, not the same, value no alias itself',
    }).meta(shown({ as: 'name' })),
    {},
  ),
  models: list(
    'groups of models: names of your own, each with the routes that serve it and a strategy of its own, see [groups of models](reference/groups.md)',
    modelGroup,
    { bounds: 'at most 1,000, with at most 10,000 routes together' },
  ),
  mcp_servers: always(list('servers whose tools are offered to models ([mcp.md](mcp.md))', mcpServer), []),
  mcp: always(
    block('how tools are used, whichever server has them', {
      stream: flag('an answer streams while tools are called, turn by turn', { otherwise: false }),
    }),
    {},
  ),
  observability: always(observability, {}).meta(ALWAYS_THERE),
  compatibility: always(
    block('parameters that a provider does not support', {
      on_unsupported_param: text(
        'a parameter the provider does not support: sent where its format has a place for it and logged; left out; or answered 400',
        { otherwise: 'warn', values: ['warn', 'drop', 'reject'] },
      ),
    }).meta(ALWAYS_THERE),
    {},
  ),
  streaming: always(
    block('streamed answers behind proxies, see [proxies.md](proxies.md)', {
      keepalive: text('longest silence of a streamed answer: then bytes say that it goes on', {
        otherwise: '15s',
        bounds: STREAM_TIME,
      }),
      open_after: text(
        'a stream without a chunk gets its status 200 and its headers so long after the first call of a provider; retries and failover go on behind them. Without keep-alives never, unless it is written',
        { otherwise: '45s', bounds: STREAM_TIME },
      ),
    }),
    {},
  ),
  batch_target: text(
    'serves `/v1/files*` and `/v1/batches*`, see [passthrough.md](passthrough.md); without it they are 501',
    TARGET,
  ),
  responses_target: text('serves `/v1/responses/{id}` and what is below; without it they are 501', TARGET),
  responses: always(
    block('the Responses API', {
      bind_owner: flag(
        'a response that was made with one credential is 404 for every other, also as `previous_response_id`',
        { otherwise: false },
      ),
      translate: text(
        '`auto`: a request of `POST /v1/responses` is translated to chat where the provider does not serve that API itself, see [responses.md](responses.md)',
        { otherwise: 'off', values: ['off', 'auto'] },
      ),
    }),
    {},
  ),
  files: always(
    block('files and batches', {
      bind_owner: flag(
        'a file or a batch that was made with one credential is 404 for every other, also where a body names it; see [passthrough.md](passthrough.md)',
        { otherwise: false },
      ),
    }),
    {},
  ),
  money: always(
    block('what requests cost', {
      unpriced: text(
        'what becomes of a request of a key with `budget_usd`, or with `budgets` in dollars (`refuse` unless said), whose model has no price: refused with 400 before anything is sent; served with a warning, once per target, model and day; served. See [stores.md](stores.md#what-was-spent)',
        { otherwise: 'warn', values: ['refuse', 'warn', 'allow'] },
      ),
      price_reports: text(
        'what becomes of a cost that a vendor reports with its answer: it is booked; it is held against the computed one; nothing. Without it the provider says it, see [catalog.md](catalog.md#the-vendors-own-cost)',
        { values: ['prefer', 'compare', 'ignore'] },
      ),
      timezone: text('whose clocks budgets mean that name no time zone, and whose days reports of spend show', {
        otherwise: 'UTC',
        bounds: 'name of a time zone, such as `Europe/Berlin`',
      }),
      tags: block('tags that requests bring, see [accounts.md](reference/accounts.md#tags-of-requests)', {
        header: flag('the header `X-Gateway-Tags` is read', { otherwise: false }),
        metadata: list(
          'entries of `X-Gateway-Metadata` that are tags: `project` is the tag `project=<value>`',
          textItem,
          {
            otherwiseSaid: 'none',
            bounds: 'at most 10, names of tags',
          },
        ),
      }),
    }),
    {},
  ),
  accounts: list(
    'accounts and tags, each with what binds the keys below it, see [accounts.md](reference/accounts.md)',
    account,
    { bounds: 'at most 10,000' },
  ),
  identity,
  modules: always(
    list("packages and files with providers, strategies and plugins, resolved from the file's folder", textItem, {
      bounds: 'package names; paths that begin with `./`, `../` or `/`',
    }),
    [],
  ),
} as const;

/** Every key a configuration may hold, by type alone; what values mean is left to the rules. */
export const configSchema = Joi.object<BlockOf<typeof keys>>(keys);
