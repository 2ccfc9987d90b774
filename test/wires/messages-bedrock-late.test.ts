import { expect } from 'chai';
import { replyJson, startHost, type StubUpstream, stubUpstream, type TestHost } from '../kit/index.ts';
import { BEARER } from '../providers/bedrock-support.ts';
import { ENVIRONMENT, MARK } from './agent-bodies.ts';
import { hello, PATH, vendorMessage } from './messages-kit.ts';

const OLDER = 'us.anthropic.claude-sonnet-4-6';
const NEWER = 'us.anthropic.claude-opus-4-8';
const NAMELESS = 'anthropic.claude-sonnet-latest';

async function open(config: object = {}): Promise<{ host: TestHost; upstream: StubUpstream }> {
  const upstream = await stubUpstream((_request, response) =>
    replyJson(response, 200, vendorMessage([{ type: 'text', text: 'hello' }, { type: 'hologram' }])),
  );
  const host = await startHost(
    { targets: [{ virtual_key: 'bedrock', models: [OLDER, NEWER, NAMELESS] }], ...config },
    { variables: { AWS_ENDPOINT_URL_BEDROCK_RUNTIME: upstream.url, ...BEARER } },
  );
  return { host, upstream };
}

const user = (content: unknown): object => ({ role: 'user', content });
const system = (content: unknown): object => ({ role: 'system', content });
const text = (words: string, more: object = {}): object => ({ type: 'text', text: words, ...more });
const call = { role: 'assistant', content: [{ type: 'tool_use', id: 't', name: 'Bash', input: {} }] };
const result = { type: 'tool_result', tool_use_id: 't', content: 'listing' };

/** What the service gets, and what the client learns of it. */
async function sent(body: object, config: object = {}): Promise<{ body: any; raw: string; lost: string | null }> {
  const { host, upstream } = await open(config);
  const answer = await host.post(PATH, { ...hello, ...body });
  expect(answer.status, answer.text).to.equal(200);
  expect(answer.json().content[1], 'its own wire').to.deep.equal({ type: 'hologram' });
  const [seen] = upstream.seen;
  return { body: seen?.json(), raw: seen?.text ?? '', lost: answer.headers.get('x-gateway-ignored-params') };
}

describe('late system messages to Claude on Bedrock, in its own wire', () => {
  const signed = { type: 'thinking', thinking: 'hm', signature: 'c2ln' };
  const messages = [
    user('go'),
    system(ENVIRONMENT),
    { role: 'assistant', content: [signed, { type: 'hologram', at: 1 }, ...call.content] },
    user([result, { type: 'hologram', at: 2 }]),
    system([text('note', MARK)]),
  ];

  for (const model of [NEWER, NAMELESS])
    it(`stay as they are for ${model}`, async () => {
      const { body, lost } = await sent({ model, messages });
      expect(body.messages).to.deep.equal(messages);
      expect(lost).to.equal(null);
    });

  it('end the turn of the user in front of them for models that refuse the role, and nothing else changes', async () => {
    const { body, lost } = await sent({ model: OLDER, messages });
    expect(body.messages).to.deep.equal([
      user([text('go'), text(`<system>\n${ENVIRONMENT}\n</system>`)]),
      messages[2],
      user([result, { type: 'hologram', at: 2 }, text('<system>\nnote\n</system>', MARK)]),
    ]);
    expect(lost).to.equal('messages[1].role');
  });

  it('leave every other byte as it came', async () => {
    const odd =
      '{ "role":"user", "content":[ {"type":"hologram", "n":12345678901234567890} ,{"type":"text","text":"\\u0067o"} ] }';
    const late = '{"role":"system","content":[{"type":"text","text":"note"}]}';
    const assistant = '{"role":"assistant", "content":"\\u0079es"}';
    const { host, upstream } = await open();
    for (const [model, messagesText] of [
      [NEWER, `[${odd}, ${late} ,${assistant},${odd}]`],
      [OLDER, `[${odd}, ${late} ,${assistant},${odd}]`],
    ] as const) {
      const answer = await host.post(PATH, `{"model":"${model}","max_tokens":64,"messages":${messagesText}}`);
      expect(answer.status, answer.text).to.equal(200);
    }
    const [newer, older] = upstream.seen.map((seen) => seen.text);
    expect(newer).to.include(`"messages":[${odd}, ${late} ,${assistant},${odd}]`);
    const joined = odd
      .replace('"content":[ ', '"content":[')
      .replace(' ,{', ',{')
      .replace(' ] }', ',{"type":"text","text":"<system>\\nnote\\n</system>"}] }');
    expect(older).to.include(`"messages":[${joined},${assistant},${odd}]`);
  });

  it('wait for the results of the calls in front of them', async () => {
    const { body, lost } = await sent({
      model: OLDER,
      messages: [user('go'), call, system('waiting'), user([result, text('on')]), system('more')],
    });
    expect(body.messages).to.deep.equal([
      user('go'),
      call,
      user([result, text('on'), text('<system>\nwaiting\n</system>'), text('<system>\nmore\n</system>')]),
    ]);
    expect(lost).to.equal('messages[2].role');
  });

  for (const [where, turns, expected] of [
    ['in front of the user', [user('b')], [user([text('<system>\nnote\n</system>'), text('b')])]],
    ['last', [], [user([text('<system>\nnote\n</system>')])]],
    [
      'in front of the assistant',
      [{ role: 'assistant', content: 'c' }],
      [user([text('<system>\nnote\n</system>')]), { role: 'assistant', content: 'c' }],
    ],
  ] as const)
    it(`stand in a turn of the user behind the assistant, ${where}`, async () => {
      const begin = [user('a'), { role: 'assistant', content: 'yes' }];
      const { body } = await sent({ model: OLDER, messages: [...begin, system('note'), ...turns] });
      expect(body.messages).to.deep.equal([...begin, ...expected]);
    });

  it('of several blocks are in one pair of tags; without any they are left out', async () => {
    const directing = { role: 'system', content: [], output_config: { effort: 'low' } };
    const { body, lost } = await sent({
      model: OLDER,
      messages: [user('go'), directing, system([text('a'), text('b')]), system('')],
    });
    expect(body.messages).to.deep.equal([user([text('go'), text('<system>\na'), text('b\n</system>')])]);
    expect(lost).to.equal('messages[1].output_config, messages[2].role');
  });

  it('are refused where nothing may be lost', async () => {
    const { host, upstream } = await open({ compatibility: { on_unsupported_param: 'reject' } });
    const answer = await host.post(PATH, { ...hello, model: OLDER, messages });
    expect([answer.status, upstream.seen.length]).to.deep.equal([400, 0]);
    expect(answer.json().error.message).to.include('messages[1].role');
    expect((await host.post(PATH, { ...hello, model: NEWER, messages })).status).to.equal(200);
  });

  it('in front of the first turn go through the common format', async () => {
    const { host, upstream } = await open();
    const answer = await host.post(PATH, {
      ...hello,
      model: NEWER,
      system: 'a',
      messages: [system('b'), user('go'), system('c')],
    });
    expect(answer.status, answer.text).to.equal(200);
    expect(answer.json().id).to.match(/^msg_[0-9a-f]{32}$/);
    expect(upstream.seen[0]?.json()).to.deep.include({
      system: 'a\nb',
      messages: [user('go'), system([text('c')])],
    });
  });
});

describe('the line about billing to Claude on Bedrock', () => {
  const line = 'x-anthropic-billing-header: cc_version=2.1.150; cch=0a1b2;';
  for (const [what, system_, kept] of [
    ['a first line', `${line}\nrules`, 'rules'],
    ['a block with its mark', [text(line, MARK), text('rules', MARK)], [text('rules', MARK)]],
    ['all there is', line, undefined],
    ['the only block', [text(line)], undefined],
    ['nowhere', [text('rules')], [text('rules')]],
  ] as const)
    it(`is cut where it is ${what}, without a word`, async () => {
      const { body, raw, lost } = await sent({ model: OLDER, system: system_ });
      expect(body.system).to.deep.equal(kept);
      expect(raw).to.not.include('cch=');
      expect(lost).to.equal(null);
    });
});
