import { request as httpRequest } from 'node:http';
import { expect } from 'chai';
import { definePlugin, reject } from 'gw/contract';
import Joi from 'joi';
import { NO_CATALOG } from '../../../host/common/catalog.ts';
import type { Cost } from '../../../host/contract/index.ts';
import { ask, chatReply, eventually, MASTER_KEY, replyJson, stubUpstream } from '../../kit/index.ts';
import { ACCEPT, keyWith, result, startMcp, text } from './kit.ts';

const plugin = (name: string, stage: string, config: object = {}): object => ({ name, stage, enabled: true, config });
const WORDS = { blocked_words: ['forbidden'] };

/** A call that waits until its exchange is cancelled. */
const waiting = () => {
  const causes: unknown[] = [];
  return {
    causes,
    tool: {
      name: 'slow',
      call: ({ exchange }: { exchange: { cancellation: { onCancel(run: (cause: Error) => void): unknown } } }) =>
        new Promise<never>((_resolve, rejectCall) => {
          exchange.cancellation.onCancel((cause) => {
            causes.push(cause);
            rejectCall(cause);
          });
        }),
    },
  };
};

describe('a call of a tool', () => {
  describe('with a guardrail before it', () => {
    for (const [what, args] of [
      ['an argument', { a: 'Forbidden fruit' }],
      ['a nested one', { a: [{ b: 'forbidden' }] }],
      ['JSON in a text', { a: '{"b":"for\\u0062idden"}' }],
    ] as const) {
      it(`is refused for ${what}, and no server is called`, async () => {
        const host = await startMcp(undefined, { plugins: [plugin('word-filter', 'before_request', WORDS)] });
        expect(await host.call('echo', args)).to.deep.equal({
          content: [text('request rejected by word-filter (before_request): request blocked by content policy')],
          isError: true,
        });
        expect(host.servers.calls).to.deep.equal([]);
        expect(host.samples.find(({ name }) => name === 'gateway_requests_total')?.labels).to.deep.include({
          status: 'rejected',
        });
      });
    }

    it('goes on where nothing is found', async () => {
      const host = await startMcp(undefined, {
        plugins: [
          plugin('word-filter', 'before_request', WORDS),
          plugin('regex-guard', 'before_request', { patterns: ['forbidden'] }),
        ],
      });
      expect(await host.call('echo', { a: 'it is allowed' })).not.to.have.property('isError');
    });

    it('goes on where word-filter alone finds a name: it reads no names', async () => {
      const host = await startMcp(undefined, { plugins: [plugin('word-filter', 'before_request', WORDS)] });
      expect(await host.call('echo', { forbidden: 'x' })).not.to.have.property('isError');
    });

    it('is refused for the name of a member, as in the arguments of a chat', async () => {
      const host = await startMcp(undefined, {
        plugins: [plugin('regex-guard', 'before_request', { patterns: ['forbidden'] })],
      });
      for (const name of ['the forbidden one', 'forbidden'])
        expect((await host.call('echo', { a: [{ [name]: 1 }] })).content[0].text, name).to.contain(
          'rejected by regex-guard',
        );
    });

    it('is refused where the guardrail does not read the surface', async () => {
      const guard = definePlugin({
        name: 'chat-only',
        type: 'guardrail',
        summary: 'Reads chat',
        stages: ['before_request'],
        surfaces: ['chat'],
        settings: Joi.object({}),
        create: () => ({ before_request: () => undefined }),
      });
      const host = await startMcp(
        undefined,
        { plugins: [plugin('chat-only', 'before_request')] },
        { modules: [guard] },
      );
      const answer = await host.call('echo');
      expect(answer.isError).to.equal(true);
      expect(answer.content[0].text).to.contain('chat-only does not read mcp bodies');
    });
  });

  describe('with a guardrail after it', () => {
    const BLOCKED = {
      content: [text('response rejected by word-filter (after_request): response blocked by content policy')],
      isError: true,
    };

    for (const [what, content] of [
      ['a text', [text('a forbidden word')]],
      ['a resource', [{ type: 'resource', resource: { uri: 'u:1', text: 'forbidden' } }]],
    ] as const) {
      it(`is answered with its message for ${what}`, async () => {
        const host = await startMcp([{ name: 'one', call: () => result(content) }], {
          plugins: [plugin('word-filter', 'after_request', WORDS)],
        });
        expect(await host.call('one')).to.deep.equal(BLOCKED);
      });
    }

    for (const [what, content, more] of [
      ['a structured answer', [], { structuredContent: { a: ['forbidden'] } }],
      ['a name in a structured answer', [], { structuredContent: { a: [{ 'forbidden one': 1 }] } }],
      ['an error of the tool', [text('forbidden')], { isError: true }],
      ['two texts that make one word', [text('forbid'), text('den')], {}],
      ['a block of a kind that is not known', [{ type: 'other', note: 'forbidden' }], {}],
      ['a link', [{ type: 'resource_link', uri: 'u:1', description: 'forbidden' }], {}],
      ['bytes that are none', [{ type: 'image', data: 'so forbidden', mimeType: 'image/png' }], {}],
      ['a block that is a text', ['forbidden'], {}],
    ] as const) {
      it(`is read whole: ${what}`, async () => {
        const host = await startMcp([{ name: 'one', call: () => result(content, more) }], {
          plugins: [plugin('regex-guard', 'after_request', { patterns: ['forbidden'] })],
        });
        expect((await host.call('one')).content[0].text).to.contain('response rejected by regex-guard (after_request)');
      });
    }

    it('is not searched in bytes', async () => {
      const host = await startMcp(
        [
          {
            name: 'one',
            call: () =>
              result([
                { type: 'image', data: 'forbidden', mimeType: 'image/png' },
                { type: 'resource', resource: { uri: 'u:1', blob: 'forbidden' } },
              ]),
          },
        ],
        { plugins: [plugin('regex-guard', 'after_request', { patterns: ['forbidden'] })] },
      );
      expect((await host.call('one')).content).to.have.length(2);
    });

    it('is refused where it would be masked: answers of tools are not rewritten', async () => {
      const host = await startMcp([{ name: 'one', call: () => result([text('write to a.person@example.com')]) }], {
        plugins: [plugin('pii-redact', 'before_request'), plugin('pii-redact', 'after_request')],
      });
      const answer = await host.call('one');
      expect(answer.isError).to.equal(true);
      expect(JSON.stringify(answer)).not.to.contain('example.com');
    });
  });

  it('shows plugins its surface, arguments and answer', async () => {
    const seen: object[] = [];
    const spy = definePlugin({
      name: 'spy',
      type: 'logging',
      summary: 'Looks',
      stages: ['before_request', 'after_request'],
      settings: Joi.object({}),
      create: () => ({
        before_request: ({ surface, request, model }) => {
          seen.push({ surface, request, model });
        },
        after_request: ({ reply, streaming }) => {
          seen.push({ reply, streaming });
        },
      }),
    });
    const host = await startMcp(
      undefined,
      { plugins: [plugin('spy', 'before_request'), plugin('spy', 'after_request')] },
      { modules: [spy] },
    );
    await host.call('echo', { a: 1 });
    expect(seen).to.deep.equal([
      { surface: 'mcp', request: { server: 's', name: 'echo', arguments: { a: 1 } }, model: '' },
      { reply: { content: [text('{"a":1}')] }, streaming: false },
    ]);
  });

  it('goes to a webhook under its tag, with texts and the names of arguments alone', async () => {
    const hook = await stubUpstream((_request, response) => {
      response.end('{"action":"allow"}');
    });
    const config = { url: `${hook.url}/`, timeout: '5s' };
    const host = await startMcp([{ name: 'one', call: () => result([text('answer')]) }], {
      plugins: [plugin('webhook', 'before_request', config), plugin('webhook', 'after_request', config)],
    });
    await host.call('one', { a: 'question' });
    expect(hook.seen.map((request) => request.json())).to.deep.equal([
      { stage: 'before_request', surface: 'mcp', model: '', texts: ['a', 'question'] },
      { stage: 'after_request', surface: 'mcp', model: '', texts: ['answer'] },
    ]);
  });

  it('meets rate limits and budgets like any request', async () => {
    const host = await startMcp(undefined, {
      plugins: [plugin('rate-limit', 'before_request', { requests_per_second: 0.001, burst: 1 })],
    });
    expect(await host.call('echo')).not.to.have.property('isError');
    const limited = await host.call('echo');
    expect(limited.isError).to.equal(true);
    expect(limited.content[0].text).to.match(/^request rejected by rate-limit \(before_request\): /);
    expect(host.servers.calls).to.have.length(1);
  });

  it('spends nothing, whatever its budget', async () => {
    const budget = { spend_limit_usd: 1, input_per_m_tokens: 1_000_000, output_per_m_tokens: 1_000_000 };
    const host = await startMcp(undefined, {
      plugins: [plugin('budget', 'before_request', budget), plugin('budget', 'after_request', budget)],
    });
    for (let at = 0; at < 3; at += 1)
      expect(await host.call('echo', { a: 'some words' })).not.to.have.property('isError');
  });

  it('is refused to a key whose budget is spent', async () => {
    const upstream = await stubUpstream((_request, response) => {
      replyJson(response, 200, chatReply('hello'));
    });
    const host = await startMcp(undefined, { targets: [upstream.target('a')] });
    const cost: Cost = {
      totalUsd: 0.6,
      inputUsd: 0.6,
      outputUsd: 0,
      cacheReadUsd: 0,
      cacheWriteUsd: 0,
      reasoningUsd: 0,
      modelFound: true,
      priced: true,
      catalog: 'test',
    };
    host.host.services.catalog = { ...NO_CATALOG, cost: () => cost };
    const key = await keyWith(host, { budget_usd: 0.01 });
    expect(await host.call('echo', {}, key)).not.to.have.property('isError');
    expect((await host.post('/v1/chat/completions', ask(), key)).status).to.equal(200);
    const answer = await host.call('echo', {}, key);
    expect(answer.isError).to.equal(true);
    expect(answer.content[0].text).to.match(/^request rejected by budget \(before_request\): budget exceeded/);
  });

  it('ends with an error of the gateway where a plugin fails', async () => {
    const broken = definePlugin({
      name: 'broken',
      type: 'guardrail',
      summary: 'Fails',
      stages: ['before_request'],
      settings: Joi.object({}),
      create: () => ({
        before_request: () => {
          throw new Error('inner words');
        },
      }),
    });
    const host = await startMcp(undefined, { plugins: [plugin('broken', 'before_request')] }, { modules: [broken] });
    const answer = await host.rpc('tools/call', { name: 'echo' });
    expect(answer.status).to.equal(200);
    expect(answer.json().error.code).to.equal(-32603);
    expect(answer.text).not.to.contain('inner words');
  });

  it('ends within the time of a request', async () => {
    const slow = waiting();
    const host = await startMcp([slow.tool], { request_timeout: '50ms' });
    expect(await host.call('slow')).to.deep.equal({ content: [text('the tool call timed out')], isError: true });
    expect(slow.causes).to.have.length(1);
  });

  it('ends when its client leaves', async () => {
    const slow = waiting();
    const host = await startMcp([slow.tool]);
    const leaving = httpRequest(`${host.url}/mcp`, {
      method: 'POST',
      headers: { ...ACCEPT, 'content-type': 'application/json', authorization: `Bearer ${MASTER_KEY}` },
    });
    leaving.on('error', () => {});
    leaving.end(JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'slow' } }));
    await eventually(() => host.servers.calls.length === 1);
    leaving.destroy();
    await eventually(() => slow.causes.length === 1);
    expect((slow.causes[0] as { code: string }).code).to.equal('client_canceled');
    await eventually(() => host.lines.some(({ msg }) => msg === 'request canceled by the client'));
  });

  it('comes to on_error when it is refused', async () => {
    const heard: string[] = [];
    const ear = definePlugin({
      name: 'ear',
      type: 'logging',
      summary: 'Listens',
      stages: ['on_error'],
      settings: Joi.object({}),
      create: () => ({
        on_error: ({ error }) => {
          heard.push(error?.code ?? '');
        },
      }),
    });
    const refusing = definePlugin({
      name: 'refusing',
      type: 'guardrail',
      summary: 'Refuses',
      stages: ['before_request'],
      settings: Joi.object({}),
      create: () => ({ before_request: () => reject('no') }),
    });
    const host = await startMcp(
      undefined,
      { plugins: [plugin('refusing', 'before_request'), plugin('ear', 'on_error')] },
      { modules: [ear, refusing] },
    );
    await host.call('echo');
    expect(heard).to.deep.equal(['request_rejected']);
  });
});
