import { expect } from 'chai';
import { chatReply, replyJson, startHost, stubUpstream } from '../../kit/index.ts';
import { CANARY, RESPONSE } from '../../plugins/canary-kit.ts';

/** Each string that is `text`, with another one in its place. */
function* places(value: unknown, path = ''): Generator<readonly [path: string, change: (text: string) => unknown]> {
  if (value === 'text' || (typeof value === 'string' && value.includes('"text"')))
    yield [path, (text) => (value === 'text' ? text : value.replace('text', text))];
  else if (Array.isArray(value))
    for (const [at, item] of value.entries())
      for (const [where, change] of places(item, `${path}[${at}]`))
        yield [where, (text) => value.with(at, change(text))];
  else if (typeof value === 'object' && value !== null)
    for (const [name, member] of Object.entries(value))
      for (const [where, change] of places(member, `${path}.${name}`))
        yield [where, (text) => ({ ...value, [name]: change(text) })];
}

describe('a canary in a translated request of the Responses API', () => {
  it('is found wherever it stands, and masked wherever it may be', async () => {
    const upstream = await stubUpstream((_request, response) => replyJson(response, 200, chatReply('ok')));
    const targets = [upstream.target('a')];
    const rejecting = await startHost({
      targets,
      responses: { translate: 'auto' },
      plugins: [{ name: 'regex-guard', stage: 'before_request', enabled: true, config: { patterns: [CANARY] } }],
    });
    const masking = await startHost({
      targets,
      responses: { translate: 'auto' },
      plugins: [
        { name: 'pii-redact', stage: 'before_request', enabled: true, config: { entities: ['email'], action: 'mask' } },
      ],
    });
    expect((await rejecting.post('/v1/responses', RESPONSE)).status).to.equal(200);
    const found = [...places(RESPONSE)];
    expect(found.length).to.be.greaterThan(25);
    for (const [place, change] of found) {
      const answer = await rejecting.post('/v1/responses', change(CANARY));
      expect([answer.status, answer.json().error?.code], place).to.deep.equal([400, 'request_rejected']);
      upstream.seen.length = 0;
      const masked = await masking.post('/v1/responses', change('a@b.example'));
      const isThought = place.includes('summary') || place.includes('.input[2].content');
      expect(masked.status, `${place}: ${masked.text}`).to.equal(isThought ? 400 : 200);
      expect(upstream.seen.map(({ text }) => text).join(''), place).to.not.include('a@b.example');
    }
  });
});
