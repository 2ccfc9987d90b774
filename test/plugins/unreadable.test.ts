import { expect } from 'chai';
import Joi from 'joi';
import { commonTranslators } from 'gw/common-wire';
import { definePlugin, type Exchange, type PluginModule, reject, type Surface } from 'gw/contract';
import { jsonBody } from '../../host/http/surface-route.ts';
import { surfaceBuiltin } from '../../host/surface-builtin.ts';
import { ask, chatReply, replyJson, startHost, stubUpstream, type StubUpstream, type TestHost } from '../kit/index.ts';

const PATH = '/v1/test/embeddings';

/** A surface beside chat that can mark its body as unreadable. */
const surface = surfaceBuiltin({
  surface: 'embeddings',
  path: PATH,
  read: jsonBody((body) => ({ request: body, streaming: false, unreadable: body['unreadable'] === true })),
});

const translators = {
  ...commonTranslators(['chat'], {}),
  embeddings: {
    toUpstream: (body: object) => ({ path: '/embeddings', body }),
    fromUpstream: (reply: { json(): unknown }) => reply.json(),
  },
};

function guardrail(more: Partial<PluginModule> = {}, seen: string[] = []): PluginModule {
  const note = ({ stage }: Exchange): void => {
    seen.push(stage);
  };
  return definePlugin({
    name: 'guard',
    type: 'guardrail',
    summary: 'For this test',
    stages: ['before_request', 'after_request', 'on_error'],
    settings: Joi.object({ observe: Joi.boolean() }),
    create: () => ({ before_request: note, after_request: note, on_error: note }),
    ...more,
  });
}

const at = (stage: string, config?: object): object => ({
  name: 'guard',
  stage,
  enabled: true,
  ...(config && { config }),
});

async function hostOf(
  plugins: readonly object[],
  module: PluginModule,
): Promise<{ host: TestHost; upstream: StubUpstream }> {
  const upstream = await stubUpstream((request, response) =>
    replyJson(
      response,
      200,
      request.url === '/embeddings'
        ? { object: 'list', data: [{ object: 'embedding', embedding: [1], index: 0 }], model: 'm' }
        : chatReply('x'),
    ),
  );
  const host = await startHost(
    { targets: [upstream.target('a', {}, { translators } as never)], plugins },
    { modules: [module], builtins: [surface] },
  );
  return { host, upstream };
}

const body = { model: 'm', input: [1, 2, 3], unreadable: true };

describe('a body that no plugin can read', () => {
  it('is refused while a guardrail stands before the request: no plugin runs but on_error handlers', async () => {
    const seen: string[] = [];
    const { host, upstream } = await hostOf([at('before_request'), at('on_error')], guardrail({}, seen));
    const answer = await host.post(PATH, body);
    expect(answer.status).to.equal(400);
    expect(answer.json().error).to.include({ type: 'invalid_request_error', code: 'request_rejected' });
    expect(answer.json().error.message).to.match(/gateway.*cannot be inspected.*does not forward/);
    expect(answer.headers.get('x-gateway-target')).to.equal(null);
    expect(seen).to.deep.equal(['on_error']);
    expect(upstream.seen).to.deep.equal([]);
    expect(
      host.samples.filter(({ name }) => name === 'gateway_requests_total').map(({ labels }) => labels['status']),
    ).to.deep.equal(['rejected']);
  });

  for (const [what, plugins, more] of [
    ['no guardrail stands there', [], {}],
    ['one stands only after the request', [at('after_request')], {}],
    ['one only observes', [at('before_request', { observe: true })], {}],
    ['one reads no content', [at('before_request')], { readsContent: () => false }],
    ['a limit stands there', [at('before_request')], { type: 'ratelimit' }],
    ['a transform stands there', [at('before_request')], { type: 'transform', keepsModel: true }],
    ['a logger stands there', [at('before_request')], { type: 'logging' }],
  ] as const) {
    it(`is served when ${what}`, async () => {
      const { host, upstream } = await hostOf(plugins, guardrail(more));
      expect((await host.post(PATH, body)).status).to.equal(200);
      expect(upstream.seen[0]?.json()).to.deep.equal(body);
    });
  }

  it('is no other body: what can be read is served', async () => {
    const { host } = await hostOf([at('before_request')], guardrail());
    expect((await host.post(PATH, { ...body, unreadable: false })).status).to.equal(200);
    expect((await host.post('/v1/chat/completions', ask())).status).to.equal(200);
  });
});

describe('a surface that a content guardrail leaves out', () => {
  const only = (...surfaces: readonly Surface[]): Partial<PluginModule> => ({ surfaces });

  it('is refused altogether', async () => {
    const { host, upstream } = await hostOf([at('before_request')], guardrail(only('chat')));
    const answer = await host.post(PATH, { ...body, unreadable: false });
    expect([answer.status, answer.json().error.code]).to.deep.equal([400, 'request_rejected']);
    expect((await host.post('/v1/chat/completions', ask())).status).to.equal(200);
    expect(upstream.seen).to.have.length(1);
  });

  it('is served by other plugins that leave it out, which do not run there', async () => {
    const seen: string[] = [];
    const { host } = await hostOf(
      [at('before_request')],
      guardrail({ ...only('chat'), type: 'transform', keepsModel: true }, seen),
    );
    expect((await host.post(PATH, { ...body, unreadable: false })).status).to.equal(200);
    expect(seen).to.deep.equal([]);
    await host.post('/v1/chat/completions', ask());
    expect(seen).to.deep.equal(['before_request']);
  });
});

describe('verdicts beside chat', () => {
  it("may not answer in the provider's place, nor change more than the model", async () => {
    for (const verdict of [
      { action: 'answer', reply: chatReply('cached') },
      { action: 'rewrite', body: { model: 'm', input: 'changed' } },
    ]) {
      const { host, upstream } = await hostOf(
        [at('before_request')],
        guardrail({ type: 'transform', keepsModel: true, create: () => ({ before_request: () => verdict as never }) }),
      );
      const answer = await host.post(PATH, { model: 'm', input: 'as sent' });
      expect(answer.json().object).to.equal('list');
      expect(upstream.seen[0]?.json()).to.deep.equal({ model: 'm', input: 'as sent' });
    }
  });

  it('may change the model', async () => {
    const create = (): object => ({
      before_request: () => ({ action: 'rewrite', body: { model: 'm', input: 'changed' } }),
    });
    const { host, upstream } = await hostOf([at('before_request')], guardrail({ type: 'transform', create } as never));
    await host.post(PATH, { model: 'other', input: 'as sent' });
    expect(upstream.seen[0]?.json()).to.deep.equal({ model: 'm', input: 'as sent' });
  });

  it('may withhold a whole answer', async () => {
    const { host } = await hostOf(
      [at('after_request')],
      guardrail({ create: () => ({ after_request: () => reject('no') }) }),
    );
    const answer = await host.post(PATH, { model: 'm', input: 'x' });
    expect([answer.status, answer.json().error.code]).to.deep.equal([502, 'response_rejected']);
  });
});
