import {
  countOf,
  type ImagesReply,
  type RawReply,
  readUsage,
  type RerankReply,
  type RerankRequest,
  type SpeechRequest,
  SURFACES,
  type TranscriptionRequest,
  type Usage,
} from '../../contract/index.ts';
import { rerankUnits, secondsOf } from '../../contract/money/pricing.ts';
import { wordOf } from '../../common/prices/asked-words.ts';
import type { AnswerFacts } from '../../answer/charged-usage.ts';
import type { LiveExchange } from '../live-exchange.ts';
import type { Answer } from './turns.ts';

/** What an answer beside chat is billed by. */
export function otherFacts({ surface, turn, request: given }: LiveExchange, answer: Answer): AnswerFacts {
  const request = turn?.request ?? given;
  if (surface === 'audio.speech')
    return { ...(answer as RawReply).billed, characters: codePoints((request as SpeechRequest).input) };
  if (SURFACES[surface].isRaw) return heardFacts(answer as RawReply, request as TranscriptionRequest);
  if (surface === 'rerank') return rerankFacts(answer as RerankReply, request as RerankRequest);
  const { usage } = answer as { readonly usage?: Usage };
  if (surface !== 'images' && surface !== 'images.edits') return { usage: readUsage(usage) };
  const { data, size, quality } = answer as ImagesReply;
  return {
    usage: readUsage(usage),
    images: data?.length,
    size: wordOf(size) ?? wordOf(request['size']),
    quality: wordOf(quality) ?? wordOf(request['quality']),
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

/** Units are those that the vendor bills, else as many as there may be. */
function rerankFacts({ meta }: RerankReply, { documents }: RerankRequest): AnswerFacts {
  const input = countOf(meta?.tokens?.input_tokens);
  const units = countOf(meta?.billed_units?.search_units);
  return {
    usage: input > 0 ? { prompt_tokens: input, completion_tokens: 0, total_tokens: input } : undefined,
    searchUnits: units || rerankUnits(documents),
    isGuessed: units === 0 && input === 0,
  };
}

/** Halves of a pair count once. */
const codePoints = (text: string): number => text.length - (text.match(/[\ud800-\udbff][\udc00-\udfff]/g)?.length ?? 0);
