import { speakCommon } from './speakers/common.ts';
import { speakConverse } from './speakers/converse.ts';
import { speakGemini } from './speakers/gemini.ts';
import { speakMessages } from './speakers/messages.ts';
import { speakResponses } from './speakers/responses.ts';
import type { Turn } from './script.ts';

/** Writes a turn as the vendor streams it. */
export type Speak = (turn: Turn, number: number, model: string) => string | Buffer;

export interface Target {
  /** A model that the catalog has a price of. */
  readonly model: string;
  /** What leads a gateway to the upstream of this address. */
  readonly variables: (url: string) => Readonly<Record<string, string>>;
  /** By the end of a path, how the vendor answers there. */
  readonly speaks: readonly (readonly [path: RegExp, speak: Speak])[];
  /** Whether the vendor shows thoughts in this wire. */
  readonly thinks: boolean;
}

const keyed =
  (name: string, root = '') =>
  (url: string) => ({
    [`${name}_API_KEY`]: 'upstream-key',
    [`${name}_BASE_URL`]: url + root,
  });

export const TARGETS = {
  anthropic: {
    model: 'claude-opus-4-8',
    variables: keyed('ANTHROPIC', '/v1'),
    speaks: [[/\/messages$/, speakMessages]],
    thinks: true,
  },
  openai: {
    model: 'gpt-5.5',
    variables: keyed('OPENAI'),
    speaks: [
      [/\/chat\/completions$/, (turn, ...rest) => speakCommon({ ...turn, thought: '' }, ...rest)],
      [/\/responses$/, speakResponses],
    ],
    thinks: true,
  },
  deepseek: {
    model: 'deepseek-v4-pro',
    variables: keyed('DEEPSEEK'),
    speaks: [[/\/chat\/completions$/, speakCommon]],
    thinks: true,
  },
  gemini: {
    model: 'gemini-3.1-pro-preview',
    variables: keyed('GEMINI', '/v1beta'),
    speaks: [[/:streamGenerateContent$/, speakGemini]],
    thinks: true,
  },
  bedrock: {
    model: 'openai.gpt-oss-120b-1:0',
    variables: (url) => ({
      AWS_BEARER_TOKEN_BEDROCK: 'upstream-key',
      AWS_REGION: 'us-east-1',
      AWS_ENDPOINT_URL_BEDROCK_RUNTIME: url,
    }),
    speaks: [[/\/converse-stream$/, speakConverse]],
    thinks: true,
  },
} as const satisfies Readonly<Record<string, Target>>;

export type TargetName = keyof typeof TARGETS;
