import {
  countOf,
  type RawReply,
  readUsage,
  type RerankReply,
  type SpeechRequest,
  SURFACES,
  type TranscriptionRequest,
  type Usage,
} from '../../contract/index.ts';
import { secondsOf } from '../../contract/money/pricing.ts';
import type { AnswerFacts } from '../../answer/charged-usage.ts';
import type { LiveExchange } from '../live-exchange.ts';
import type { Answer } from './turns.ts';

/** What an answer beside chat is billed by. */
export function otherFacts({ surface, turn, request: given }: LiveExchange, answer: Answer): AnswerFacts {
  const request = turn?.request ?? given;
  if (surface === 'audio.speech')
    return { ...(answer as RawReply).billed, characters: codePoints((request as SpeechRequest).input) };
  if (SURFACES[surface].isRaw) return heardFacts(answer as RawReply, request as TranscriptionRequest);
  const { usage, data } = answer as { readonly usage?: Usage; readonly data?: readonly unknown[] };
  return {
    usage: surface === 'rerank' ? rerankUsage(answer as RerankReply) : readUsage(usage),
    images: surface === 'images' || surface === 'images.edits' ? data?.length : undefined,
  };
}

/** Seconds are those that the vendor says, else those that the recording says, else guessed from its size. */
function heardFacts({ body, billed }: RawReply, { file }: TranscriptionRequest): AnswerFacts {
  const seconds = billed?.seconds ?? file.seconds;
  const answered = body instanceof Uint8Array ? body.length : 0;
  return {
    usage: billed?.usage,
    seconds: seconds ?? secondsOf(file.bytes),
    isGuessed: seconds === undefined,
    answered,
  };
}

function rerankUsage({ meta }: RerankReply): Usage | undefined {
  const input = countOf(meta?.tokens?.input_tokens);
  return input > 0 ? { prompt_tokens: input, completion_tokens: 0, total_tokens: input } : undefined;
}

/** Halves of a pair count once. */
const codePoints = (text: string): number => text.length - (text.match(/[\ud800-\udbff][\udc00-\udfff]/g)?.length ?? 0);
