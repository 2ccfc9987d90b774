import { invalidRequest } from '../../../../host/common/invalid-request.ts';
import { type Fields, quoted } from '../../../../host/contract/index.ts';
import { cannotCarry, given, type Lost, Members } from './members.ts';
import { fromJsonSchema, fromVendorSchema } from './schema.ts';
import { knownWord, WORDS } from '../../words.ts';

const AT = 'generationConfig' as const;
const CARRIED = [
  'temperature',
  'topP',
  'topK',
  'candidateCount',
  'maxOutputTokens',
  'stopSequences',
  'presencePenalty',
  'frequencyPenalty',
  'seed',
  'responseLogprobs',
  'logprobs',
  'responseMimeType',
  'responseSchema',
  'responseJsonSchema',
  'responseModalities',
  'thinkingConfig',
  'speechConfig',
];
/** Members of the vendor's that no other wire has. */
const VENDOR_ONLY = [
  'mediaResolution',
  'audioTimestamp',
  'imageConfig',
  'routingConfig',
  'enableEnhancedCivicAnswers',
  'translationConfig',
  'modelSelectionConfig',
];
const KNOWN = new Set([...CARRIED, ...VENDOR_ONLY]);
const THINKING = new Set(['thinkingLevel', 'thinkingBudget', 'includeThoughts']);

const INT32 = 2 ** 31;
const MAX_CANDIDATES = 8;
const MAX_STOPS = 5;
const MAX_LOGPROBS = 20;
/** Most tokens of a budget that count as this effort. See docs/reference/ingress.md#gemini-the-request. */
const EFFORTS: readonly (readonly [most: number, effort: string])[] = [
  [1024, 'low'],
  [8192, 'medium'],
  [Infinity, 'high'],
];
const LEVEL_PATH = `${AT}.thinkingConfig.thinkingLevel` as const;
const UNSPECIFIED = 'THINKING_LEVEL_UNSPECIFIED';

/** What the configuration of an answer says, in the common format, and what only the writer of the answer needs. */
export interface Configuration {
  readonly fields: Fields;
  readonly includesThoughts: boolean;
  readonly wantsLogprobs: boolean;
}

/** What `generationConfig` says, in the common format. See docs/reference/ingress.md#gemini-the-request. */
export function readConfig(value: unknown, lost: Lost): Configuration {
  if (value === undefined) return { fields: {}, includesThoughts: false, wantsLogprobs: false };
  const config = new Members(value, KNOWN, AT);
  if (config.fields['speechConfig'] !== undefined)
    throw cannotCarry(config.path('speechConfig'), 'the answer has text only');
  lost.addGiven(config.fields, VENDOR_ONLY, AT);
  lost.addUnknown(config.fields, KNOWN, AT);
  checkModalities(config);
  const thinking = readThinking(config, lost);
  const format = readFormat(config);
  const logprobs = config.flag('responseLogprobs');
  return {
    fields: {
      ...sampling(config),
      ...(format && { response_format: format }),
      ...(thinking.effort !== undefined && { reasoning_effort: thinking.effort }),
    },
    includesThoughts: thinking.isIncluded,
    wantsLogprobs: logprobs === true,
  };
}

function sampling(config: Members): Fields {
  const stops = config.texts('stopSequences') ?? [];
  if (stops.length > MAX_STOPS)
    throw invalidRequest(`${config.path('stopSequences')} holds ${stops.length} sequences, the limit is ${MAX_STOPS}`);
  const candidates = config.integer('candidateCount', 1, MAX_CANDIDATES);
  return given({
    temperature: config.number('temperature', 0, 2),
    top_p: config.number('topP', 0, 1),
    top_k: config.integer('topK', 0),
    n: candidates === 1 ? undefined : candidates,
    max_tokens: config.integer('maxOutputTokens', 1),
    stop: stops.length > 0 ? stops : undefined,
    presence_penalty: config.number('presencePenalty'),
    frequency_penalty: config.number('frequencyPenalty'),
    seed: config.integer('seed', -INT32, INT32 - 1),
    logprobs: config.flag('responseLogprobs'),
    top_logprobs: config.integer('logprobs', 0, MAX_LOGPROBS),
  });
}

function checkModalities(config: Members): void {
  const asked = config.texts('responseModalities') ?? [];
  if (!asked.every((name) => name.toUpperCase() === 'TEXT'))
    throw cannotCarry(config.path('responseModalities'), 'the answer has text only');
}

const JSON_TYPE = 'application/json';

/** A schema needs the type beside it, as the vendor has it. Source: ai.google.dev, API reference, "GenerationConfig", 2026-11-22. */
function readFormat(config: Members): Fields | undefined {
  const type = config.text('responseMimeType') ?? '';
  const schemas = ['responseSchema', 'responseJsonSchema'].filter((name) => config.object(name) !== undefined);
  const [schema, second] = schemas;
  if (second !== undefined)
    throw invalidRequest(`${config.path('responseSchema')} and ${config.path('responseJsonSchema')} are both given`);
  if (type === 'text/x.enum')
    throw cannotCarry(config.path('responseMimeType'), `${quoted(type)} has no equal on other wires`);
  if (type !== '' && type !== 'text/plain' && type !== JSON_TYPE)
    throw invalidRequest(
      `${config.path('responseMimeType')} ${quoted(type)} is not supported, use text/plain or ${JSON_TYPE}`,
    );
  if (schema === undefined) return type === JSON_TYPE ? { type: 'json_object' } : undefined;
  if (type !== JSON_TYPE)
    throw invalidRequest(`${config.path(schema)} needs the ${config.path('responseMimeType')} ${JSON_TYPE}`);
  const convert = schema === 'responseSchema' ? fromVendorSchema : fromJsonSchema;
  return {
    type: 'json_schema',
    json_schema: { name: 'response', schema: convert(config.fields[schema], config.path(schema)) },
  };
}

interface Thinking {
  readonly effort: string | undefined;
  readonly isIncluded: boolean;
}

function readThinking(config: Members, lost: Lost): Thinking {
  const asked = config.object('thinkingConfig');
  if (!asked) return { effort: undefined, isIncluded: false };
  const thinking = new Members(asked, THINKING, config.path('thinkingConfig'));
  const level = thinking.text('thinkingLevel')?.toUpperCase();
  const budget = thinking.integer('thinkingBudget', -1);
  if (level !== undefined && budget !== undefined)
    throw invalidRequest(`${thinking.path('thinkingLevel')} and ${thinking.path('thinkingBudget')} are both given`);
  lost.addUnknown(thinking.fields, THINKING, config.path('thinkingConfig'));
  return {
    effort: level === undefined ? effortOf(budget) : levelOf(level, lost),
    isIncluded: thinking.flag('includeThoughts') === true,
  };
}

/** `undefined` where the model decides, or a level is asked for that only its vendor has. */
function levelOf(level: string, lost: Lost): string | undefined {
  const known = knownWord(WORDS.gemini[LEVEL_PATH], level, () => lost.add(LEVEL_PATH));
  return known === UNSPECIFIED ? undefined : known?.toLowerCase();
}

/** `undefined` where the model decides. */
function effortOf(budget: number | undefined): string | undefined {
  if (budget === undefined || budget < 0) return undefined;
  return budget === 0 ? 'none' : EFFORTS.find(([most]) => budget <= most)?.[1];
}
