import { wholeSegment } from 'gw/common-wire';

/** The model's name without the collection in front. */
export const modelName = (model: string): string => model.replace(/^models\//, '');

/** `/models/{m}:{method}` below the root, the name escaped as one segment. Throws a 400 for names that cannot stand in an address. */
export function methodPath(model: string, method: string): string {
  return `/models/${wholeSegment(modelName(model))}:${method}`;
}

/** How a request asks a model to think: by a level, by a budget of tokens, or not at all. */
export interface ThinkingTraits {
  readonly style: 'level' | 'budget' | 'none';
  /** Levels it takes, least first. */
  readonly levels: readonly string[];
  /** Least and most tokens of a budget; 0 switches thinking off. */
  readonly budget: readonly [least: number, most: number];
}

const ALL_LEVELS = ['minimal', 'low', 'medium', 'high'];
const NONE: ThinkingTraits = { style: 'none', levels: [], budget: [0, 0] };

/**
 * Traits by generation, so that a model that is not listed here is treated like the newest known.
 * Sources: ai.google.dev, "Gemini thinking"; docs.cloud.google.com, Agent Platform, "Thinking", tables of levels and
 * budgets; 2026-11-21.
 */
export function thinkingTraits(model: string): ThinkingTraits {
  const name = modelName(model);
  const version = versionOf(name);
  if (version < 205 || /-(?:tts|live|native-audio|embedding)/.test(name)) return NONE;
  if (version >= 300) return { style: 'level', levels: levelsOf(name, version), budget: [0, 0] };
  if (name.includes('-image')) return NONE;
  return { style: 'budget', levels: [], budget: name.includes('-pro') ? [128, 32_768] : [0, 24_576] };
}

/** `gemini-2.5-pro` is 205; 0 for names of another kind. */
function versionOf(name: string): number {
  if (/^gemini-(?:pro|flash|flash-lite)-latest$/.test(name)) return 400;
  const [, major = '0', minor = '0'] = /^gemini-(\d+)(?:\.(\d+))?/.exec(name) ?? [];
  return Number(major) * 100 + Number(minor);
}

/** Whether an answer may be held to a schema and searched for at once. Source: ai.google.dev, "Structured outputs", "with tools", 2026-11-22. */
export const searchesForJson = (model: string): boolean => versionOf(modelName(model)) >= 300;

function levelsOf(name: string, version: number): readonly string[] {
  if (name.includes('-flash-lite')) return ALL_LEVELS;
  if (name.includes('-flash') && version < 307) return ALL_LEVELS;
  return version === 300 ? ['low', 'high'] : ALL_LEVELS.slice(1);
}
