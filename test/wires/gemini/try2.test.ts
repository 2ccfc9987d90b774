import { startHost, stubUpstream, replyJson } from '../../kit/index.ts';
describe('try', () => { it('lists', async () => {
  const upstream = await stubUpstream((_r, s) => replyJson(s, 200, {}));
  const host = await startHost({ strategy: { mode: 'fallback' }, aliases: { short: 'x', 'a/b:c': 'y' }, targets: [upstream.target('a', { models: ['x', 'y', 'gpt-4o'] })] });
  for (const p of ['/v1beta/models', '/v1beta/models?pageSize=2', '/v1beta/models/x', '/v1beta/models/models/short', '/v1beta/models/a%2Fb:c', '/v1beta/models/nope', '/v1beta/models?pageSize=0', '/v1beta/models?pageToken=abc', '/v1beta/models/x:generateContent', '/v1beta/models/']) { const a = await host.get(p); console.log(p, a.status, a.text); }
  const a = await host.post('/v1beta/models', {}); console.log(a.status, a.headers.get('allow'), a.text);
}); });
