/** Estimates for answers that are priced by tokens, count in something else, and report no tokens. */
import { type ImagesRequest, type RequestOf, type SpeechRequest, type Surface, type Usage } from '../contract/index.ts';
import { tokensOf } from '../contract/money/pricing.ts';
import type { AnswerFacts } from './charged-usage.ts';

/** Tokens of one image of the largest usual size. Source: OpenAI documentation, "Image generation", 1536 x 1024, 2026-11-26. */
const IMAGE_TOKENS: Readonly<Record<string, number>> = { low: 400, medium: 1568, high: 6208 };
/** Tokens of speech for each character of its text: about 15 characters and 20 tokens a second (OpenAI documentation, "Pricing", estimated cost of a minute, 2026-11-26). */
const SPOKEN_TOKENS_PER_CHARACTER = 1.4;
/** Tokens of a minute that is transcribed. Source: OpenAI documentation, "Pricing", estimated cost of a minute, 2026-11-26. */
const HEARD_TOKENS_PER_SECOND = 1000 / 60;

/** `undefined` where nothing can be guessed. */
export function estimatedUse(
  surface: Surface,
  request: RequestOf<Surface>,
  { images, seconds, answered = 0 }: AnswerFacts,
  estimatePrompt: () => number,
): Usage | undefined {
  if (images !== undefined) return usage(estimatePrompt(), images * imageTokens(request as ImagesRequest));
  if (surface === 'audio.speech') {
    const { length } = (request as SpeechRequest).input;
    return usage(estimatePrompt(), length * SPOKEN_TOKENS_PER_CHARACTER);
  }
  return seconds === undefined ? undefined : usage(seconds * HEARD_TOKENS_PER_SECOND, tokensOf(answered));
}

const imageTokens = ({ quality }: ImagesRequest): number =>
  IMAGE_TOKENS[quality ?? ''] ?? (IMAGE_TOKENS['high'] as number);

const usage = (prompt: number, completion: number): Usage => ({
  prompt_tokens: Math.ceil(prompt),
  completion_tokens: Math.ceil(completion),
  total_tokens: Math.ceil(prompt) + Math.ceil(completion),
});
