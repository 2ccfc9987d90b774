import Joi from 'joi';
import { CONTRACT, STAGES, SURFACES, SURFACE_NAMES } from '../contract/index.ts';
import { translatorProblem } from './canned-requests.ts';
import { type ModuleCheck, type ModuleKind, SHIPPED } from './registry.ts';
import { callable, distinct, either, fields, filled, flag, listOf, matching, oneOf, recordOf, shape, type Shape, text } from './shape.ts';

/** One rule about modules; tapped on `checkModule` under its id. */
export interface ModuleRule {
  readonly id: string;
  check(check: ModuleCheck): void;
}

const name = matching(/^[a-z0-9]+(-[a-z0-9]+)*$/, 'lower-case words joined by hyphens');
const settingsSchema = shape('a Joi object schema', (value) => Joi.isSchema(value) && value.type === 'object');
const words = listOf(text);
const milliseconds = shape('a whole number above 0', (value) => Number.isSafeInteger(value) && (value as number) > 0);
const stages = distinct(filled(listOf(oneOf(...STAGES))));
const translated = [...new Set(SURFACE_NAMES.map((surface) => SURFACES[surface].translator).filter((surface) => surface !== undefined))];
const directions = { toUpstream: callable, fromUpstream: callable };
const translator = fields({ required: directions });
const chatTranslator = fields({ required: directions, optional: { openStream: either('"common" or a function', oneOf('common'), callable), editStream: callable } });

/** Headers that stay with the host: credentials, and what is the connection's own. */
const KEPT_HEADERS = new Set<unknown>([
  'authorization', 'proxy-authorization', 'cookie', 'x-api-key', 'api-key', 'host', 'connection', 'content-length', 'content-type', 'content-encoding', 'transfer-encoding',
]);
const clientHeader = shape('a lower-case header name that is not kept by the host', (value) => name(value, '').length === 0 && !KEPT_HEADERS.has(value));

const connection = fields({
  required: {
    env: listOf(either('the name of a variable, or a list of such names', text, filled(words))),
    baseUrl: either('text or a function', text, callable),
  },
  optional: {
    optionalEnv: words, baseUrlEnv: text, rootStyle: oneOf('api-root', 'host'), root: callable, authorize: callable, open: callable, models: callable,
    connectTimeoutMs: milliseconds, headersTimeoutMs: milliseconds,
  },
});

const treatment = either('forward, translate, unsupported or { rename }', oneOf('forward', 'translate', 'unsupported'), fields({ required: { rename: text }, isClosed: true }));

const SHAPES: Readonly<Record<ModuleKind, Shape>> = {
  provider: fields({
    required: {
      name,
      wire: oneOf('common', 'native'),
      connection,
      params: recordOf(treatment),
      translators: fields({ optional: Object.fromEntries(translated.map((surface) => [surface, surface === 'chat' ? chatTranslator : translator])), isClosed: true }),
    },
    optional: {
      paramsFor: callable,
      framing: oneOf('sse', 'ndjson', 'eventstream'),
      passthrough: flag, batches: flag, responses: flag, anyModel: flag, offline: flag,
      discovery: fields({ required: { path: text, read: callable } }),
      catalogModels: oneOf(false),
      forwardPath: text,
      clientHeaders: listOf(clientHeader),
      describedAs: callable,
      imageFormats: words,
      converse: callable,
      toFault: callable,
    },
  }),
  strategy: fields({
    required: { name, summary: text, settings: settingsSchema, create: callable },
    optional: { settingsFrom: words, check: callable, advances: flag },
  }),
  plugin: fields({
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
      refusesUnreadable: flag,
    },
  }),
};

const KIND_FOLDERS: Readonly<Record<ModuleKind, string>> = { provider: 'providers', strategy: 'strategies', plugin: 'plugins' };

export const MODULE_RULES: readonly ModuleRule[] = [
  {
    id: 'MV02',
    check: ({ value, kind, report }) => {
      if (value['kind'] === kind) return;
      report('MV02', `it exports kind "${String(value['kind'])}" where a ${kind} belongs`, `use define${kind[0]?.toUpperCase()}${kind.slice(1)}, or move it out of ${KIND_FOLDERS[kind]}/`);
    },
  },
  {
    id: 'MV03',
    check: ({ value, report }) => {
      if (value['contract'] === CONTRACT) return;
      report('MV03', `it was made for contract ${String(value['contract'])}, this host speaks ${CONTRACT}`, 'use the define* helper of this version');
    },
  },
  {
    id: 'MV04',
    check: ({ value, kind, report }) => {
      for (const problem of SHAPES[kind](value, '')) report('MV04', problem, 'see docs/modules.md for the shape');
    },
  },
  {
    id: 'MV05',
    check: ({ value, expectedName, report }) => {
      if (expectedName === undefined || value['name'] === expectedName) return;
      report('MV05', `it is named "${String(value['name'])}" but stands at "${expectedName}"`, 'give the file or folder and the module one name');
    },
  },
  {
    id: 'MV06',
    // What a shipped translator makes of these requests is known without a start: a test asks them all.
    check: ({ value, kind, origin, report }) => {
      if (origin === SHIPPED || kind !== 'provider' || typeof value['translators'] !== 'object' || value['translators'] === null) return;
      for (const [surface, translators] of Object.entries(value['translators'])) {
        const problem = translatorProblem(surface, translators);
        if (problem !== undefined) report('MV06', `its ${surface} translator fails on a minimal request: ${problem}`, 'return { path, body } for every valid request');
      }
    },
  },
];
