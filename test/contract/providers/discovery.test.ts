import { expect } from 'chai';
import { gatewayOf, minimal, replyJson, translate, valueOf } from '../../kit/index.ts';
import { FACTS } from './facts.ts';
import { connected, goldenJson, moduleOf } from './support.ts';

const LISTING = FACTS.filter(({ discovery }) => discovery);

/** Ids of the golden lists, with times in Unix seconds where the vendor states them. See docs/reference/providers.md#live-models. */
const expected = (name: string): { id: string; created?: number }[] => {
  const body = goldenJson(`${name}/models/reply.json`);
  if (name === 'ollama')
    return [
      { id: 'llama3.2:latest', created: 1_763_000_000 },
      { id: 'gpt-oss:20b' },
      { id: 'qwen3:8b', created: 1_763_000_001 },
      { id: 'qwen3:4b' },
    ];
  if (name === 'ollama-cloud')
    return [
      { id: 'gpt-oss:120b', created: 1_763_000_000 },
      { id: 'gpt-oss:20b', created: 1_763_000_001 },
    ];
  return (Array.isArray(body) ? body : body.data).map(({ id, created }: { id: string; created?: number }) => ({
    id,
    ...(created !== undefined && { created }),
  }));
};

const read = (name: string, body: unknown): { id: string; created?: number | undefined }[] =>
  moduleOf(name)
    .discovery!.read(body)
    .map(({ id, created }) => ({ id, ...(created ? { created } : {}) }));

describe('model discovery', () => {
  it('is offered by 18 providers of this build', () => {
    expect(LISTING).to.have.length(18);
  });

  for (const facts of LISTING) {
    const { name, credential, discovery } = facts;

    it(`of ${name} reads its own list, and asks for it below the same root`, async () => {
      expect(read(name, goldenJson(`${name}/models/reply.json`))).to.deep.equal(expected(name));
      const { host, upstream } = await gatewayOf(
        facts,
        (_request, response) => replyJson(response, 200, goldenJson(`${name}/models/reply.json`)),
        { variables: { GW_MODEL_DISCOVERY_INTERVAL: '1h' } },
      );
      const asked = await until(() => upstream.seen[0]);
      expect(asked).to.include({ method: 'GET', url: new URL(discovery!(upstream.url)).pathname, text: '' });
      expect(asked.headers.authorization).to.equal(credential && `Bearer ${valueOf(credential)}`);
      const ids = expected(name).map(({ id }) => id);
      const listed = await until(async () => {
        const entries: { id: string; owned_by: string; created: number; object: string }[] = (
          await host.get('/v1/models')
        ).json().data;
        return ids.every((id) => entries.some((entry) => entry.id === id)) ? entries : undefined;
      });
      for (const { id, created = 0 } of expected(name))
        expect(listed.find((entry) => entry.id === id)).to.include({ object: 'model', owned_by: name, created });
    });

    it(`of ${name} lives with lists that are half broken, and throws on what is none`, () => {
      for (const body of [null, 7, 'x', {}, { data: null }, { data: 7 }, { models: 'x' }, { error: 'busy' }])
        expect(() => read(name, body), JSON.stringify(body)).to.throw();
      if (name === 'ollama') return;
      const items = [
        { id: 'good', created: 5 },
        { id: '' },
        { id: null },
        null,
        7,
        { id: 'odd', created: 1.5 },
        { id: 'worded', created: 'yesterday' },
        { id: 'bare' },
      ];
      for (const body of [items, { object: 'list', data: items }]) {
        expect(read(name, body).map(({ id }) => id)).to.deep.equal(['good', 'odd', 'worded', 'bare']);
        expect(read(name, body)[0]).to.deep.equal({ id: 'good', created: 5 });
        for (const { created } of read(name, body))
          expect(created === undefined || Number.isInteger(created)).to.equal(true);
      }
      expect(read(name, { data: [] })).to.deep.equal([]);
    });
  }

  it('shares its root with the other surfaces', async () => {
    for (const {
      name,
      discovery,
      surfaces: { chat },
      isHostRoot,
    } of LISTING.filter(({ name }) => name !== 'ollama')) {
      const { sent } = await translate(
        await connected(name, 'http://h:9911/probe'),
        'chat',
        minimal('chat', chat.model) as never,
      );
      expect(discovery!('http://h:9911/probe'), `${name} ${isHostRoot ? 'host' : 'root'}`).to.equal(
        sent.url.replace(/\/chat\/completions$/, '/models'),
      );
    }
  });

  it('follows no redirect, and keeps the credential to itself', async () => {
    const [facts] = LISTING.filter(({ name }) => name === 'openai') as [(typeof LISTING)[number]];
    const { host, upstream } = await gatewayOf(
      facts,
      (_request, response) => {
        response.writeHead(307, { location: 'http://user:pw@127.0.0.1:1/models?token=x' }).end();
      },
      { variables: { GW_MODEL_DISCOVERY_INTERVAL: '1h' } },
    );
    await until(() => upstream.seen[0]);
    const line = await until(() => host.lines.find(({ level, provider }) => level === 'WARN' && provider === 'openai'));
    expect(JSON.stringify(line))
      .to.not.include('pw@')
      .and.not.include('token=x')
      .and.not.include(valueOf('OPENAI_API_KEY'));
    expect(upstream.seen).to.have.length(1);
  });
});

/** Polls what another task brings about; fails with the test's own time limit. */
async function until<T>(look: () => T | undefined | Promise<T | undefined>): Promise<T> {
  for (;;) {
    const found = await look();
    if (found !== undefined) return found;
    await new Promise((resolve) => {
      setImmediate(resolve);
    });
  }
}
