import { expect } from 'chai';
import perplexity from '../../providers/perplexity/index.ts';
import {
  answeredBy,
  callFor,
  everyCut,
  golden,
  refusedBy,
  relayStream,
  rootOf,
  sentBy,
  sseBytes,
  translateReply,
} from '../kit/index.ts';
import { CHAT, itForwardsChat, itServes } from './support.ts';

describe('perplexity', () => {
  itServes(perplexity, 'https://api.perplexity.ai', ['chat'], { passthrough: true, responses: true });
  itForwardsChat(perplexity);

  it('keeps a bare host bare, and any path as it is', async () => {
    for (const [address, root] of [
      ['http://h:1/', 'http://h:1'],
      ['http://h/v2', 'http://h/v2'],
    ] as const) {
      expect(await rootOf(perplexity, { PERPLEXITY_BASE_URL: address })).to.equal(root);
    }
  });

  it('hands what the search found on as metadata', async () => {
    const found = {
      citations: ['https://a.example'],
      search_results: [{ title: 't' }],
      images: [],
      related_questions: ['q'],
    };
    const reply = {
      id: 'x',
      choices: [{ index: 0, message: { role: 'assistant', content: 'c' }, finish_reason: 'stop' }],
    };
    const [choice] = reply.choices;
    const annotations = [
      {
        type: 'url_citation',
        url_citation: { start_index: 0, end_index: 0, url: 'https://a.example', title: 'https://a.example' },
      },
    ];
    expect(await answeredBy(perplexity, 'chat', CHAT, { ...reply, ...found, search_results: [] })).to.deep.equal({
      ...reply,
      choices: [{ ...choice, message: { ...choice?.message, annotations } }],
      provider_metadata: { ...found, search_results: [] },
    });
    expect(await answeredBy(perplexity, 'chat', CHAT, { ...reply, citations: null })).to.not.have.property(
      'provider_metadata',
    );
  });
});

describe('perplexity, sources', () => {
  const RESULTS = [
    { title: 'Tides', url: 'https://t.example' },
    { title: '', url: 'https://w.example' },
    { title: 'Unused', url: 'https://u.example' },
  ];
  const cite = (at: number, start: number, end: number): object => ({
    type: 'url_citation',
    url_citation: {
      start_index: start,
      end_index: end,
      url: RESULTS[at]?.url,
      title: RESULTS[at]?.title || RESULTS[at]?.url,
    },
  });
  const TEXT = 'High at six[2][1], low at noon[1].';
  const ANNOTATIONS = [cite(0, 14, 17), cite(1, 11, 14), cite(2, 0, 0)];
  const call = callFor('sonar');

  it('are annotations, at the place that cites each first', () => {
    const {
      choices: [choice],
      provider_metadata: metadata,
    } = translateReply(perplexity, call, {
      choices: [{ index: 0, message: { role: 'assistant', content: TEXT }, finish_reason: 'stop' }],
      search_results: RESULTS,
      citations: RESULTS.map(({ url }) => url),
    });
    expect(choice?.message).to.deep.equal({ role: 'assistant', content: TEXT, annotations: ANNOTATIONS });
    expect(metadata).to.have.all.keys('search_results', 'citations');
  });

  it('leave once, with the end of a stream, whose every chunk names them', () => {
    const chunk = (content: string, finish_reason: string | null, message: string): object => ({
      id: 'p',
      object: 'chat.completion.chunk',
      created: 1,
      model: 'sonar',
      search_results: RESULTS,
      citations: [],
      usage: { prompt_tokens: 3, completion_tokens: 9, total_tokens: 12 },
      choices: [
        {
          index: 0,
          delta: { role: 'assistant', content },
          message: { role: 'assistant', content: message },
          finish_reason,
        },
      ],
    });
    const bytes = sseBytes([
      chunk('High at six[2]', null, 'High at six[2]'),
      chunk('[1], low at noon[1].', 'stop', TEXT),
      { type: '', data: '[DONE]' },
    ]);
    for (const pieces of everyCut(bytes)) {
      const {
        chunks,
        reply: {
          choices: [choice],
        },
        failure,
      } = relayStream(perplexity, call, pieces);
      expect(failure).to.equal(undefined);
      expect([chunks.map(({ choices: [{ delta }] }) => delta.annotations), choice?.message]).to.deep.equal([
        [undefined, ANNOTATIONS],
        { role: 'assistant', content: TEXT, annotations: ANNOTATIONS },
      ]);
    }
  });

  it('are those of the golden answer, whole and streamed', () => {
    const annotations = [
      {
        type: 'url_citation',
        url_citation: { start_index: 0, end_index: 0, url: 'https://example.com/a', title: 'A' },
      },
    ];
    expect(
      translateReply(perplexity, call, JSON.parse(golden('perplexity/chat/reply.json'))).choices[0]?.message[
        'annotations'
      ],
    ).to.deep.equal(annotations);
    expect(
      relayStream(perplexity, call, [Buffer.from(golden('perplexity/chat/stream.txt'))]).reply.choices[0]?.message[
        'annotations'
      ],
    ).to.deep.equal(annotations);
  });

  it('may have any shape', () => {
    const odd = [
      { choices: 7, search_results: 7 },
      { choices: [null, { delta: 7 }, { index: 0, delta: { content: 7 }, finish_reason: null }] },
      {
        search_results: [null, 7, {}, { url: 8 }],
        choices: [{ index: 0, delta: { content: 'a' }, finish_reason: 'stop' }],
      },
    ];
    const { failure, reply } = relayStream(perplexity, call, [sseBytes([...odd, { type: '', data: '[DONE]' }])]);
    expect([failure, reply.choices[0]?.message]).to.deep.equal([undefined, { role: 'assistant', content: 'a' }]);
    expect(
      translateReply(perplexity, call, { choices: [{ message: { content: 'a' } }, 7], search_results: 'x' }).choices[0]
        ?.message,
    ).to.deep.equal({ role: 'assistant', content: 'a' });
  });
});

describe('perplexity, files', () => {
  it('are addresses or bare base64, with their names', async () => {
    const file = (fields: object): object => ({ type: 'file', file: fields });
    const content = [
      { type: 'text', text: 't' },
      file({ filename: 'a.pdf', file_data: 'data:application/pdf;base64,AAAA' }),
      file({ file_data: 'https://d.example/b.pdf' }),
    ];
    const { body } = await sentBy(perplexity, 'chat', { ...CHAT, messages: [{ role: 'user', content }] } as never);
    expect(body.messages[0].content).to.deep.equal([
      content[0],
      { type: 'file_url', file_url: { url: 'AAAA' }, file_name: 'a.pdf' },
      { type: 'file_url', file_url: { url: 'https://d.example/b.pdf' } },
    ]);
    const refusal = await refusedBy(perplexity, 'chat', {
      ...CHAT,
      messages: [{ role: 'user', content: [file({ file_id: 'f' })] }],
    } as never);
    expect(refusal).to.include({
      code: 'invalid_request',
      message: 'messages[0].content[0]: perplexity takes a file by its file_data only',
    });
  });
});
