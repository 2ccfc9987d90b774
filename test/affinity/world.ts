/** Gateways with sessions, whose targets are stub upstreams and whose declared instance has credentials. */
import { type Answer, ask, type TestHost } from '../kit/index.ts';
import { PATH } from '../groups/fleet.ts';

export interface Served {
  readonly status: number;
  readonly target: string | null;
  readonly result: string | null;
  readonly answer: Answer;
}

/** Asks in a session, whole or streamed, as its first turn or a later one. */
export async function askIn(
  host: TestHost,
  session: string | undefined,
  { model = 'm', isLater = false, body = {}, headers = {} }: AskOptions = {},
): Promise<Served> {
  const first = { role: 'user', content: 'hi' };
  const messages = isLater
    ? [first, { role: 'assistant', content: 'hello' }, { role: 'user', content: 'go on' }]
    : [first];
  const answer = await host.post(
    PATH,
    { ...(ask('hi', { model }) as object), messages, ...body },
    { ...(session !== undefined && { 'x-gateway-session': session }), ...headers },
  );
  return {
    status: answer.status,
    target: answer.headers.get('x-gateway-target'),
    result: answer.headers.get('x-gateway-affinity'),
    answer,
  };
}

export interface AskOptions {
  readonly model?: string;
  readonly isLater?: boolean;
  readonly body?: object;
  readonly headers?: Record<string, string>;
}
