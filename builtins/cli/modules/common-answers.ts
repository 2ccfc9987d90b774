import { json, type NewFiles } from './new-files.ts';

interface Said {
  readonly model: string;
  /** The pieces of the answer, as a stream brings them. */
  readonly says: readonly string[];
  /** What the service says of an error, by its status. */
  readonly errors: Readonly<Record<number, string>>;
}

/** A whole answer, a stream and error bodies of a service of the common wire. */
export function commonAnswers({ model, says, errors }: Said): NewFiles {
  const about = { created: 1_700_000_000, model };
  const usage = { prompt_tokens: 11, completion_tokens: 7, total_tokens: 18 };
  const chunk = (choices: readonly object[], more: object = {}): string =>
    `data: ${JSON.stringify({ id: 'c1', object: 'chat.completion.chunk', ...about, choices, ...more })}\n\n`;
  const piece = (delta: object, finish_reason: string | null = null): string =>
    chunk([{ index: 0, delta, finish_reason }]);
  return {
    'reply.json': json({
      id: 'c1',
      object: 'chat.completion',
      ...about,
      choices: [{ index: 0, message: { role: 'assistant', content: says.join('') }, finish_reason: 'stop' }],
      usage,
    }),
    'stream.txt': [
      piece({ role: 'assistant', content: '' }),
      ...says.map((content) => piece({ content })),
      piece({}, 'stop'),
      chunk([], { usage }),
      'data: [DONE]\n\n',
    ].join(''),
    ...Object.fromEntries(
      Object.entries(errors).map(([status, message]) => [
        `error-${status}.json`,
        json({ error: { message, type: 'invalid_request_error' } }),
      ]),
    ),
  };
}
