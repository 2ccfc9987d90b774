import { request as httpRequest } from 'node:http';
import { definePlugin } from 'gw/contract';
import { expect } from 'chai';
import Joi from 'joi';
import { readMetadata } from '../../host/http/metadata-header.ts';
import { GatewayError } from '../../host/contract/index.ts';
import {
  ask,
  chatReply,
  MASTER_KEY,
  replyJson,
  startHost,
  stubUpstream,
  type StubUpstream,
  type TestHost,
} from '../kit/index.ts';

function refusal(header: string): string {
  try {
    readMetadata(header);
  } catch (error) {
    expect(error).to.be.instanceOf(GatewayError);
    expect(error).to.include({ code: 'invalid_request', status: 400 });
    return (error as GatewayError).message;
  }
  throw new Error(`accepted: ${header.slice(0, 100)}`);
}

const entries = (count: number): string =>
  JSON.stringify(Object.fromEntries(Array.from({ length: count }, (_, at) => [`k${at}`, at])));
const ofBytes = (bytes: number): string => `{"k":"${'x'.repeat(bytes - 8)}"}`;

describe('X-Gateway-Metadata', () => {
  it('is nothing when absent or empty', () => {
    for (const header of [undefined, '', '  ', '{}', ' {} ']) expect(readMetadata(header)).to.deep.equal({});
  });

  it('keeps strings, numbers and booleans in the text they were written in', () => {
    const header =
      '{"text":"gold","empty":"","one":1,"same":1.0,"exponent":1e2,"negative":-0.50,"large":12345678901234567890,"huge":1e400,"yes":true,"no":false}';
    expect(readMetadata(header)).to.deep.equal({
      text: 'gold',
      empty: '',
      one: '1',
      same: '1.0',
      exponent: '1e2',
      negative: '-0.50',
      large: '12345678901234567890',
      huge: '1e400',
      yes: 'true',
      no: 'false',
    });
  });

  it('reads its bytes as UTF-8', () => {
    expect(readMetadata(Buffer.from('{"name":"Zoë","k€y":"v"}').toString('latin1'))).to.deep.equal({
      name: 'Zoë',
      'k€y': 'v',
    });
  });

  it('keeps the last of duplicate entries, and any name', () => {
    expect(readMetadata('{"a":1,"a":2}')).to.deep.equal({ a: '2' });
    expect(Object.entries(readMetadata('{"__proto__":"x","constructor":"y"}'))).to.deep.equal([
      ['__proto__', 'x'],
      ['constructor', 'y'],
    ]);
  });

  const wrong: [what: string, header: string][] = [
    ['a word', 'gold'],
    ['a half', '{"a":1'],
    ['a list', '["a"]'],
    ['null', 'null'],
    ['a string', '"a"'],
    ['a number', '5'],
    ['a boolean', 'true'],
    ['text after the object', '{"a":1} x'],
    ['a second object', '{"a":1}{}'],
    ['two headers joined', '{"a":1}, {"b":2}'],
    ['a null entry', '{"a":null}'],
    ['an object entry', '{"a":{}}'],
    ['a list entry', '{"a":[]}'],
    ['a deep entry', `{"a":${'['.repeat(1500)}${']'.repeat(1500)}}`],
    ['33 entries', entries(33)],
    ['4097 bytes', ofBytes(4097)],
    ['4097 bytes in fewer characters', Buffer.from(`{"k":"${'ä'.repeat(2044)}x"}`).toString('latin1')],
  ];
  for (const [what, header] of wrong)
    it(`is refused as ${what}`, () => {
      expect(refusal(header)).to.include('X-Gateway-Metadata');
    });

  it('may hold 32 entries and 4096 bytes', () => {
    expect(Object.keys(readMetadata(entries(32)))).to.have.length(32);
    expect(ofBytes(4096)).to.have.length(4096);
    expect(readMetadata(ofBytes(4096))['k']).to.have.length(4088);
  });
});

describe('X-Gateway-Metadata of a chat request', () => {
  async function watchingHost(): Promise<{ t: TestHost; stub: StubUpstream; seen: unknown[] }> {
    const seen: unknown[] = [];
    const probe = definePlugin({
      name: 'probe',
      type: 'guardrail',
      summary: 'Keeps what it sees',
      stages: ['before_request'],
      settings: Joi.object({}),
      create: () => ({
        before_request: ({ metadata }) => {
          seen.push(metadata);
        },
      }),
    });
    const stub = await stubUpstream((_request, response) => replyJson(response, 200, chatReply('hello')));
    const config = {
      strategy: { mode: 'fallback' },
      targets: [stub.target('a')],
      plugins: [{ name: 'probe', type: 'guardrail', stage: 'before_request', enabled: true }],
    };
    return { t: await startHost(config, { modules: [probe] }), stub, seen };
  }

  it('reaches plugins and never the provider', async () => {
    const { t, stub, seen } = await watchingHost();
    expect(
      (await t.post('/v1/chat/completions', ask(), { 'x-gateway-metadata': '{"tier":"gold","n":1.0}' })).status,
    ).to.equal(200);
    expect((await t.post('/v1/chat/completions', ask())).status).to.equal(200);
    expect(seen).to.deep.equal([{ tier: 'gold', n: '1.0' }, {}]);
    expect(JSON.stringify([stub.seen[0]?.headers, stub.seen[0]?.text])).not.to.match(/gold|x-gateway-metadata/i);
  });

  it('is refused with 400 after the body was found to be right', async () => {
    const { t, stub } = await watchingHost();
    const wrongHeader = { 'x-gateway-metadata': '[1]' };
    const answer = await t.post('/v1/chat/completions', ask(), wrongHeader);
    expect(answer.status).to.equal(400);
    expect(answer.json().error).to.include({ type: 'invalid_request_error', code: 'invalid_request' });
    expect(answer.json().error.message).to.include('X-Gateway-Metadata');
    expect(
      (await t.post('/v1/chat/completions', ask('hi', { frequency_penalty: 3 }), wrongHeader)).json().error.message,
    ).to.include('frequency_penalty');
    expect((await t.post('/v1/chat/completions', '{', wrongHeader)).json().error.message).to.include('JSON');
    expect(stub.seen).to.have.length(0);
  });

  it('is refused when it is sent twice', async () => {
    const { t } = await watchingHost();
    const headers = [
      'Host',
      'h',
      'Authorization',
      `Bearer ${MASTER_KEY}`,
      'X-Gateway-Metadata',
      '{"a":1}',
      'X-Gateway-Metadata',
      '{"b":2}',
    ];
    const status = await new Promise((resolve, reject) => {
      const call = httpRequest(
        t.url,
        { method: 'POST', path: '/v1/chat/completions', headers, agent: false },
        (response) => {
          resolve(response.resume().statusCode);
        },
      );
      call.on('error', reject).end(JSON.stringify(ask()));
    });
    expect(status).to.equal(400);
  });
});
