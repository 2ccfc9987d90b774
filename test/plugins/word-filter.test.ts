import { expect } from 'chai';
import { commonTranslators } from 'gw/common-wire';
import wordFilter from '../../plugins/word-filter.ts';
import {
  type Answer,
  ask,
  chatReply,
  replyJson,
  replyStream,
  startHost,
  stubUpstream,
  type TestHost,
} from '../kit/index.ts';
import { WITH_EMBEDDINGS } from './kit.ts';

const PATH = '/v1/chat/completions';

interface Setup {
  readonly words?: readonly string[];
  readonly stages?: readonly string[];
  readonly settings?: object;
  /** What the upstream says, in pieces. */
  readonly says?: readonly string[];
  readonly message?: object;
}

async function hostOf({
  words = ['Forbidden'],
  stages = ['before_request'],
  settings = {},
  says = ['hello'],
  message,
}: Setup): Promise<TestHost> {
  const upstream = await stubUpstream((request, response) => {
    if (request.json()['stream'] === true) replyStream(response, says);
    else
      replyJson(
        response,
        200,
        chatReply(says.join(''), message ? { choices: [{ index: 0, message, finish_reason: 'stop' }] } : {}),
      );
  });
  return startHost({
    targets: [upstream.target('a')],
    plugins: stages.map((stage) => ({
      name: 'word-filter',
      stage,
      enabled: true,
      config: { blocked_words: words, ...settings },
    })),
  });
}

const post = async (setup: Setup, request: object): Promise<Answer> =>
  (await hostOf(setup)).post(PATH, { model: 'm', messages: [{ role: 'user', content: 'hi' }], ...request });
const isBlocked = async (setup: Setup, message: object): Promise<boolean> =>
  (await post(setup, { messages: [{ role: 'user', content: '' }, message] })).status === 400;

describe('word-filter', () => {
  it('is a guardrail before and after, with its four settings', () => {
    expect(wordFilter).to.include({ name: 'word-filter', type: 'guardrail' });
    expect(wordFilter.stages).to.deep.equal(['before_request', 'after_request']);
    expect(wordFilter.settings.validate({}).value).to.deep.equal({
      blocked_words: [],
      case_sensitive: false,
      observe: false,
      stream: 'end',
    });
    expect(Object.keys(wordFilter.settings.describe()['keys'] as object)).to.deep.equal([
      'blocked_words',
      'case_sensitive',
      'observe',
      'stream',
    ]);
  });

  it('reads no content without words, or while it observes', () => {
    const base = { blocked_words: ['x'], case_sensitive: false, observe: false, stream: 'end' } as const;
    expect(wordFilter.readsContent?.({ ...base, blocked_words: ['x'] })).to.equal(true);
    expect(wordFilter.readsContent?.({ ...base, blocked_words: [] })).to.equal(false);
    expect(wordFilter.readsContent?.({ ...base, blocked_words: ['x'], observe: true })).to.equal(false);
  });
});

describe('word-filter before the request', () => {
  it('refuses with a reason that does not name the word; the log does', async () => {
    const host = await hostOf({});
    const answer = await host.post(PATH, ask('this is forbidden fruit'));
    expect(answer.status).to.equal(400);
    expect(answer.json().error).to.deep.equal({
      type: 'invalid_request_error',
      code: 'request_rejected',
      message: 'request rejected by word-filter (before_request): request blocked by content policy',
    });
    expect(host.lines.find(({ msg }) => msg === 'word-filter: blocked request')).to.include({
      level: 'INFO',
      matched_word: 'Forbidden',
      trace_id: answer.headers.get('x-request-id'),
    });
    expect(host.samples.find(({ name }) => name === 'gateway_guardrail_verdicts_total')?.labels).to.deep.equal({
      plugin: 'word-filter',
      stage: 'before_request',
      action: 'rejected',
    });
  });

  for (const [what, message] of [
    ['a word inside another', { role: 'user', content: 'unforbiddenly' }],
    ['any case', { role: 'user', content: 'fOrBiDdEn' }],
    ['a system message', { role: 'system', content: 'forbidden' }],
    ['an assistant message', { role: 'assistant', content: 'forbidden' }],
    ['a tool message', { role: 'tool', content: 'forbidden', tool_call_id: 'c' }],
    [
      'a text part',
      {
        role: 'user',
        content: [
          { type: 'text', text: 'ok' },
          { type: 'text', text: 'forbidden' },
        ],
      },
    ],
    [
      'two text parts together',
      {
        role: 'user',
        content: [
          { type: 'text', text: 'forb' },
          { type: 'text', text: 'idden' },
        ],
      },
    ],
  ] as const) {
    it(`blocks ${what}`, async () => {
      expect(await isBlocked({}, message)).to.equal(true);
    });
  }

  for (const [what, message] of [
    [
      'image addresses',
      { role: 'user', content: [{ type: 'image_url', image_url: { url: 'https://h/forbidden.png' } }] },
    ],
    [
      'tool-call arguments',
      {
        role: 'assistant',
        content: null,
        tool_calls: [{ id: 'c', type: 'function', function: { name: 'forbidden', arguments: '"forbidden"' } }],
      },
    ],
    ['reasoning', { role: 'assistant', content: 'x', reasoning_content: 'forbidden' }],
    ['names', { role: 'user', content: 'x', name: 'forbidden' }],
  ] as const) {
    it(`does not screen ${what}`, async () => {
      expect(await isBlocked({}, message)).to.equal(false);
    });
  }

  it('does not screen tool definitions', async () => {
    expect((await post({}, { tools: [{ type: 'function', function: { name: 'forbidden' } }] })).status).to.equal(200);
  });

  it('minds the case where its settings say so', async () => {
    const setup = { settings: { case_sensitive: true } };
    expect(await isBlocked(setup, { role: 'user', content: 'forbidden' })).to.equal(false);
    expect(await isBlocked(setup, { role: 'user', content: 'unForbidden' })).to.equal(true);
  });

  it('blocks nothing without words', async () => {
    expect(await isBlocked({ words: [] }, { role: 'user', content: 'forbidden' })).to.equal(false);
  });

  it('takes words literally', async () => {
    expect(await isBlocked({ words: ['a.b', '(x'] }, { role: 'user', content: 'aXb (y' })).to.equal(false);
    expect(await isBlocked({ words: ['a.b', '(x'] }, { role: 'user', content: 'say a.b' })).to.equal(true);
  });
});

describe('word-filter after the request', () => {
  const after = { stages: ['after_request'] };

  it('withholds an answer that holds a word', async () => {
    const answer = await post({ ...after, says: ['some FORBIDDEN text'] }, {});
    expect(answer.status).to.equal(502);
    expect(answer.json().error).to.include({
      code: 'response_rejected',
      message: 'response rejected by word-filter (after_request): response blocked by content policy',
    });
    expect(answer.text).to.not.include('some');
  });

  it('screens content alone', async () => {
    expect(
      (await post({ ...after, message: { role: 'assistant', content: 'fine', reasoning_content: 'forbidden' } }, {}))
        .status,
    ).to.equal(200);
  });

  it('end: ends a stream with the error event after its text', async () => {
    const answer = await post({ ...after, says: ['for', 'bidden'] }, { stream: true });
    expect(answer.text).to.include('bidden');
    expect(answer.events().at(-1).error).to.deep.equal({
      message: 'response rejected by word-filter (after_request): response blocked by content policy',
      type: 'stream_error',
      code: 'stream_error',
    });
  });

  it('window: delivers no byte of a word, in any case, wherever the pieces are cut', async () => {
    const text = 'fine so far, then FORBIDDEN things';
    for (const size of [1, 2, 3, 5, 40]) {
      const says = Array.from({ length: Math.ceil(text.length / size) }, (_, index) =>
        text.slice(index * size, (index + 1) * size),
      );
      const answer = await post({ ...after, says, settings: { stream: 'window' } }, { stream: true });
      const delivered = answer
        .events()
        .map((event) => event.choices?.[0]?.delta.content ?? '')
        .join('');
      expect('fine so far, then '.startsWith(delivered), `pieces of ${size}`).to.equal(true);
      expect(answer.events().at(-1).error.code).to.equal('stream_error');
    }
  });

  it('window: says in the log that it was the answer that held the word', async () => {
    const host = await hostOf({
      stages: ['before_request', 'after_request'],
      says: ['so forbidden'],
      settings: { stream: 'window' },
    });
    await host.post(PATH, ask('hi', { stream: true }));
    expect(
      host.lines.filter(({ msg }) => msg === 'word-filter: blocked request').map(({ stage }) => stage),
    ).to.deep.equal(['after_request']);
  });

  it('window: delivers a clean text whole, also where letters grow when they are folded', async () => {
    for (const says of [
      ['almost for', 'bid', ' it'],
      ['\u0130stanbul ', '\u0130\u0130\u0130', ' forbi', 'd'],
    ]) {
      const answer = await post(
        { ...after, says, words: ['Forbidden', 'i\u0307x'], settings: { stream: 'window' } },
        { stream: true },
      );
      expect(
        answer
          .events()
          .map((event) => event.choices?.[0]?.delta.content ?? '')
          .join(''),
      ).to.equal(says.join(''));
      expect(answer.events().at(-1)).to.equal('[DONE]');
    }
  });

  it('record: delivers everything', async () => {
    const answer = await post({ ...after, says: ['forbidden'], settings: { stream: 'record' } }, { stream: true });
    expect(answer.text).to.include('forbidden');
    expect(answer.events().at(-1)).to.equal('[DONE]');
  });

  it('observe: delivers everything, whatever the stream mode, and counts one verdict', async () => {
    for (const stream of ['end', 'window', 'record']) {
      const host = await hostOf({ ...after, says: ['for', 'bidden'], settings: { observe: true, stream } });
      const answer = await host.post(PATH, ask('hi', { stream: true }));
      expect(
        answer
          .events()
          .map((event) => event.choices?.[0]?.delta.content ?? '')
          .join(''),
      ).to.equal('forbidden');
      expect(
        host.samples
          .filter(({ name }) => name === 'gateway_guardrail_verdicts_total')
          .map(({ labels }) => labels['action']),
      ).to.deep.equal(['observed']);
    }
  });
});

describe('word-filter, bodies it cannot read', () => {
  const tokens = { model: 'm', input: [1, 2, 3] };
  const embeddings = {
    object: 'list',
    data: [{ object: 'embedding', index: 0, embedding: [1] }],
    model: 'm',
    usage: { prompt_tokens: 3, total_tokens: 3 },
  };

  async function ends(config: object): Promise<{ answer: Answer; host: TestHost }> {
    const upstream = await stubUpstream((_request, response) => replyJson(response, 200, embeddings));
    const host = await startHost({
      targets: [upstream.target('a', {}, WITH_EMBEDDINGS)],
      plugins: [{ name: 'word-filter', stage: 'before_request', enabled: true, config }],
    });
    return { host, answer: await host.post('/v1/embeddings', tokens) };
  }

  it('are refused with its own message, while it looks for any words', async () => {
    const { answer } = await ends({ blocked_words: ['x'] });
    expect([answer.status, answer.json().error.code]).to.deep.equal([400, 'request_rejected']);
    expect(answer.json().error.message).to.equal(
      'request rejected by word-filter (before_request): request blocked by content policy: content is not inspectable text',
    );
    expect((await ends({})).answer.status).to.equal(200);
  });

  it('are served while it observes, which the log tells', async () => {
    const { answer, host } = await ends({ blocked_words: ['x'], observe: true });
    expect(answer.status).to.equal(200);
    expect(host.lines.find(({ msg }) => msg === 'guardrail observed')?.['reason']).to.equal(
      'request blocked by content policy: content is not inspectable text',
    );
  });

  it('are refused by the gateway where nothing of a body can be read: uploads', async () => {
    const upstream = await stubUpstream((_request, response) => replyJson(response, 200, { text: 'x' }));
    const host = await startHost({
      targets: [upstream.target('a', {}, { translators: commonTranslators(['chat', 'audio.transcriptions'], {}) })],
      plugins: [{ name: 'word-filter', stage: 'before_request', enabled: true, config: { blocked_words: ['x'] } }],
    });
    const form =
      '--b\r\nContent-Disposition: form-data; name="model"\r\n\r\nm\r\n--b\r\nContent-Disposition: form-data; name="file"; filename="a.wav"\r\n\r\nRIFF\r\n--b--\r\n';
    const answer = await host.post('/v1/audio/transcriptions', form, {
      'content-type': 'multipart/form-data; boundary=b',
    });
    expect([answer.status, answer.json().error.code]).to.deep.equal([400, 'request_rejected']);
    expect(answer.json().error.message).to.match(
      /rejected by gateway .*cannot be inspected.*does not forward such bodies/,
    );
  });
});
