import {
  block,
  blockMap,
  decimal,
  flag,
  freeMap,
  integer,
  list,
  entryWith,
  secret,
  text,
  textItem,
  textMap,
} from './schema-fields.ts';
import { SECRET_KEY } from '../../common/kinds/secret-keys.ts';
import { shown } from './showing.ts';

const KEPT = shown({ isKept: true });
const NAME = shown({ as: 'name' });
const NAMES = '^[a-z0-9][a-z0-9-]{0,63}$';
const REFERENCE = { bounds: 'one reference, `${NAME}` or `${file:/run/secrets/name}`' } as const;

const apiKey = secret('the key of the service', REFERENCE);
const otherSecret = secret(
  'any other secret that the [kind](providers.md#declared-instances) has, as `access_key_id`, `secret_access_key`, `session_token`, `service_account_json`',
  REFERENCE,
);

const credential = entryWith(
  {
    name: text('what it is called in rows, figures and lines; clients never see it', {
      isRequired: true,
      pattern: NAMES,
      bounds: 'lower-case letters, digits and `-`, at most 64; each once',
    }).meta(NAME),
    api_key: apiKey,
    weight: decimal('its share of the calls; with 0 it takes no new ones', {
      otherwise: 1,
      bounds: '≥ 0, one above 0',
    }).meta(KEPT),
    max_concurrency: integer('calls in flight with it, streams to their last byte; nothing waits for a place', {
      otherwiseSaid: 'no bound',
      min: 1,
      max: 10_000,
    }),
    models: list('upstream models that it may be used for', textItem.meta(NAME), {
      otherwiseSaid: 'all',
      bounds: 'at most 1,000 ids, each exact or with one `*` at its end',
    }).meta(KEPT),
    organization: text('sent as `OpenAI-Organization`', { bounds: 'kinds `openai` and `openai-compatible`' }),
    project: text('sent as `OpenAI-Project`', { bounds: 'kinds `openai` and `openai-compatible`' }),
    vendor_account: text(
      'label of credentials of one kind that share what the vendor keeps of them: files, responses, caches',
      { otherwiseSaid: 'its own', pattern: NAMES, bounds: 'as `name`' },
    ).meta(NAME),
  },
  SECRET_KEY,
  otherSecret,
);

const instance = entryWith(
  {
    kind: text('the provider that translates for it', {
      isRequired: true,
      bounds: 'a provider of [providers.md](providers.md), or of a module',
    }),
    base_url: text("the service's address", {
      otherwiseSaid: "the kind's",
      bounds: 'http or https, without user, query and fragment; not link-local; not the address of one route',
    }),
    settings: freeMap('what the kind has beside address and secrets', { bounds: "the kind's own keys" }),
    api_key: apiKey,
    credentials: list('sets of secrets, of which each call uses one', credential, {
      bounds: '1 to 64; not beside secrets of the instance',
    }),
    headers: textMap('sent with every call that carries the credential', {
      bounds: 'at most 32; what is secret by its name is a reference, also behind `Bearer` or `Basic`',
    }).meta(shown({ as: 'headers' })),
    models: list("model ids it has, in place of the catalog's and of what the service lists", textItem.meta(NAME), {
      otherwiseSaid: "the kind's",
      bounds: 'at most 10,000 exact ids, each once',
    }).meta(KEPT),
    discover: flag('whether the service is asked for its models', {
      otherwiseSaid: 'by `GW_MODEL_DISCOVERY_INTERVAL`; of `openai-compatible` `true`',
      bounds: 'not `true` beside `models`',
    }).meta(KEPT),
    any_model: flag('whether it may be asked for every model that no target owns', {
      otherwiseSaid: "the kind's",
    }).meta(KEPT),
    catalog: text('where models, prices and limits are looked up', {
      otherwiseSaid: 'the kind; of `openai-compatible` `none`',
      bounds: 'a provider of the catalog, or `none`',
    }).meta(NAME),
    proxy: block(
      'an HTTP proxy for this instance alone',
      {
        url: text('its address', { isRequired: true, bounds: 'http or https, without user and password' }),
        username: text('who the gateway is there'),
        password: secret('the password that goes with it', REFERENCE),
      },
      { otherwiseSaid: 'none' },
    ),
    tls: block('how the service is known', {
      ca_file: text('authorities beside the default ones, as PEM', {
        bounds: 'an absolute path; at most 1 MiB',
      }),
    }),
    data: block("facts about the vendor's handling of data, which are shown", {
      region: text('where data lies', { bounds: 'at most 64 characters' }),
      retention_days: integer('how long it is kept', { min: 0 }).meta(KEPT),
      trains: flag('whether models are trained with it').meta(KEPT),
    }),
  },
  SECRET_KEY,
  otherSecret,
);

/** The map `providers`. */
export const providers = blockMap(
  'providers under names of their own; a name of a kind takes the place of the provider of the environment',
  instance,
  { pattern: NAMES, bounds: 'at most 256; lower-case letters, digits and `-`, at most 64' },
);
