import { commonGateway, ownGateway, says, streams, TEXT, PATH, STREAM } from './kit.ts';
import { replyJson, openSse } from '../../kit/index.ts';
describe('try', () => {
  it('common', async () => {
    const g = await commonGateway(says({ content: 'hello', tool_calls: [{ id: 'c1', type: 'function', function: { name: 'f', arguments: '{"a":12345678901234567890}' } }], reasoning_content: 'hm' }));
    const a = await g.generate({ ...TEXT, generationConfig: { temperature: 0.5, topK: 3, thinkingConfig: { includeThoughts: true, thinkingBudget: 100 } }, safetySettings: [{}] });
    console.log(a.status, a.text, Object.fromEntries(a.headers)); console.log(JSON.stringify(g.sent()));
    for (const [m, p, b] of [['POST', '/v1beta/models/nope:generateContent', TEXT], ['GET', PATH, undefined], ['POST', '/v1beta/models/:generateContent', TEXT], ['POST','/v1beta/models/m:foo', TEXT], ['POST', '/v1beta/models/m', TEXT], ['PUT', '/v1beta/models/m', TEXT], ['POST', '/v1beta/cachedContents', TEXT], ['POST', STREAM, { contents: 3 }], ['POST', `${STREAM}?alt=sse`, { contents: 3 }], ['POST', `${PATH}?alt=proto`, TEXT], ['POST','/v1beta/models/a%00b:generateContent',TEXT], ['POST','/v1beta/models/a/%2e%2e/b:generateContent',TEXT]] as const) {
      const r = await g.host.request(m, p, b); console.log(m, p, r.status, r.headers.get('allow'), r.text);
    }
    const u = await g.host.request('POST', PATH, TEXT, { authorization: 'x' }); console.log(u.status, u.text, u.headers.get('www-authenticate'));
    const k = await g.host.request('POST', `${PATH}?key=gw_0123456789abcdef0123456789abcdef`, TEXT, { authorization: 'x' }); console.log(k.status);
  });
  it('stream', async () => {
    const g = await commonGateway(streams({ role: 'assistant', content: '' }, { reasoning_content: 'th' }, { content: 'he' }, { content: 'llo' }, { tool_calls: [{ index: 0, id: 'c', function: { name: 'f', arguments: '' } }] }, { tool_calls: [{ index: 0, function: { arguments: '{"a"' } }] }, { tool_calls: [{ index: 0, function: { arguments: ':1}' } }] }));
    const a = await g.host.post(`${STREAM}?alt=sse`, TEXT); console.log(a.status, a.text, a.headers.get('content-type'));
    const b = await g.host.post(STREAM, TEXT); console.log(b.status, b.json(), b.headers.get('content-type'));
  });
  it('own', async () => {
    const reply = { candidates: [{ content: { parts: [{ text: 'hello' }], role: 'model' }, finishReason: 'STOP', index: 0 }], usageMetadata: { promptTokenCount: 3, candidatesTokenCount: 2, totalTokenCount: 5 }, modelVersion: 'gemini-x', responseId: 'r' };
    const g = await ownGateway((seen, response) => { console.log(seen.url ?? (seen as any).path, JSON.stringify(seen.headers)); if (/stream/.test(seen.url ?? (seen as any).path)) { openSse(response); response.end(`data: ${JSON.stringify({ ...reply, candidates: [{ content: { parts: [{ text: 'hel' }], role: 'model' } }] })}\r\n\r\ndata: ${JSON.stringify(reply)}\r\n\r\n`); } else replyJson(response, 200, reply); });
    const a = await g.host.post(PATH, '{ "contents": [ {"parts":[{"text":"h\\u0069"}]}], "unknown": 12345678901234567890 }'); console.log(a.status, a.text); console.log(JSON.stringify(g.upstream.seen.at(-1), (k, v) => k === "headers" ? undefined : v));
    const s = await g.host.post(`${STREAM}?alt=sse`, TEXT); console.log(s.status, JSON.stringify(s.text));
    const l = await g.host.post(`${STREAM}`, TEXT); console.log(l.status, JSON.stringify(l.text));
  });
});
