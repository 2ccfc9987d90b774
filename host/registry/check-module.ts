import Joi from 'joi';
import { CONTRACT, STAGES, SURFACES, SURFACE_NAMES } from '../contract/index.ts';
import type { ModuleCheck, ModuleKind } from './registry.ts';
import { translatorProblem } from './canned-requests.ts';

/** One rule about modules; tapped on `checkModule` under its id. */
export interface ModuleRule {
  readonly id: string;
  check(check: ModuleCheck): void;
}

const name = Joi.string().pattern(/^[a-z0-9]+(-[a-z0-9]+)*$/, 'lower-case words joined by hyphens').required();
const callable = Joi.function();
const joiSchema = Joi.custom((value: unknown, helpers) => (Joi.isSchema(value) && value.type === 'object' ? value : helpers.error('any.invalid')), 'a Joi object schema').required();
const flag = Joi.boolean();
const words = Joi.array().items(Joi.string());
const milliseconds = Joi.number().integer().positive();
const stages = Joi.array().items(Joi.valid(...STAGES)).min(1).unique().required();
const translated = [...new Set(SURFACE_NAMES.map((surface) => SURFACES[surface].translator).filter((surface) => surface !== undefined))];
const translator = Joi.object({ toUpstream: callable.required(), fromUpstream: callable.required() }).unknown(true);
const chatTranslator = translator.keys({ openStream: Joi.alternatives(Joi.valid('common'), callable), editStream: callable });

/** Headers that stay with the host: credentials, and what is the connection's own. */
const KEPT_HEADERS = [
  'authorization', 'proxy-authorization', 'cookie', 'x-api-key', 'api-key', 'host', 'connection', 'content-length', 'content-type', 'content-encoding', 'transfer-encoding',
];

const SHAPES: Readonly<Record<ModuleKind, Joi.ObjectSchema>> = {
  provider: Joi.object({
    name,
    wire: Joi.valid('common', 'native').required(),
    connection: Joi.object({
      env: Joi.array().items(Joi.string(), Joi.array().items(Joi.string()).min(1)).required(),
      optionalEnv: words,
      baseUrlEnv: Joi.string(),
      baseUrl: Joi.alternatives(Joi.string(), callable).required(),
      rootStyle: Joi.valid('api-root', 'host'),
      root: callable,
      authorize: callable,
      open: callable,
      models: callable,
      connectTimeoutMs: milliseconds,
      headersTimeoutMs: milliseconds,
    }).unknown(true).required(),
    params: Joi.object().pattern(Joi.string(), Joi.alternatives(Joi.valid('forward', 'translate', 'unsupported'), Joi.object({ rename: Joi.string().required() }))).required(),
    paramsFor: callable,
    translators: Joi.object(Object.fromEntries(translated.map((surface) => [surface, surface === 'chat' ? chatTranslator : translator]))).required(),
    framing: Joi.valid('sse', 'ndjson', 'eventstream'),
    passthrough: flag, batches: flag, responses: flag, anyModel: flag, offline: flag,
    discovery: Joi.object({ path: Joi.string().required(), read: callable.required() }).unknown(true),
    catalogModels: Joi.valid(false),
    forwardPath: Joi.string(),
    clientHeaders: Joi.array().items(Joi.string().pattern(/^[a-z0-9]+(-[a-z0-9]+)*$/, 'lower-case header name').invalid(...KEPT_HEADERS)),
    describedAs: callable,
    imageFormats: words,
    converse: callable,
    toFault: callable,
  }).unknown(true),
  strategy: Joi.object({
    name,
    summary: Joi.string().required(),
    settings: joiSchema,
    settingsFrom: words,
    create: callable.required(),
    check: callable,
    advances: flag,
  }).unknown(true),
  plugin: Joi.object({
    name,
    type: Joi.valid('guardrail', 'ratelimit', 'logging', 'metrics', 'transform', 'auth').required(),
    summary: Joi.string().required(),
    stages,
    surfaces: Joi.array().items(Joi.valid(...SURFACE_NAMES)),
    settings: joiSchema,
    toleratedSettings: words,
    rejectsAs: Joi.valid('request_rejected', 'rate_limit_exceeded', 'insufficient_quota'),
    keepsModel: flag,
    create: callable.required(),
    checkStages: callable,
    readsContent: callable,
  }).unknown(true),
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
      const { error } = SHAPES[kind].validate(value, { abortEarly: false, convert: false });
      for (const detail of error?.details ?? []) report('MV04', detail.message.replaceAll('"', ''), 'see docs/modules.md for the shape');
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
    check: ({ value, kind, report }) => {
      if (kind !== 'provider' || typeof value['translators'] !== 'object' || value['translators'] === null) return;
      for (const [surface, translators] of Object.entries(value['translators'])) {
        const problem = translatorProblem(surface, translators);
        if (problem !== undefined) report('MV06', `its ${surface} translator fails on a minimal request: ${problem}`, 'return { path, body } for every valid request');
      }
    },
  },
];
