import { expect } from 'chai';
import { startFleet } from './fleet.ts';

describe('groups in a shown configuration', () => {
  it('stand there as they were written, and may be put back as they are shown', async () => {
    const models = [
      {
        name: 'smart@v1',
        routes: [
          { target: 'a', model: 'org/x@2026', weight: 2 },
          { target: 'a', model: 'y' },
        ],
        strategy: { mode: 'loadbalance', affinity: 'session', failover_on: ['context_length'] },
        fallbacks: ['m', 'oss/llama'],
        listed: false,
        context: { max_input_tokens: 1000, max_output_tokens: 10 },
      },
      { name: 'oss/*', routes: [{ target: 'a', model: '*' }] },
    ];
    const fleet = await startFleet(['a'], { models }, { more: { a: { models: ['m'] } } });
    const read = async (): Promise<{ readonly body: Record<string, unknown>; readonly tag: string }> => {
      const answer = await fleet.host.get('/admin/config');
      return { body: answer.json() as Record<string, unknown>, tag: answer.headers.get('etag') ?? '' };
    };
    const before = await read();
    const shown = (before.body['config'] ?? before.body) as { readonly models: object };
    expect(shown.models).to.deep.equal(models);
    const put = await fleet.host.request('PUT', '/admin/config', shown, { 'if-match': before.tag });
    expect(put.status, put.text).to.be.oneOf([200, 204]);
    const after = await read();
    expect(((after.body['config'] ?? after.body) as { readonly models: object }).models).to.deep.equal(shown.models);
    expect((await fleet.ask('oss/llama')).calls).to.deep.equal(['a/llama']);
  });
});
