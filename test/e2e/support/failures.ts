import { APICallError, generateText, streamText } from 'ai';
import { APIError } from 'openai';
import { aiSdkModel, type ClientOptions, langchainModel, openaiClient } from './clients.ts';
import { MODEL, type Setup } from './gateway.ts';

/** A refused call, as a client's own error tells it. */
export interface Failure {
  /** How the client types it. */
  readonly kind: string;
  readonly status: number | undefined;
  readonly code: unknown;
  readonly message: unknown;
  readonly headers: Readonly<Record<string, string>>;
}

export interface FailingClient {
  readonly name: string;
  /** Makes one call that must fail. */
  fail(setup: Setup, streaming: boolean, options?: ClientOptions): Promise<Failure>;
}

const PROMPT = 'when does the harbour open?';

export const CLIENTS: readonly FailingClient[] = [
  {
    name: 'openai',
    fail: async (setup, streaming, options = {}) => {
      const body = { model: options.model ?? MODEL, messages: [{ role: 'user' as const, content: PROMPT }] };
      const { completions } = openaiClient(setup, options).chat;
      return vendorFailure(
        await errorOf(streaming ? completions.create({ ...body, stream: true }) : completions.create(body)),
      );
    },
  },
  {
    name: 'AI SDK',
    fail: async (setup, streaming, options) => {
      const call = { model: aiSdkModel(setup, options), prompt: PROMPT, maxRetries: 0 };
      return aiSdkFailure(
        await errorOf(streaming ? firstError(streamText({ ...call, onError: () => {} })) : generateText(call)),
      );
    },
  },
  {
    name: 'LangChain',
    fail: async (setup, streaming, options) => {
      const model = langchainModel(setup, options);
      const error = await errorOf(streaming ? model.stream(PROMPT) : model.invoke(PROMPT));
      const { lc_error_code: kind } = error as { lc_error_code?: string };
      const failure = vendorFailure(error);
      return { ...failure, kind: kind ?? failure.kind };
    },
  },
];

async function errorOf(call: PromiseLike<unknown>): Promise<unknown> {
  try {
    await call;
  } catch (error) {
    return error;
  }
  throw new Error('the call did not fail');
}

/** Streams of the AI SDK carry the failure as a part. */
async function firstError({
  fullStream,
}: {
  readonly fullStream: AsyncIterable<{ readonly type: string; readonly error?: unknown }>;
}): Promise<void> {
  for await (const { type, error } of fullStream) if (type === 'error') throw error;
}

function vendorFailure(error: unknown): Failure {
  if (!(error instanceof APIError)) throw error;
  const { message } = (error.error ?? {}) as { message?: unknown };
  return {
    kind: error.constructor.name,
    status: error.status,
    code: error.code,
    message,
    headers: Object.fromEntries(error.headers ?? []),
  };
}

function aiSdkFailure(error: unknown): Failure {
  if (!APICallError.isInstance(error)) throw error;
  const { code, message } = (error.data as { error?: { code?: unknown; message?: unknown } } | undefined)?.error ?? {};
  return {
    kind: error.isRetryable ? 'retryable' : 'final',
    status: error.statusCode,
    code,
    message,
    headers: error.responseHeaders ?? {},
  };
}
