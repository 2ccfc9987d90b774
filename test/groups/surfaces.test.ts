import { expect } from 'chai';
import { forSuite, replyJson } from '../kit/index.ts';
import { question, type Question, shapesOf, SURFACES_ASKED } from './questions.ts';
import { CLAUDE, GEMINI_MODEL, OPENAI_MODEL, RERANKER, type Vendors, vendorAnswer, withVendors } from './vendors.ts';

/** A name that a path has to escape. */
const NAME = 'team/mixed';
const ALIAS = 'usual';

const GROUP = {
  name: NAME,
  routes: [
    { target: 'anthropic', model: CLAUDE },
    { target: 'openai', model: OPENAI_MODEL },
    { target: 'gemini', model: GEMINI_MODEL },
    { target: 'together', model: RERANKER },
  ],
};
const CONFIG = { models: [GROUP], aliases: { [ALIAS]: NAME }, responses: { translate: 'auto' } };

/** Surfaces that the first route has. */
const FIRST: ReadonlySet<string> = new Set([
  'chat',
  'messages',
  'generate_content',
  'completions',
  'responses.translated',
  'responses',
]);
/** The kind that serves a surface. */
const firstOf = (surface: string): string =>
  FIRST.has(surface) ? 'anthropic' : surface === 'rerank' ? 'together' : 'openai';

const ask = ({ host }: Vendors, { method, path, headers, body }: Question): Promise<Response> =>
  fetch(host.url + path, { method, headers, ...(body !== undefined && { body: body as string }) });

const asked = SURFACES_ASKED.filter((surface) => surface !== 'passthrough').flatMap((surface) =>
  shapesOf(surface).map((isStream) => ({ surface, isStream, title: question(surface, NAME, isStream).title })),
);

describe('a group of several kinds', () => {
  const all = forSuite(() => withVendors(CONFIG));
  const broken = forSuite(() =>
    withVendors(CONFIG, {
      play: (request, out) =>
        request.url.endsWith('/messages')
          ? replyJson(out, 503, { error: { message: 'down' } })
          : vendorAnswer(request, out),
    }),
  );

  for (const { surface, isStream, title } of asked) {
    it(`is served by the first route whose kind has the surface, also by an alias: ${title}`, async () => {
      for (const name of [NAME, ALIAS]) {
        const answer = await ask(all(), question(surface, name, isStream));
        const text = await answer.text();
        expect(answer.status, text).to.equal(200);
        expect(answer.headers.get('x-gateway-target')).to.equal(firstOf(surface));
        expect(text).to.not.contain('Llama-Rank').and.not.contain(OPENAI_MODEL).and.not.contain(CLAUDE);
      }
    });

    if (FIRST.has(surface))
      it(`goes on to the next kind where the first fails: ${title}`, async () => {
        const answer = await ask(broken(), question(surface, NAME, isStream));
        const text = await answer.text();
        expect(answer.status, text).to.equal(200);
        expect(answer.headers.get('x-gateway-target')).to.equal('openai');
        expect(answer.headers.get('x-gateway-model')).to.equal(OPENAI_MODEL);
        expect(answer.headers.get('x-gateway-attempts')).to.equal('2');
        expect(text).to.contain(NAME);
      });
  }

  it('answers with the name asked for where it translates, and with what the vendor wrote where its bytes go on', async () => {
    const chat = await ask(all(), question('chat', ALIAS));
    expect(await chat.json()).to.include({ model: NAME });
    const messages = await ask(all(), question('messages', NAME));
    expect(await messages.json()).to.include({ model: 'claude-vendor' });
    expect(messages.headers.get('x-gateway-model')).to.equal(CLAUDE);
    expect(messages.headers.get('x-gateway-upstream-model')).to.equal('claude-vendor');
  });

  it('has tokens counted by the first ranked route', async () => {
    const { host, takeSeen } = all();
    takeSeen();
    const body = { model: NAME, messages: [{ role: 'user', content: 'hi' }] };
    const counted = await host.post('/v1/messages/count_tokens', body, { 'anthropic-version': '2023-06-01' });
    expect(counted.json()).to.include({ input_tokens: 41 });
    const [sent] = takeSeen();
    expect(sent?.json()).to.include({ model: CLAUDE });
    const path = `/v1beta/models/${encodeURIComponent(NAME)}:countTokens`;
    const estimated = await host.post(path, { contents: [{ role: 'user', parts: [{ text: 'hi' }] }] });
    expect(estimated.status).to.equal(200);
    expect(takeSeen(), 'the first route does not speak that format').to.deep.equal([]);
  });
});

describe('log lines of requests in a group', () => {
  it('name the group whose route was tried last, and have no such member outside groups', async () => {
    const down = {
      name: 'down',
      routes: [{ target: 'anthropic', model: CLAUDE }],
      fallbacks: ['behind', OPENAI_MODEL],
    };
    const vendors = await withVendors(
      { models: [GROUP, down, { name: 'behind', routes: [{ target: 'anthropic', model: 'claude-haiku-4-5' }] }] },
      {
        play: (request, out) =>
          request.url.endsWith('/messages')
            ? replyJson(out, 503, { error: { message: 'no' } })
            : vendorAnswer(request, out),
      },
    );
    const groupOf = async (asking: Question): Promise<unknown[]> => {
      const from = vendors.host.lines.length;
      await (await ask(vendors, asking)).text();
      const lines = vendors.host.lines
        .slice(from)
        .filter(({ msg }) => /request (?:completed|failed)$/.test(msg as string));
      return lines.map((line) => [line['msg'], 'group' in line, line['group']]);
    };
    expect(await groupOf(question('chat', NAME))).to.deep.equal([['request completed', true, NAME]]);
    expect(await groupOf(question('embeddings', NAME))).to.deep.equal([['embedding request completed', true, NAME]]);
    expect(await groupOf(question('chat', 'behind'))).to.deep.equal([['request failed', true, 'behind']]);
    expect(await groupOf(question('chat', 'down'))).to.deep.equal([['request completed', false, undefined]]);
    expect(await groupOf(question('chat', OPENAI_MODEL))).to.deep.equal([['request completed', false, undefined]]);
  });
});

describe('what clients read of a group', () => {
  const models = [
    {
      name: NAME,
      routes: [
        { target: 'openai', model: 'up-1' },
        { target: 'openai', model: 'up-2' },
      ],
      fallbacks: ['inner-fallback'],
    },
    { name: 'inner-fallback', listed: false, routes: [{ target: 'openai', model: 'up-3' }] },
    { name: 'inner-*', listed: false, routes: [{ target: 'openai', model: '*' }] },
  ];
  const INTERNAL = /inner-|openai@|up-[123]@/;

  for (const status of [400, 404, 429, 503])
    it(`names no other group and no route, where vendors answer ${status}`, async () => {
      const vendors = await withVendors(
        { models, responses: { translate: 'auto' } },
        { play: (_request, out) => replyJson(out, status, { error: { message: 'no' } }) },
      );
      for (const { surface, isStream, title } of asked) {
        const answer = await ask(vendors, question(surface, NAME, isStream));
        const headers = [...answer.headers].join('\n');
        expect(answer.status, title).to.be.at.least(400);
        expect(`${headers}\n${await answer.text()}`, title).to.not.match(INTERNAL);
      }
    });

  it('names none of them either where the fallback answers', async () => {
    const vendors = await withVendors(
      { models },
      {
        play: (request, out) =>
          /up-[12]/.test(request.text) ? replyJson(out, 503, { error: { message: 'no' } }) : vendorAnswer(request, out),
      },
    );
    for (const { surface, isStream, title } of asked.filter(
      ({ surface }) => surface !== 'responses' && surface !== 'responses.translated' && surface !== 'rerank',
    )) {
      const answer = await ask(vendors, question(surface, NAME, isStream));
      const headers = [...answer.headers].join('\n');
      expect([answer.status, answer.headers.get('x-gateway-model')], title).to.deep.equal([200, 'up-3']);
      expect(`${headers}\n${await answer.text()}`, title).to.not.match(INTERNAL);
    }
  });
});

describe('a model of the other kind', () => {
  const MIXED = {
    models: [
      {
        name: 'chat-first',
        routes: [
          { target: 'openai', model: OPENAI_MODEL },
          { target: 'openai', model: 'text-embedding-3-small' },
        ],
      },
      {
        name: 'vectors-first',
        routes: [
          { target: 'openai', model: 'text-embedding-3-small' },
          { target: 'anthropic', model: CLAUDE },
        ],
      },
    ],
  };
  const vendors = forSuite(() => withVendors(MIXED));

  it('is judged by the first route that serves', async () => {
    expect((await ask(vendors(), question('messages', 'chat-first'))).status).to.equal(200);
    expect((await ask(vendors(), question('messages', 'vectors-first'))).status).to.equal(404);
    expect((await ask(vendors(), question('generate_content', 'vectors-first'))).status).to.equal(404);
  });
});
