import { expect } from 'chai';
import type { Exchange, PluginDeps, Verdict } from 'gw/contract';
import maxToken from '../../plugins/max-token.ts';
import { ask, chatReply, replyJson, startHost, stubUpstream } from '../kit/index.ts';

interface Limits {
  readonly max_tokens?: number;
  readonly max_messages?: number;
  readonly max_input_length?: number;
}

async function verdictOn(limits: Limits, request: object, surface = 'chat'): Promise<string | undefined> {
  const settings = { max_tokens: 0, max_messages: 0, max_input_length: 0, observe: false, ...limits };
  const handlers = await maxToken.create(settings, {} as PluginDeps);
  const verdict = (await handlers.before_request?.({
    stage: 'before_request',
    surface,
    request: { model: 'm', messages: [], ...request },
  } as unknown as Exchange)) as Verdict | undefined;
  if (verdict === undefined) return undefined;
  return verdict.action === 'reject' ? verdict.reason : verdict.action;
}

const messages = (...contents: readonly unknown[]): object => ({
  messages: contents.map((content) => ({ role: 'user', content })),
});

describe('max-token', () => {
  it('is a guardrail before the request, with defaults of 4096 tokens, 100 messages and no length', () => {
    expect(maxToken).to.include({ name: 'max-token', type: 'guardrail' });
    expect(maxToken.stages).to.deep.equal(['before_request']);
    expect(Object.keys(maxToken.settings.describe()['keys'] as object)).to.deep.equal([
      'max_tokens',
      'max_messages',
      'max_input_length',
      'observe',
    ]);
    expect(maxToken.settings.validate({}).value).to.deep.equal({
      max_tokens: 4096,
      max_messages: 100,
      max_input_length: 0,
      observe: false,
    });
  });

  it('reads content only where a length is limited, and not while it observes', () => {
    const reads = (limits: object): boolean | undefined =>
      maxToken.readsContent?.({ max_tokens: 1, max_messages: 1, max_input_length: 0, observe: false, ...limits });
    expect([reads({}), reads({ max_input_length: 5 }), reads({ max_input_length: 5, observe: true })]).to.deep.equal([
      false,
      true,
      false,
    ]);
  });

  for (const [limits, request, reason] of [
    [{ max_tokens: 10 }, { max_tokens: 11 }, 'max_tokens 11 exceeds limit of 10'],
    [{ max_tokens: 10 }, { max_tokens: 10 }, undefined],
    [{ max_tokens: 10 }, {}, undefined],
    [{ max_tokens: 10 }, { max_tokens: 99, max_completion_tokens: 10 }, undefined],
    [{ max_tokens: 10 }, { max_tokens: 5, max_completion_tokens: 12 }, 'max_tokens 12 exceeds limit of 10'],
    [{ max_tokens: 0 }, { max_tokens: 1_000_000 }, undefined],
    [{ max_messages: 2 }, messages('a', 'b', 'c'), 'message count 3 exceeds limit of 2'],
    [{ max_messages: 2 }, messages('a', 'b'), undefined],
    [{ max_messages: 0 }, messages('a', 'b'), undefined],
    [{ max_input_length: 5 }, messages('abc', 'def'), 'total input length 6 exceeds limit of 5'],
    [{ max_input_length: 6 }, messages('abc', 'def'), undefined],
    [{ max_input_length: 3 }, messages('\u00e9\u00e9'), 'total input length 4 exceeds limit of 3'],
    [
      { max_input_length: 9 },
      messages(null, [
        { type: 'text', text: 'abc' },
        { type: 'text', text: 'de' },
        { type: 'image_url', image_url: { url: 'http:' } },
      ]),
      'total input length 10 exceeds limit of 9',
    ],
    [{ max_input_length: 9 }, messages([{ type: 'input_audio', input_audio: { data: 'A'.repeat(50) } }]), undefined],
    [
      { max_tokens: 1, max_messages: 1, max_input_length: 1 },
      { max_tokens: 2, ...messages('aa', 'bb') },
      'max_tokens 2 exceeds limit of 1',
    ],
    [{ max_messages: 1, max_input_length: 1 }, messages('aa', 'bb'), 'message count 2 exceeds limit of 1'],
  ] as const) {
    it(`with ${JSON.stringify(limits)} says ${reason ?? 'nothing'} to ${JSON.stringify(request).slice(0, 80)}`, async () => {
      expect(await verdictOn(limits, request)).to.equal(reason);
    });
  }

  it('counts no messages beside chat, and measures the text of the body', async () => {
    expect(await verdictOn({ max_messages: 1 }, { input: ['a', 'b', 'c'] }, 'embeddings')).to.equal(undefined);
    expect(await verdictOn({ max_input_length: 2 }, { input: ['ab', 'c'] }, 'embeddings')).to.equal(
      'total input length 3 exceeds limit of 2',
    );
  });

  it('sees the ceiling that counts, and never writes one', async () => {
    const upstream = await stubUpstream((_request, response) => replyJson(response, 200, chatReply('x')));
    const host = await startHost({
      targets: [upstream.target('a')],
      plugins: [{ name: 'max-token', stage: 'before_request', enabled: true, config: { max_tokens: 10 } }],
    });
    const refused = await host.post('/v1/chat/completions', ask('hi', { max_tokens: 5, max_completion_tokens: 11 }));
    expect(refused.status).to.equal(400);
    expect(refused.json().error.message).to.equal(
      'request rejected by max-token (before_request): max_tokens 11 exceeds limit of 10',
    );
    expect(refused.headers.get('retry-after')).to.equal(null);
    expect((await host.post('/v1/chat/completions', ask())).status).to.equal(200);
    expect(upstream.seen[0]?.json()).to.not.have.any.keys('max_tokens', 'max_completion_tokens');
  });

  for (const config of [
    { max_tokens: -1 },
    { max_tokens: 1.5 },
    { max_tokens: '5' },
    { max_messages: null },
    { observe: 'yes' },
    { max_words: 5 },
  ]) {
    it(`cannot be configured with ${JSON.stringify(config)}`, async () => {
      const upstream = await stubUpstream(() => {});
      const host = await startHost({ targets: [upstream.target('a')] });
      const [setting = ''] = Object.keys(config);
      const problem = await host
        .apply({
          targets: [upstream.target('a')],
          plugins: [{ name: 'max-token', stage: 'before_request', enabled: true, config }],
        })
        .then(
          () => '',
          (error: Error) => error.message,
        );
      expect(problem).to.include('max-token').and.include(setting);
    });
  }

  it('cannot stand anywhere but before the request', async () => {
    const upstream = await stubUpstream(() => {});
    const host = await startHost({ targets: [upstream.target('a')] });
    for (const stage of ['after_request', 'on_error']) {
      const problem = await host
        .apply({ targets: [upstream.target('a')], plugins: [{ name: 'max-token', stage, enabled: true }] })
        .then(
          () => '',
          (error: Error) => error.message,
        );
      expect(problem).to.include('max-token').and.include('before_request');
    }
  });
});
