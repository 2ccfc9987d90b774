import { expect } from 'chai';
import { ask, chatChunks, chatReply, eventually, openSse, sseEvent } from '../kit/index.ts';
import { calling, CHAT, setUp, type Setup, stdio } from '../mcp/setup.ts';
import { firstOfAnswer, restOf } from './ended-kit.ts';

const HANGING = stdio('s', { tools: ['hang'] });

interface Keyed extends Setup {
  readonly revoke: () => Promise<unknown>;
  readonly send: (path: string, body: object) => Promise<Response>;
}

async function keyed(options: Parameters<typeof setUp>[1] = {}): Promise<Keyed> {
  const setup = await setUp([HANGING], options);
  const { keys } = setup.t.host.stores;
  const { key, record } = await keys.create({ name: 'ends', scopes: ['read_only'] });
  return {
    ...setup,
    revoke: () => keys.revoke(record.id, 'other'),
    send: (path, body) =>
      fetch(setup.t.url + path, {
        method: 'POST',
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
        body: JSON.stringify(body),
      }),
  };
}

/** The server has the call. */
const isCalled = ({ t }: Setup): boolean => t.lines.some((line) => JSON.stringify(line).includes('hanging now'));

describe('tools that are called for a key that is revoked', () => {
  it('are given up, and the client that called gets a 401', async () => {
    const s = await keyed();
    const sent = s.send('/mcp', {
      jsonrpc: '2.0',
      id: 1,
      method: 'tools/call',
      params: { name: 'hang', arguments: {} },
    });
    await eventually(() => isCalled(s));
    await s.revoke();
    const answer = await sent;
    expect(answer.status).to.equal(401);
    expect(((await answer.json()) as { error: object }).error).to.include({ code: 'invalid_api_key' });
    await eventually(() => s.t.host.activity.count === 0);
  });

  it('are given up in a loop, which has no further turn', async () => {
    const s = await keyed({ turns: [calling([['hang'], ['hang']]), chatReply('too late')] });
    const sent = s.send(CHAT, ask());
    await eventually(() => isCalled(s));
    await s.revoke();
    expect((await sent).status).to.equal(401);
    await eventually(() => s.t.host.activity.count === 0);
    expect(s.upstream.seen).to.have.length(1);
  });

  it('end a loop that has begun to stream with an error', async () => {
    const call = { index: 0, id: 'c', type: 'function', function: { name: 'hang', arguments: '{}' } };
    const s = await keyed({
      config: { mcp: { stream: true } },
      turns: [
        (_request, response) => {
          openSse(response);
          const [role, text, end] = chatChunks(['some words']) as [any, any, any];
          end.choices = [{ index: 0, delta: { tool_calls: [call] }, finish_reason: 'tool_calls' }];
          response.end([role, text, end, '[DONE]'].map(sseEvent).join(''));
        },
        chatReply('too late'),
      ],
    });
    const reader = await firstOfAnswer(await s.send(CHAT, ask('hi', { stream: true })));
    await eventually(() => isCalled(s));
    await s.revoke();
    const { text, isBroken } = await restOf(reader);
    expect(isBroken).to.equal(false);
    expect(text)
      .to.match(/"code":"stream_error"\}\}\n\n$/)
      .and.not.to.contain('[DONE]');
    expect(s.upstream.seen).to.have.length(1);
  });
});
