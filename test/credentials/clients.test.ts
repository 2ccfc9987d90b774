import { expect } from 'chai';
import { BAD_KEY, chat, FORBIDDEN, startPool, vendorOf } from './vendor.ts';

const OK = { status: 200, body: { id: 'resp_1', object: 'response', output: [] } };
const ACCOUNTS = ['OpenAI-Organization', 'openai-project', 'openai_organization', 'OpenAI_Project'];

describe('what a client cannot do to the credentials of a declared instance', () => {
  for (const name of ACCOUNTS)
    it(`charge another account of the vendor, or have the key refused for it: ${name}`, async () => {
      const seen: object[] = [];
      const vendor = await vendorOf((_key, { headers }) => {
        seen.push(headers);
        const isForeign = Object.values(headers).includes('org-of-another');
        return isForeign ? BAD_KEY : OK;
      });
      const t = await startPool(vendor, ['a']);
      const foreign = { [name]: 'org-of-another' };
      const body = { model: 'm', input: 'hi', store: false };
      expect((await t.post('/v1/responses', body, foreign)).status).to.equal(200);
      expect((await t.post('/v1/anything', {}, { ...foreign, 'x-provider': 'acme' })).status).to.equal(200);
      expect((await t.post('/v1/chat/completions', chat(), foreign)).status).to.not.equal(503);
      expect(JSON.stringify(seen)).not.to.include('org-of-another');
    });

  it('send the account that the credential names itself', async () => {
    const seen: Record<string, unknown>[] = [];
    const vendor = await vendorOf((_key, { headers }) => {
      seen.push(headers);
      return OK;
    });
    const t = await startPool(vendor, ['a'], { credentials: { a: { organization: 'org-1', project: 'proj-1' } } });
    await t.post('/v1/responses', { model: 'm', input: 'hi', store: false }, { 'openai-organization': 'org-2' });
    expect(seen[0]).to.include({ 'openai-organization': 'org-1', 'openai-project': 'proj-1' });
  });

  it('have it benched by a forwarded request that asks for more than the account can pay', async () => {
    const TOO_DEAR = 1_000_000;
    const vendor = await vendorOf((_key, request) =>
      Number(request.json().max_output_tokens) >= TOO_DEAR
        ? { status: 402, body: { error: { message: 'This request requires more credits, or fewer max_tokens' } } }
        : OK,
    );
    const t = await startPool(vendor, ['a', 'b']);
    const body = { model: 'm', input: 'hi', store: false };
    for (let at = 0; at < 4; at += 1)
      expect((await t.post('/v1/responses', { ...body, max_output_tokens: TOO_DEAR })).status).to.equal(402);
    for (let at = 0; at < 4; at += 1) expect((await t.post('/v1/responses', body)).status).to.equal(200);
    expect(t.lines.filter(({ msg }) => msg === 'credential benched')).to.deep.equal([]);
  });

  it('have one request count as several refusals: tries of the retry policy are one', async () => {
    let calls = 0;
    // Each try asks both, which refuse; the last one finds the second willing.
    const vendor = await vendorOf((key) => {
      calls += 1;
      if (calls > 6 && key === 'b') return undefined;
      return FORBIDDEN;
    });
    const t = await startPool(vendor, ['a', 'b'], {
      random: () => 0,
      target: { retry: { attempts: 4, initial_backoff_ms: 1 }, retry_on_status: [403] },
    });
    expect((await t.post('/v1/chat/completions', chat())).status).to.equal(200);
    expect(vendor.keys).to.deep.equal(['a', 'b', 'a', 'b', 'a', 'b', 'a', 'b']);
    expect(t.lines.filter(({ msg }) => msg === 'credential benched')).to.deep.equal([]);
  });
});
