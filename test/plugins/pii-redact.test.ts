import { expect } from 'chai';
import { atOnce } from 'gw/contract';
import piiRedact from '../../plugins/pii-redact/index.ts';
import { piiDetector } from '../../plugins/pii-redact/detector.ts';
import { ENTITIES } from '../../plugins/pii-redact/entities.ts';
import {
  ask,
  chatReply,
  expectProportion,
  openSse,
  replyJson,
  seeded,
  sseEvent,
  startHost,
  stubUpstream,
} from '../kit/index.ts';
import { cut, delivered, entry, error, isTold, messageOfReply, PATH, scene, verdicts } from './guardrail-kit.ts';

const both = ['before_request', 'after_request'];
const MAIL = 'jane.doe@example.com';
const detector = piiDetector(ENTITIES);
const kinds = (text: string): string[] =>
  atOnce(detector.find(text)).map(({ start, end, kind }) => `${kind} ${text.slice(start, end)}`);

describe('pii-redact', () => {
  it('has five settings, and masks all entities by default', () => {
    expect(piiRedact.settings.validate({}).value).to.deep.equal({
      entities: [...ENTITIES],
      action: 'mask',
      restore: false,
      observe: false,
      stream: 'end',
    });
    expect(Object.keys(piiRedact.settings.describe()['keys'] as object)).to.deep.equal([
      'entities',
      'action',
      'restore',
      'observe',
      'stream',
    ]);
  });

  it('masks by kind, numbered per request, equal values alike', async () => {
    const run = await scene('pii-redact');
    await run.chat(`write to ${MAIL}, b@c.org and ${MAIL}, or call (415) 555-2671`);
    expect(run.sent()).to.deep.equal([
      { role: 'user', content: 'write to [EMAIL_1], [EMAIL_2] and [EMAIL_1], or call [PHONE_1]' },
    ]);
    await run.chat('b@c.org');
    expect(run.sent()[0].content).to.equal('[EMAIL_1]');
    expect(verdicts(run)).to.deep.equal([
      ['before_request', 'masked'],
      ['before_request', 'masked'],
    ]);
    expect(isTold(run, MAIL)).to.equal(false);
  });

  it('masks every position of a chat request', async () => {
    const run = await scene('pii-redact');
    const { status } = await run.host.post(PATH, {
      model: 'm',
      metadata: { owner: MAIL },
      user: MAIL,
      tool_choice: { type: 'function', function: { name: MAIL } },
      stop: [MAIL],
      response_format: { type: 'json_schema', json_schema: { name: 'x', schema: { description: MAIL } } },
      tools: [
        {
          type: 'function',
          function: {
            name: 'f',
            description: MAIL,
            parameters: { type: 'object', properties: { a: { enum: [MAIL] } } },
          },
        },
      ],
      messages: [
        { role: 'system', content: MAIL },
        {
          role: 'user',
          content: [
            { type: 'text', text: MAIL },
            { type: 'image_url', image_url: { url: `https://h/${MAIL}` } },
          ],
        },
        {
          role: 'assistant',
          content: null,
          reasoning_content: MAIL,
          tool_calls: [
            {
              id: 'c',
              type: 'function',
              function: {
                name: 'f',
                arguments: JSON.stringify({ to: MAIL, card: 4111111111111111, n: 12345678901234567890n.toString() }),
              },
            },
          ],
        },
        { role: 'tool', tool_call_id: 'c', content: '{"to":"jane.doe\\u0040example.com"}' },
      ],
    });
    expect(status).to.equal(200);
    const body = run.upstream.seen[0]!.json() as any;
    expect(JSON.stringify(body).split(MAIL)).to.have.length(2); // of the image's address alone
    expect(body.messages[2].tool_calls[0].function.arguments).to.equal(
      '{"to":"[EMAIL_1]","card":"[CARD_1]","n":"12345678901234567890"}',
    );
    expect(body.messages[3].content).to.equal('{"to":"[EMAIL_1]"}');
  });

  it('refuses with action reject', async () => {
    const run = await scene('pii-redact', { config: { action: 'reject' } });
    expect(error(await run.chat(MAIL))).to.deep.equal([
      400,
      'request_rejected',
      'request rejected by pii-redact (before_request): personal data found',
    ]);
    expect(run.upstream.seen).to.have.length(0);
    expect([verdicts(run), isTold(run, MAIL)]).to.deep.equal([[['before_request', 'rejected']], false]);
  });

  it('refuses what it cannot mask: other surfaces, and what is cut over two parts', async () => {
    const run = await scene('pii-redact');
    for (const [path, body] of [
      ['/v1/embeddings', { input: MAIL }],
      ['/v1/rerank', { query: 'q', documents: [MAIL] }],
      ['/v1/moderations', { input: MAIL }],
      ['/v1/images/generations', { prompt: MAIL }],
      ['/v1/audio/speech', { input: MAIL, voice: 'v' }],
    ] as const) {
      const answer = await run.host.post(path, { model: 'm', ...body });
      expect([path, answer.status, answer.json().error.code]).to.deep.equal([path, 400, 'request_rejected']);
    }
    const parts = await run.host.post(PATH, {
      model: 'm',
      messages: [
        {
          role: 'user',
          content: [
            { type: 'text', text: 'jane.doe@exam' },
            { type: 'text', text: 'ple.com' },
          ],
        },
      ],
    });
    expect(parts.status).to.equal(400);
    expect(run.upstream.seen).to.have.length(0);
    expect((await run.host.post('/v1/embeddings', { model: 'm', input: 'nothing' })).status).to.equal(200);
  });

  it('looks for the listed entities alone', async () => {
    const run = await scene('pii-redact', { config: { entities: ['phone', 'ip'] } });
    await run.chat(`${MAIL} 10.1.2.3 +1 415 555 2671 4111 1111 1111 1111`);
    expect(run.sent()[0].content).to.equal(`${MAIL} [IP_1] [PHONE_1] 4111 1111 1111 1111`);
  });

  it('serves and notes while it observes', async () => {
    const run = await scene('pii-redact', { config: { observe: true }, stages: both, says: { content: [MAIL] } });
    for (const stream of [false, true]) {
      const answer = await run.chat(MAIL, { stream });
      expect([answer.status, run.sent()[0].content, answer.text.includes(MAIL)]).to.deep.equal([200, MAIL, true]);
    }
    expect(verdicts(run)).to.deep.equal([
      ['before_request', 'observed'],
      ['after_request', 'observed'],
      ['before_request', 'observed'],
      ['after_request', 'observed'],
    ]);
    expect(run.host.lines.find(({ msg }) => msg === 'guardrail observed')).to.include({
      plugin: 'pii-redact',
      stage: 'before_request',
      observe: true,
      reason: 'personal data masked',
    });
  });
});

describe('pii-redact, answers', () => {
  it('are masked without restore, numbered on from the request', async () => {
    const run = await scene('pii-redact', {
      stages: both,
      says: { content: [`${MAIL} and x@y.org`], arguments: [JSON.stringify({ m: 'x@y.org' })] },
    });
    const message = messageOfReply(await run.chat(MAIL));
    expect([message.content, message.tool_calls[0].function.arguments]).to.deep.equal([
      '[EMAIL_1] and [EMAIL_2]',
      '{"m":"[EMAIL_2]"}',
    ]);
    expect(verdicts(run)).to.deep.equal([
      ['before_request', 'masked'],
      ['after_request', 'masked'],
    ]);
  });

  it('are masked with the probabilities of their tokens, which repeat them', async () => {
    const choice = (content: string, index: number): object => ({
      index,
      message: { role: 'assistant', content },
      logprobs: { content: Array.from(content).map((token) => ({ token, logprob: -1 })) },
      finish_reason: 'stop',
    });
    const upstream = await stubUpstream((_seen, response) =>
      replyJson(response, 200, chatReply('', { choices: [choice(`to ${MAIL}`, 0), choice('to no one', 1)] })),
    );
    const host = await startHost({ targets: [upstream.target('a')], plugins: [entry('pii-redact', 'after_request')] });
    const { choices } = (await host.post(PATH, ask('hi', { logprobs: true }))).json();
    expect(choices[0]).to.deep.include({ message: { role: 'assistant', content: 'to [EMAIL_1]' }, logprobs: null });
    expect(choices[1].logprobs.content).to.have.length('to no one'.length);
  });

  it('are masked beside the message and in the names of called tools, in streams as well', async () => {
    const calls = [{ index: 0, id: 'c', type: 'function', function: { name: `mail_${MAIL}`, arguments: '{}' } }];
    const upstream = await stubUpstream((seen, response) => {
      if (!seen.json()['stream']) {
        replyJson(response, 200, {
          ...chatReply('x', {
            choices: [
              { index: 0, message: { role: 'assistant', content: 'x', tool_calls: calls }, finish_reason: 'stop' },
            ],
          }),
          citations: [MAIL],
        });
        return;
      }
      openSse(response);
      response.end(
        [
          {
            id: 'x',
            choices: [{ index: 0, delta: { role: 'assistant', content: 'x', tool_calls: calls }, finish_reason: null }],
            citations: [MAIL],
          },
          { id: 'x', choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] },
          '[DONE]',
        ]
          .map(sseEvent)
          .join(''),
      );
    });
    const host = await startHost({ targets: [upstream.target('a')], plugins: [entry('pii-redact', 'after_request')] });
    const whole = (await host.post(PATH, ask('hi'))).json();
    expect([whole.citations, whole.choices[0].message.tool_calls[0].function.name]).to.deep.equal([
      ['[EMAIL_2]'],
      '[EMAIL_1]',
    ]);
    const stream = await host.post(PATH, ask('hi', { stream: true }));
    expect([
      stream.text.includes(MAIL),
      stream.text.includes('"name":"[EMAIL_1]"'),
      stream.events().at(-1),
    ]).to.deep.equal([false, true, '[DONE]']);
  });

  it('get the values back with restore, and unknown placeholders stay', async () => {
    const says = (request: any) => ({
      content: [`you wrote ${request.messages[0].content}, not [EMAIL_7] or [ODD_1]`],
      arguments: ['{"to":"[EMA', 'IL_1]"}'],
    });
    const run = await scene('pii-redact', { config: { restore: true }, stages: both, says });
    const message = messageOfReply(await run.chat(`${MAIL} 4111 1111 1111 1111`));
    expect(run.sent()[0].content).to.equal('[EMAIL_1] [CARD_1]');
    expect([message.content, message.tool_calls[0].function.arguments]).to.deep.equal([
      `you wrote ${MAIL} 4111 1111 1111 1111, not [EMAIL_7] or [ODD_1]`,
      `{"to":"${MAIL}"}`,
    ]);
    const stream = delivered(await run.chat(MAIL, { stream: true }));
    expect([stream.content, stream.arguments, stream.last]).to.deep.equal([
      `you wrote ${MAIL}, not [EMAIL_7] or [ODD_1]`,
      `{"to":"${MAIL}"}`,
      '[DONE]',
    ]);
  });

  it('with restored values stay out of caches', async () => {
    const says = (request: any) => ({ content: [`you wrote ${request.messages[0].content}`] });
    const cache = both.map((stage) => entry('response-cache', stage));
    const run = await scene('pii-redact', { config: { restore: true }, stages: both, says, more: cache });
    for (const stream of [false, true]) {
      for (const mail of ['a@x.org', 'b@x.org']) {
        const answer = await run.chat(mail, { stream });
        expect(stream ? delivered(answer).content : messageOfReply(answer).content).to.equal(`you wrote ${mail}`);
      }
    }
  });

  for (const size of [1, 2, 3, 7, 50]) {
    it(`are masked in streams of pieces of ${size}, escapes of JSON included`, async () => {
      const text = `hi ${MAIL}, call +49 30 1234567 or 555-123-4567 now; [ok] 1.2.3.4`;
      const args = '{"to":"jane.doe\\u0040example.com","card":4111111111111111,"x":"a\\\\"}';
      const run = await scene('pii-redact', {
        stages: both,
        says: { content: cut(text, size), reasoning_content: cut(MAIL, size), arguments: cut(args, size) },
      });
      const got = delivered(await run.chat('hi', { stream: true }));
      expect(got.content.replace(/_\d/g, '')).to.equal('hi [EMAIL], call [PHONE] or [PHONE] now; [ok] [IP]');
      expect(JSON.parse(got.arguments)).to.deep.equal({ to: '[EMAIL_1]', card: '[CARD_1]', x: 'a\\' });
      expect([got.reasoning, got.last]).to.deep.equal(['[EMAIL_1]', '[DONE]']);
      expect(verdicts(run)).to.deep.equal([['after_request', 'masked']]);
    });
  }

  it('reject: whole answers 502, streams by their mode', async () => {
    const config = { action: 'reject' };
    const says = { content: cut(`fine until ${MAIL} comes`, 3) };
    const whole = await scene('pii-redact', { config, stages: ['after_request'], says });
    expect(error(await whole.chat('x'))).to.deep.equal([
      502,
      'response_rejected',
      'response rejected by pii-redact (after_request): personal data found',
    ]);
    const end = delivered(await whole.chat('x', { stream: true }));
    expect([end.content.includes(MAIL), end.last.error.code]).to.deep.equal([true, 'stream_error']);
    const window = delivered(
      await (
        await scene('pii-redact', { config: { ...config, stream: 'window' }, stages: ['after_request'], says })
      ).chat('x', { stream: true }),
    );
    expect(['fine until ', 'fine until'].includes(window.content), window.content).to.equal(true);
    expect(window.last.error.message).to.equal('response rejected by pii-redact (after_request): personal data found');
    const run = await scene('pii-redact', { config: { ...config, stream: 'record' }, stages: ['after_request'], says });
    const record = delivered(await run.chat('x', { stream: true }));
    expect([record.content.includes(MAIL), record.last, verdicts(run)]).to.deep.equal([
      true,
      '[DONE]',
      [['after_request', 'recorded']],
    ]);
  });

  it('that are clean arrive whole, and while they are written', async () => {
    const text = "Rome is old, isn't it? 12 hills (or 7) stand there. ".repeat(20);
    for (const config of [{}, { action: 'reject', stream: 'window' }]) {
      const run = await scene('pii-redact', { config, stages: ['after_request'], says: { content: cut(text, 9) } });
      const answer = await run.chat('x', { stream: true });
      expect([delivered(answer).content, delivered(answer).last]).to.deep.equal([text, '[DONE]']);
      expect(answer.events().filter((event) => event.choices?.[0]?.delta.content).length).to.be.greaterThan(20);
    }
  });
});

describe('pii-redact, forms', () => {
  for (const text of [
    'EMAIL a.b+c@sub.example.co.uk',
    "EMAIL o'neil@example.org",
    'EMAIL jürgen@bücher.de',
    'PHONE +1 415 555 2671',
    'PHONE +14155552671',
    'PHONE (415) 555-2671',
    'PHONE 415.555.2671',
    'PHONE 1-800-555-0199',
    'PHONE 555-123-4567',
    'PHONE 123-456-7890',
    'PHONE (123) 456-7890',
    'PHONE 0049 30 1234567',
    'PHONE 0044-20-7946-0958',
    'PHONE 00 33 6 12 34 56 78',
    'PHONE 004915112345678',
    'PHONE 0012025550123',
    'PHONE 001 202 555 0123',
    'PHONE 011 44 20 7946 0958',
    'PHONE 00420 601.123.456',
    'PHONE +49 171 / 1234567',
    'PHONE 06.12.34.56.78',
    'PHONE (11) 96123-4567',
    'PHONE 8 (912) 345-67-89',
    'PHONE 8-800-555-35-35',
    'PHONE +33\u00a06\u00a012\u00a034\u00a056\u00a078',
    'PHONE +1\u2011415\u2011555\u20112671',
    'IBAN DE89-3704-0044-0532-0130-00',
    'IBAN NL91.ABNA.0417.1643.00',
    'IBAN GB29\u202fNWBK\u202f6016\u202f1331\u202f9268\u202f19',
    'IBAN BR97/0036/0305/0000/1000/9795/493P/1',
    'CARD 4012.8888.8888.1881',
    'CARD 4012\u00a08888\u00a08888\u00a01881',
    'NATIONAL_ID 123\u201145\u20116789',
    'PHONE +44 20 7946 0958',
    'PHONE 020 7946 0958',
    'PHONE 07700 900123',
    'PHONE 06 12 34 56 78',
    'PHONE +49 (0)30 123456',
    'CARD 4111 1111 1111 1111',
    'CARD 5500-0055-5555-5559',
    'CARD 378282246310005',
    'CARD 6011111111111117',
    'IBAN DE89 3704 0044 0532 0130 00',
    'IBAN GB82WEST12345698765432',
    'IBAN fr1420041010050500013m02606',
    'IP 192.168.0.1',
    'IP 2001:db8::8a2e:370:7334',
    'IP ::1',
    'IP ::ffff:10.0.0.1',
    'IP fe80::1',
    'CARD 3782.822463.10005',
    'CARD 4111\n1111\n1111\n1111',
    'CARD 4111\t1111\t1111\t1111',
    'IP 10.0.0.1-10.0.0.17',
    'CARD ４１１１ １１１１ １１１１ １１１１',
    'CARD 4111\u00ad1111\u200b1111\u20601111',
    'CARD ٤١١١١١١١١١١١١١١١',
    'CARD \u{1d7d2}\u{1d7cf}11 1111 1111 111\u{1d7cf}',
    'EMAIL jane＠example．com',
    'EMAIL jane.doe@exam\u200bple.com',
    'EMAIL ｊａｎｅ@ｅｘａｍｐｌｅ。com',
    'IP 1\ufe0f92.168.0.1',
    'IP f\u200be80::1',
    'IBAN D\u200dE89370400440532013000',
    'PHONE +\u200e1 415 555 2671',
    'NATIONAL_ID 123\u200b-45-6789',
    'NATIONAL_ID 123 45 6789',
    'NATIONAL_ID 123.45.6789',
    'NATIONAL_ID 123\u300045\u30006789',
    'NATIONAL_ID 123-45-6789',
    'NATIONAL_ID 987-65-4321',
    'NATIONAL_ID 000-12-3456',
    'NATIONAL_ID AB 12 34 56 C',
    'NATIONAL_ID 12345678Z',
    'NATIONAL_ID X1234567L',
    'NATIONAL_ID RSSMRA85T10A562S',
    'NATIONAL_ID 529.982.247-25',
  ]) {
    const [kind = '', ...rest] = text.split(' ');
    const value = rest.join(' ');
    it(`of ${text}`, () => {
      for (const [before, after] of [
        ['', ''],
        ['it is ', '.'],
        ['(', ')'],
        ['"', '",'],
        ['mine: ', '; no'],
        ['<', '>'],
        ['- ', '-'],
        ['\u200b', '\u200b'],
        ['_', '_'],
        ['**', '**'],
      ])
        expect(kinds(`${before}${value}${after}`), `${before}${value}${after}`).to.deep.equal([`${kind} ${value}`]);
    });
  }

  it('one after another, and with more numbers behind them', () => {
    const cards = [
      '4111 1111 1111 1111',
      '4111111111111111',
      '5500-0055-5555-5559',
      '3782 822463 10005',
      '4012.8888.8888.1881',
    ];
    for (const card of cards) {
      for (const behind of ['12/27', '12/2027 123', '1227', '123', '2 items', '10:30']) {
        for (const blank of [' ', '\n', '\t', '\u00a0'])
          expect(kinds(`card ${card}${blank}${behind}`), `${card}${blank}${behind}`).to.deep.equal([`CARD ${card}`]);
      }
    }
    for (const between of [' ', '\n', ', ', ' / '])
      expect(kinds(cards.join(between)), between).to.deep.equal(cards.map((card) => `CARD ${card}`));
    for (const between of [' ', '\n'])
      expect(kinds(['212-555-0123', '(415) 555-2671', '415.555.2671', '212-555-0199'].join(between))).to.have.length(4);
  });

  it('behind the word that says so', () => {
    expect(kinds('phone: 4155552671, fax 0301234567')).to.deep.equal(['PHONE 4155552671', 'PHONE 0301234567']);
  });

  for (const text of [
    '4111 1111 1111 1112',
    '1234567890123456',
    'DE88 3704 0044 0532 0130 00',
    'version 1.2.3.4',
    'v10.0.19041.1',
    '1.2.3',
    '256.1.1.1',
    'at 12:30:45',
    'std::vector<int>',
    'a::b',
    '00:1a:2b:3c:4d:5e',
    '2024-01-02T03:04:05Z',
    '01.02.2023 12:30',
    'number 0010002345',
    '0000123456789',
    'hex 00 12 34 56',
    '00:12:34.567',
    'Nature 45 (12) 1345-1367',
    '4.123456789012347',
    '4012.8888.8888.1882',
    'DE88-3704-0044-0532-0130-00',
    '01.02.2023',
    '2019\u20132024',
    '0.12.345.6789',
    '987 65 4321',
    '123 45-6789',
    '1 123 45 6789',
    '123 45 6789 0',
    '\u200b１２３\u00ad',
    '4111 1111 1111 1112 12/27',
    '1234567890123456 7890',
    '2024 1111 1111 1111 1111 2',
    '1,234,567,890',
    '3.14159265358979',
    'order 1234567890',
    'user@localhost',
    '@mention and a@',
    'C:\\temp',
    '10:00-11:30',
    'isbn 978-3-16-148410-0',
    '123e4567-e89b-12d3-a456-426614174000',
    '50% of 1000-2000 items',
    'ratio 16:9',
    'from 2019-2024',
  ])
    it(`of nothing: ${text}`, () => {
      expect(kinds(text)).to.deep.equal([]);
    });

  it('take time in proportion to the text, whatever it is', async () => {
    for (const unit of [
      '1',
      '1 ',
      '+1-',
      'a@',
      'a@b.c',
      '1.',
      ':',
      'f:',
      'AB12 ',
      'a',
      '(0) ',
      '::1 ',
      '0 1-',
      '001 ',
      '+1 / ',
      'AB12-',
      '\u00a01',
      'phone 1',
      '@',
      '\u200b1',
      '１',
      '１\u00ad',
      '\u{1d7cf}',
      '٤ ',
      '。',
      'a＠',
    ]) {
      await expectProportion(20_000, (size) => {
        const text = unit.repeat(Math.ceil(size / unit.length));
        return () => atOnce(detector.find(text)).length + detector.open(text);
      });
    }
  });

  it('are found in a stream as they are in the whole, wherever it is cut', async () => {
    const random = seeded(7);
    const pieces = [
      MAIL,
      '+1 415 555 2671',
      '123-45-6789',
      'DE89 3704 0044 0532 0130 00',
      'NL91-ABNA-0417-1643-00',
      '0049 30 1234567',
      '06.12.34.56.78',
      '+33\u00a06\u00a012\u00a034\u00a056\u00a078',
      ' ',
      ' and ',
      '12',
      '.',
      '_',
      '4111\n1111\n1111\n1111',
      '10.0.0.1-10.0.0.17',
      '４１１１ １１１１ １１１１ １１１１',
      '4111 1111 1111 1111',
      '4111111111111111',
      '212-555-0123',
      'ja\u200bne＠example．com',
      '\u{1d7d2}\u{1d7cf}11111111111111',
      '\u200b',
      '👨‍👩‍👧',
      '123 45 6789',
      '(',
      'x',
      '10.0.0.1',
      ', ',
      '4111 1111 1111 1111',
      '\n',
      '😀',
    ];
    const { spanFilter } = await import('../../plugins/_common/masking.ts');
    for (let round = 0; round < 400; round += 1) {
      const text = Array.from({ length: 6 }, () => pieces[Math.floor(random() * pieces.length)]).join('');
      const filter = spanFilter(detector, (kind) => `[${kind}]`);
      const want = spanFilter(detector, (kind) => `[${kind}]`)(text, true);
      let got = '';
      for (let at = 0; at < text.length;) {
        const end = at + 1 + Math.floor(random() * 5);
        got += filter(text.slice(at, end), false);
        at = end;
      }
      expect(got + filter('', true), JSON.stringify(text)).to.equal(want);
    }
  });
});
