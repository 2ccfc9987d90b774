import { join } from 'node:path';
import { expect } from 'chai';
import type { ModelFacts } from '../../host/contract/index.ts';
import { logger } from '../admin/logs-kit.ts';
import {
  chatReply,
  replyJson,
  startHost,
  stubUpstream,
  type StubUpstream,
  temporaryFolder,
  type TestHost,
} from '../kit/index.ts';
import { answers, CLIENTS, TOOL, TRANSLATED, twofold, twofoldTarget } from './two-apis.ts';

type Json = Record<string, any>;

const EFFORTS = ['none', 'low', 'medium', 'high', 'xhigh'] as const;
const PICKY: ModelFacts = { efforts: EFFORTS, chat_tools: 'none_only', summaries: true };
const CHOOSY: ModelFacts = { efforts: EFFORTS, chat_tools: 'absent_or_none', summaries: true };

const pathsOf = ({ seen }: StubUpstream): string[] => seen.map(({ url }) => url);
const lastBody = ({ seen }: StubUpstream): Json => seen.at(-1)!.json();

async function open(
  facts: ModelFacts,
  more: object = {},
  config: object = {},
): Promise<{ upstream: StubUpstream; t: TestHost }> {
  const upstream = await stubUpstream(answers());
  const t = await startHost({ ...TRANSLATED, targets: [twofoldTarget(upstream, 'a', facts, more)], ...config });
  return { upstream, t };
}

describe('the API that a chat goes to', () => {
  for (const { name, ask } of CLIENTS)
    for (const streaming of [false, true]) {
      const how = `a client of ${name}, ${streaming ? 'streamed' : 'whole'}`;

      it(`is chosen for ${how}`, async () => {
        const { upstream, t } = await open(PICKY);
        const send = async (asking: object): Promise<void> => {
          const { path, body } = ask({ streaming, ...asking });
          const { status, text } = await t.post(path, body);
          expect(status, text).to.equal(200);
          expect(text).to.include('lo');
        };
        await send({});
        await send({ effort: 'high' });
        await send({ effort: 'high', hasTools: true });
        await send({ hasTools: true });
        await send({ wantsThoughts: true });
        expect(pathsOf(upstream)).to.deep.equal([
          '/chat/completions',
          '/chat/completions',
          '/responses',
          '/responses',
          '/responses',
        ]);
        expect(upstream.seen[2]!.json()['reasoning']).to.deep.equal({ effort: 'high' });
        expect(lastBody(upstream)['reasoning']).to.deep.equal({ summary: 'auto' });
        expect(t.samples.flatMap(({ labels }) => Object.values(labels))).not.to.include('responses');
      });

      it(`is chat, without the effort, for ${how} where the configuration says so`, async () => {
        const { upstream, t } = await open(PICKY, { chat_via: 'chat' });
        const { path, body } = ask({ streaming, effort: 'high', hasTools: true });
        const answer = await t.post(path, body);
        expect(answer.status, answer.text).to.equal(200);
        expect(pathsOf(upstream)).to.deep.equal(['/chat/completions']);
        expect(lastBody(upstream)['reasoning_effort']).to.equal('none');
        const { effortPath } = CLIENTS.find((client) => client.name === name)!;
        expect(answer.headers.get('x-gateway-ignored-params')).to.equal(effortPath);
        const choosy = await open(CHOOSY, { chat_via: 'chat' });
        await choosy.t.post(path, body);
        expect(lastBody(choosy.upstream)).not.to.have.property('reasoning_effort');
      });
    }

  it('is that of each target in turn', async () => {
    const broken = await stubUpstream((_request, response) => replyJson(response, 503, {}));
    const whole = await stubUpstream(answers());
    const plain = await stubUpstream((_request, response) => replyJson(response, 503, {}));
    const t = await startHost({
      strategy: { mode: 'fallback' },
      targets: [
        twofoldTarget(broken, 'a', PICKY),
        plain.target('b'),
        twofoldTarget(whole, 'c', PICKY, { model_map: { m: 'the-model' } }),
      ],
    });
    const answer = await t.post('/v1/chat/completions', {
      model: 'm',
      messages: [{ role: 'user', content: 'hi' }],
      tools: [TOOL],
    });
    expect([answer.status, answer.headers.get('x-gateway-target')]).to.deep.equal([200, 'c']);
    expect([broken, plain, whole].map(pathsOf)).to.deep.equal([['/responses'], ['/chat/completions'], ['/responses']]);
    expect(lastBody(whole)['model']).to.equal('the-model');
  });

  it('reads stream and answer with the request that was sent', async () => {
    const upstream = await stubUpstream(answers());
    const requests: Json[] = [];
    const note =
      <F extends (...given: any[]) => unknown>(made: F, at: number) =>
      (...given: Parameters<F>): ReturnType<F> => {
        requests.push(given[at]);
        return made(...given) as ReturnType<F>;
      };
    const { viaResponses: second } = twofold().translators!.chat!;
    const module = twofold({
      toUpstream: note(second!.toUpstream, 0),
      fromUpstream: note(second!.fromUpstream, 2),
      openStream: note(second!.openStream as (...given: any[]) => any, 1),
    });
    const t = await startHost({
      ...TRANSLATED,
      targets: [upstream.target('a', { model_facts: [{ models: ['m'], set: PICKY }] }, module)],
    });
    for (const { ask } of CLIENTS)
      for (const streaming of [false, true]) {
        const { path, body } = ask({ streaming, hasTools: true });
        await t.post(path, body);
        const [sent, read] = requests.splice(0);
        expect(read).to.equal(sent);
      }
  });

  it('streams as events, however the other API of the service does', async () => {
    const upstream = await stubUpstream(answers());
    const module = { ...twofold(), framing: 'ndjson' as const };
    const t = await startHost({ targets: [upstream.target('a', { chat_via: 'responses' }, module)] });
    const { path, body } = CLIENTS[0]!.ask({ streaming: true });
    expect((await t.post(path, body)).text)
      .to.include('lo')
      .and.not.include('error');
  });

  it('holds media of results where they stand', async () => {
    const image = { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'aGk=' } };
    const messages = [
      { role: 'user', content: 'look' },
      { role: 'assistant', content: [{ type: 'tool_use', id: 'c1', name: 'look', input: {} }] },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'c1', content: [image] }] },
    ];
    const asked = { model: 'm', max_tokens: 64, messages, tools: [{ name: 'look', input_schema: { type: 'object' } }] };
    const rolesBy = async (more: object): Promise<string[]> => {
      const { upstream, t } = await open(PICKY, more);
      await t.post('/v1/messages', asked);
      const { messages: chat, input = chat } = lastBody(upstream);
      return (input as Json[]).map(({ role, content }) =>
        Array.isArray(content) ? `${role} ${content[0].type}` : role,
      );
    };
    expect(await rolesBy({})).to.deep.equal(['user', 'assistant', 'tool image_url']);
    expect(await rolesBy({ chat_via: 'chat' })).to.deep.equal(['user', 'assistant', 'tool', 'user image_url']);
  });

  it('stands in an explanation', async () => {
    const { t } = await open(PICKY);
    const explained = async (request: object): Promise<unknown> =>
      (
        await t.post('/admin/explain', {
          request: { model: 'm', messages: [{ role: 'user', content: 'hi' }], ...request },
        })
      ).json().order[0].attempt;
    expect(await explained({ tools: [TOOL] })).to.deep.include({ via: 'responses' });
    expect(((await explained({ tools: [TOOL] })) as Json).via_reason).to.match(/: tools$/);
    expect(await explained({})).to.deep.equal({ via: 'chat', via_reason: 'nothing asks for the Responses API' });
    expect(await explained({ include_reasoning: true })).to.deep.equal({
      via: 'responses',
      via_reason: 'the client wants to see thoughts',
    });
    const configured = await open(PICKY, { chat_via: 'chat' });
    expect(
      (
        await configured.t.post('/admin/explain', {
          request: { model: 'm', messages: [{ role: 'user', content: 'hi' }] },
        })
      ).json().order[0].attempt,
    ).to.deep.equal({ via: 'chat', via_reason: 'chat_via' });
  });

  it('is kept in the row of a request, and only where it was to be chosen', async () => {
    const store = {
      REQUEST_LOG_STORE_BACKEND: 'sqlite',
      REQUEST_LOG_STORE_DSN: join(await temporaryFolder(), 'rows.db'),
    };
    const upstream = await stubUpstream(answers());
    const t = await startHost(
      { targets: [twofoldTarget(upstream, 'a', PICKY)], plugins: logger() },
      { variables: store },
    );
    const plain = await stubUpstream((_request, response) => replyJson(response, 200, chatReply('hi')));
    const shown = async (host: TestHost, request: object): Promise<Json> => {
      const answer = await host.post('/v1/chat/completions', {
        model: 'm',
        messages: [{ role: 'user', content: 'hi' }],
        ...request,
      });
      return (await host.get(`/admin/explain/${answer.headers.get('x-request-id')}`)).json().attempts[0] as Json;
    };
    expect((await shown(t, { tools: [TOOL] }))['via']).to.equal('responses');
    expect((await shown(t, {}))['via']).to.equal('chat');
    expect(pathsOf(upstream)).to.deep.equal(['/responses', '/chat/completions']);
    await t.close();
    const other = await startHost({ targets: [plain.target('b')], plugins: logger() }, { variables: store });
    expect(await shown(other, {})).not.to.have.property('via');
  });
});
