import { cacheWritesIn, type Exchange, type Fields, type Usage } from '../../../host/contract/index.ts';
import type { ItemStatus } from './items.ts';
import type { Asked } from './request.ts';

/** What is known of an answer before it comes. */
export interface AnswerHead {
  readonly requestId: string;
  readonly model: string;
  /** Unix seconds. */
  readonly createdAt: number;
  /** Unix seconds, asked when the answer is complete. */
  readonly now: () => number;
}

export function headOf(exchange: Exchange): AnswerHead {
  const seconds = (ms: number): number => Math.floor(ms / 1000);
  return {
    requestId: exchange.id,
    model: exchange.model,
    createdAt: seconds(exchange.startedAt),
    now: () => seconds(exchange.startedAt + exchange.measurements.durationMs),
  };
}

interface AnswerState {
  readonly status: ItemStatus | 'in_progress' | 'failed';
  readonly output: readonly Fields[];
  readonly reason?: string | undefined;
  readonly error?: Fields;
  readonly usage?: Usage | undefined;
}

/** How an answer ended, by the common wire's word for it; unknown words end it like any other. See docs/reference/ingress.md#why-an-answer-ended. */
export function endOf(finish: string | undefined): { readonly status: ItemStatus; readonly reason?: string } {
  if (finish === 'length') return { status: 'incomplete', reason: 'max_output_tokens' };
  if (finish === 'content_filter') return { status: 'incomplete', reason: 'content_filter' };
  return { status: 'completed' };
}

/** The object of an answer, with its members in the vendor's order. See docs/reference/ingress.md#responses-the-answer. */
export function responseObject(
  { requestId, model, createdAt, now }: AnswerHead,
  { echo }: Asked,
  { status, output, reason, error, usage }: AnswerState,
): Fields {
  return {
    id: `resp_${requestId}`,
    object: 'response',
    created_at: createdAt,
    completed_at: status === 'completed' ? now() : null,
    status,
    error: error ?? null,
    incomplete_details: reason === undefined ? null : { reason },
    instructions: echo.instructions,
    model,
    output: [...output],
    parallel_tool_calls: echo.parallel_tool_calls,
    temperature: echo.temperature,
    top_p: echo.top_p,
    tool_choice: echo.tool_choice,
    tools: echo.tools,
    text: echo.text,
    reasoning: echo.reasoning,
    max_output_tokens: echo.max_output_tokens,
    previous_response_id: null,
    store: false,
    truncation: 'disabled',
    metadata: echo.metadata,
    usage: usage ? usageOf(usage) : null,
    background: false,
    service_tier: echo.service_tier,
    user: echo.user,
  };
}

/** Cache writes count as input here, beside the common wire. See docs/reference/ingress.md#token-counts. */
function usageOf(usage: Usage): Fields {
  const {
    prompt_tokens: prompt,
    completion_tokens: output,
    cache_read_tokens: read = 0,
    cache_write_tokens: written = 0,
    reasoning_tokens: reasoning = 0,
  } = usage;
  const input = prompt + written;
  return {
    input_tokens: input,
    input_tokens_details: { cached_tokens: read, cache_write_tokens: written + cacheWritesIn(usage) },
    output_tokens: output,
    output_tokens_details: { reasoning_tokens: reasoning },
    total_tokens: input + output,
  };
}
