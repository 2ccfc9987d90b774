import type { Billed } from './cost.ts';
import { isFields } from '../json/fields.ts';
import { readUsage } from './usage.ts';

/** A day, in seconds: more is not believed of one recording. */
const MOST_SECONDS = 86_400;

/**
 * What an answer beside chat says of its use, whole or in its last event: tokens of images, sound
 * and text, and seconds of a recording, by the names that vendors have for them. Sources: OpenAI
 * API reference, "Create transcription", `usage` and `duration`, and "Create image", `usage`;
 * Mistral documentation, "Audio transcription", `usage.prompt_audio_seconds`; 2026-11-26.
 *
 * @param answer the parsed answer or event, from outside.
 * @returns what of it can be billed; an object without members where it says nothing that can.
 */
export function readBilled(answer: unknown): Billed {
  if (!isFields(answer)) return {};
  const usage = isFields(answer['usage']) ? answer['usage'] : {};
  const seconds = [usage['seconds'], usage['prompt_audio_seconds'], Number(answer['duration'])].find(
    (value) => typeof value === 'number' && value > 0 && value <= MOST_SECONDS,
  );
  const tokens = readUsage({
    prompt_tokens: usage['input_tokens'],
    completion_tokens: usage['output_tokens'],
    ...usage,
  });
  return {
    ...(typeof seconds === 'number' && { seconds }),
    ...(tokens && tokens.prompt_tokens + tokens.completion_tokens > 0 && { usage: tokens }),
  };
}
