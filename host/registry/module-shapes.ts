import Joi from 'joi';
import { type MarkPlace, STAGES, SURFACES, SURFACE_NAMES } from '../contract/index.ts';
import type { ModuleKind } from './registry.ts';
import { isKeyShape } from '../log/key-shapes.ts';
import {
  callable,
  distinct,
  either,
  fields,
  filled,
  type Finding,
  flag,
  listOf,
  matching,
  oneOf,
  recordOf,
  shape,
  type Shape,
  text,
} from './shape.ts';

const name = matching(/^[a-z0-9]+(-[a-z0-9]+)*$/, 'lower-case words joined by hyphens', "'my-module'");
const settingsSchema = shape(
  'a Joi object schema',
  isObjectSchema,
  'Joi.object({ … }), with the joi that "import Joi from \'joi\'" gives',
);
const words = listOf(text);
const milliseconds = shape(
  'a whole number above 0',
  (value) => Number.isSafeInteger(value) && (value as number) > 0,
  '10_000',
);
const stages = distinct(filled(listOf(oneOf(...STAGES))));
const translated = [
  ...new Set(SURFACE_NAMES.map((surface) => SURFACES[surface].translator).filter((surface) => surface !== undefined)),
];
const streamed = SURFACE_NAMES.filter((surface) => SURFACES[surface].canStream);
const directions = { toUpstream: callable, fromUpstream: callable };
const translator = fields({ required: directions, optional: { relaysBytes: flag } });
const ofChats = {
  openStream: either('"common" or a function', oneOf('common'), callable),
  editStream: callable,
  relaysBytes: flag,
};
const chatTranslator = fields({
  required: directions,
  optional: { ...ofChats, viaResponses: fields({ required: directions, optional: { ...ofChats, isAutomatic: flag } }) },
});

const MARK_PLACES: readonly MarkPlace[] = ['tools', 'parts', 'texts', 'messages', 'calls'];

const translators = fields({
  optional: Object.fromEntries(
    translated.map((surface) => [surface, surface === 'chat' ? chatTranslator : translator]),
  ),
});

/** What translates, by surface. A surface that is named is served: `undefined` would be called. */
export const TRANSLATORS: Shape = Object.assign(
  (value: unknown, at: string): readonly Finding[] => {
    const unset = Object.entries(value ?? {}).filter(([, each]) => each === undefined);
    return [
      ...translators(value, at),
      ...unset.map(([surface]) => ({
        message: `${at}.${surface} is undefined`,
        fix: `leave ${surface} out, or write its translator`,
      })),
    ];
  },
  { fields: translators.fields },
);

/** What chats take: `chatTraits`, and what `chatTraitsFor` returns. */
export const CHAT_TRAITS = fields({
  optional: {
    wire: oneOf('common', 'native'),
    history: fields({
      optional: {
        marks: either(
          `"unasked" or a list of places: ${MARK_PLACES.join(', ')}`,
          oneOf('unasked'),
          listOf(oneOf(...MARK_PLACES)),
        ),
        late_system: flag,
        thoughts: either('"tool_turns" or a list of formats', oneOf('tool_turns'), words),
      },
    }),
    mediaInResults: flag,
    errorsInResults: flag,
    refusesBlankTurns: flag,
    longToolNames: flag,
    fields: listOf(oneOf('prompt_cache_key', 'service_tier', 'verbosity')),
  },
});

const keyShape = fields({
  required: {
    shape: shape('the beginning of a key and sets of characters behind it', isKeyShape, "'acme-[A-Za-z0-9_-]{20,}'"),
    shownAs: matching(/^[A-Z][A-Z0-9_]*$/, 'capital letters, digits and underscores', "'ACME_KEY'"),
  },
});

const place = shape('a whole number from 1 on', (value) => Number.isSafeInteger(value) && (value as number) > 0, '6');
const lowerCase = matching(/^[^A-Z\s/]+$/, 'lower case, without blanks and slashes', "'acme'");

/** What the catalog, telemetry and other gateways call a provider. */
const naming = {
  names: fields({
    optional: {
      catalog: filled(listOf(matching(/^[^\s/]+$/, 'text without blanks and slashes', "'acme'"))),
      telemetry: text,
    },
  }),
  elsewhere: recordOf(
    fields({
      optional: {
        names: listOf(lowerCase),
        models: listOf(matching(/^[^A-Z\s]*$/, 'the beginning of a model in lower case', "'acme-'")),
        insteadOf: lowerCase,
        settings: listOf(
          fields({
            required: { variable: text, from: filled(words) },
            optional: { isSecret: flag, as: matching(/\{\}/, 'text with {} for the setting', "'https://{}.example'") },
          }),
        ),
      },
    }),
  ),
};

const sameWire = fields({ required: { toUpstream: callable }, optional: { countTokens: callable } });

/** Whether a value is an object schema. Of one that another joi made the library says so by throwing. */
function isObjectSchema(value: unknown): boolean {
  try {
    return Joi.isSchema(value) && value.type === 'object';
  } catch {
    return false;
  }
}

/** Headers that stay with the host: credentials, and what is the connection's own. */
const KEPT_HEADERS = new Set<unknown>([
  'authorization',
  'proxy-authorization',
  'cookie',
  'x-api-key',
  'api-key',
  'host',
  'connection',
  'content-length',
  'content-type',
  'content-encoding',
  'transfer-encoding',
]);
const clientHeader = shape(
  'a lower-case header name that is not kept by the host',
  (value) => name(value, '').length === 0 && !KEPT_HEADERS.has(value),
  "'x-trial'",
);

const kindSetting = fields({ required: { variable: text }, optional: { isRequired: flag, values: words } });
const secretSet = fields({ required: { needs: words }, optional: { mayHave: words } });

const connection = fields({
  required: {
    env: listOf(either('the name of a variable, or a list of such names', text, filled(words))),
    baseUrl: either('text or a function', text, callable),
  },
  optional: {
    optionalEnv: words,
    baseUrlEnv: text,
    rootStyle: oneOf('api-root', 'host'),
    root: callable,
    authorize: callable,
    open: callable,
    models: callable,
    settings: recordOf(either('the name of a variable, or { variable }', text, kindSetting)),
    secrets: recordOf(text),
    secretSets: filled(listOf(secretSet)),
    needsAddress: flag,
    onlyDeclared: flag,
    chatModelEnv: text,
    keyShapes: listOf(keyShape),
    connectTimeoutMs: milliseconds,
    headersTimeoutMs: milliseconds,
  },
});

const treatment = either(
  'forward, translate, unsupported or { rename }',
  oneOf('forward', 'translate', 'unsupported'),
  fields({ required: { rename: text } }),
);

/** What the helpers of the contract stamp; other rules look at it. */
const beside = ['kind', 'contract'] as const;

/** What a module of each kind holds: docs/modules.md explains every field. */
export const SHAPES: Readonly<Record<ModuleKind, Shape>> = {
  provider: fields({
    beside,
    required: {
      name,
      wire: oneOf('common', 'native'),
      connection,
      params: recordOf(treatment),
      translators: TRANSLATORS,
    },
    optional: {
      streams: listOf(oneOf(...streamed)),
      paramsFor: callable,
      chatTraits: CHAT_TRAITS,
      chatTraitsFor: callable,
      sameWire: fields({ optional: { messages: sameWire, gemini: sameWire, responses: sameWire } }),
      framing: oneOf('sse', 'ndjson', 'eventstream'),
      passthrough: flag,
      batches: flag,
      responses: oneOf(true, false, 'native'),
      anyModel: flag,
      offline: flag,
      discovery: fields({ required: { path: text, read: callable } }),
      catalogModels: oneOf(false),
      forwardPath: text,
      clientHeaders: listOf(clientHeader),
      describedAs: callable,
      costReport: fields({ required: { usd: callable, use: oneOf('prefer', 'compare', 'ignore') } }),
      tierHeader: clientHeader,
      ...naming,
      bannerPlace: place,
      imageFormats: words,
      converse: callable,
      toFault: callable,
    },
  }),
  strategy: fields({
    beside,
    required: { name, summary: text, settings: settingsSchema, create: callable },
    optional: {
      settingsFrom: words,
      targetSettings: settingsSchema,
      check: callable,
      advances: flag,
      sessions: oneOf('spread', 'declared', 'repeatable'),
    },
  }),
  plugin: fields({
    beside,
    required: {
      name,
      type: oneOf('guardrail', 'ratelimit', 'logging', 'metrics', 'transform', 'auth'),
      summary: text,
      stages,
      settings: settingsSchema,
      create: callable,
    },
    optional: {
      surfaces: listOf(oneOf(...SURFACE_NAMES)),
      unlistedSettings: words,
      toleratedSettings: recordOf(text),
      rejectsAs: oneOf('request_rejected', 'rate_limit_exceeded', 'insufficient_quota'),
      keepsModel: flag,
      checkStages: callable,
      readsContent: callable,
      readsUsage: callable,
      needsBody: callable,
      refusesUnreadable: flag,
    },
  }),
};
