import { expect } from 'chai';
import databricks from '../../providers/databricks/index.ts';
import { refusedBy, rootOf, sentBy } from '../kit/index.ts';
import { CHAT, EMBED } from './support.ts';

const at = (host: string): object => ({ variables: { DATABRICKS_HOST: host } });

describe('databricks', () => {
  it('finds its serving root from a host, or from the address of anything below it', async () => {
    for (const [host, root] of [
      ['https://w.example', 'https://w.example/serving-endpoints'],
      [' https://w.example/ ', 'https://w.example/serving-endpoints'],
      ['https://w.example/serving-endpoints', 'https://w.example/serving-endpoints'],
      ['https://w.example/serving-endpoints/chat/completions', 'https://w.example/serving-endpoints'],
      ['https://w.example/serving-endpoints/e/embeddings', 'https://w.example/serving-endpoints/e'],
      ['https://w.example/models', 'https://w.example/serving-endpoints'],
      ['http://h/probe', 'http://h/probe/serving-endpoints'],
    ] as const)
      expect(await rootOf(databricks, { DATABRICKS_HOST: host }), host).to.equal(root);
  });

  it('is not set up at an address without a scheme, or with a query', async () => {
    for (const host of ['w.example', 'https://w.example?o=1', '   ']) {
      const error = await rootOf(databricks, { DATABRICKS_HOST: host }).catch((cause: unknown) => cause);
      expect(error, host).to.be.instanceOf(Error);
    }
  });

  it('sends chat and embeddings as they came', async () => {
    const chat = await sentBy(databricks, 'chat', CHAT, at('https://w.example'));
    expect([chat.url, chat.body]).to.deep.equal(['https://w.example/serving-endpoints/chat/completions', CHAT]);
    const embeddings = await sentBy(databricks, 'embeddings', EMBED, at('https://w.example'));
    expect([embeddings.url, embeddings.body]).to.deep.equal(['https://w.example/serving-endpoints/embeddings', EMBED]);
  });

  it('refuses blank texts, the whole input or one of several', async () => {
    for (const input of ['', ' \n', ['a', '  ']])
      expect((await refusedBy(databricks, 'embeddings', { model: 'm', input }, at('https://w.example'))).code).to.equal(
        'invalid_request',
      );
    expect(
      (await sentBy(databricks, 'embeddings', { model: 'm', input: [1, 2] }, at('https://w.example'))).body.input,
    ).to.deep.equal([1, 2]);
  });

  it('takes any model, lists none, and connects more slowly', () => {
    expect(databricks)
      .to.include({ anyModel: true, passthrough: true, responses: true })
      .and.not.have.property('discovery');
    expect(databricks.connection.connectTimeoutMs).to.equal(15_000);
  });
});
