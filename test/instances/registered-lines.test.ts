import { expect } from 'chai';
import { startHost, type TestHost } from '../kit/index.ts';

const lines = (t: TestHost): readonly unknown[] =>
  t.lines.flatMap(({ msg, provider, kind }) => (msg === 'provider registered' && kind ? [`${provider} ${kind}`] : []));

const targets = [{ virtual_key: 'one', models: ['m'] }];
const instance = (more: object): object => ({ kind: 'openai', base_url: 'http://127.0.0.1:9/v1', ...more });

describe('the line of a declared instance that can be called', () => {
  it('stands once, and again for another block under its name', async () => {
    const one = instance({ api_key: '${KEY}' });
    const config = { targets, providers: { one, away: instance({ api_key: '${NONE}' }) } };
    const t = await startHost(config, { variables: { KEY: 'sk-of-one-0123456789' } });
    expect(lines(t)).to.deep.equal(['one openai']);
    await t.apply({ ...config, max_request_bytes: 1_000_000 });
    expect(lines(t)).to.deep.equal(['one openai']);
    await t.apply({ targets, providers: { one: instance({ api_key: '${KEY}', headers: { 'x-a': 'b' } }) } });
    expect(lines(t)).to.deep.equal(['one openai', 'one openai']);
  });
});
