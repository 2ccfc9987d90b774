import { expect } from 'chai';
import anthropic from '../../providers/anthropic/index.ts';
import { callFor, everyCut, relayStream, sseBytes, translateReply } from '../kit/index.ts';
import { fixture, MODEL } from './anthropic-support.ts';

const call = callFor(MODEL, { stream: true });
const whole = (content: readonly object[]): any =>
  translateReply(anthropic, callFor(MODEL), { content, stop_reason: 'end_turn' }).choices[0]?.message;
const web = (url: string, more: object = {}): object => ({
  type: 'web_search_result_location',
  url,
  title: 'Hours',
  cited_text: 'Open from six',
  encrypted_index: 'Eo8',
  ...more,
});

describe('Claude, citations', () => {
  it('are annotations of the text they stand for, whole and streamed, wherever the stream is cut', () => {
    const { choices } = translateReply(anthropic, callFor(MODEL), fixture('web-search.json'));
    const [{ message }] = choices as any;
    expect(
      message.annotations.map(({ type, url_citation: { url, title, start_index, end_index } }: any) => [
        type,
        url,
        title,
        message.content.slice(start_index, end_index),
      ]),
    ).to.deep.equal([
      ['url_citation', 'https://harbour.example/hours', 'Opening hours', 'It opens at six'],
      ['url_citation', 'https://tides.example/ostend', 'Tides at Ostend', 'low water is at four'],
      ['url_citation', 'https://harbour.example/notice', 'https://harbour.example/notice', 'low water is at four'],
    ]);
    for (const pieces of everyCut(Buffer.from(fixture('web-search.txt')))) {
      const { reply, failure } = relayStream(anthropic, call, pieces);
      expect(failure).to.equal(undefined);
      expect(reply.choices).to.deep.equal(choices);
    }
  });

  it('have the members of the common wire, and the words they quote', () => {
    expect(
      whole([
        { type: 'text', text: 'é🌊.' },
        { type: 'text', text: 'At six.', citations: [web('https://h/a')] },
      ]).annotations,
    ).to.deep.equal([
      {
        type: 'url_citation',
        url_citation: { url: 'https://h/a', title: 'Hours', start_index: 4, end_index: 11, content: 'Open from six' },
      },
    ]);
    const source = {
      type: 'search_result_location',
      source: 'https://h/b',
      title: null,
      cited_text: 'x',
      search_result_index: 0,
      start_block_index: 0,
      end_block_index: 1,
    };
    expect(whole([{ type: 'text', text: 'a', citations: [source] }]).annotations[0].url_citation).to.include({
      url: 'https://h/b',
      title: 'https://h/b',
    });
  });

  it('without an address have no place, and what is in disorder is left out', () => {
    for (const citations of [
      null,
      'x',
      [],
      [null, 7, {}],
      [web('')],
      [web('x', { url: 7 })],
      [{ type: 'char_location', document_index: 0, document_title: 'Log', cited_text: 'x' }],
    ]) {
      expect(whole([{ type: 'text', text: 'a', citations }])).to.deep.equal({ role: 'assistant', content: 'a' });
    }
    expect(
      whole([{ type: 'text', text: 'a', citations: [web('https://h/a', { title: 7, cited_text: 7 })] }]).annotations[0]
        .url_citation,
    ).to.deep.equal({ url: 'https://h/a', title: 'https://h/a', start_index: 0, end_index: 1 });
  });

  it('of a block that is never closed come with the end', () => {
    const { reply } = relayStream(anthropic, call, [
      sseBytes([
        { type: 'message_start', message: { usage: {} } },
        {
          type: 'content_block_start',
          index: 0,
          content_block: { type: 'text', text: '', citations: [web('https://h/first')] },
        },
        {
          type: 'content_block_delta',
          index: 0,
          delta: { type: 'citations_delta', citation: web('https://h/second') },
        },
        { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'Six.' } },
        { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: {} },
      ]),
    ]);
    expect(
      (reply.choices[0]!.message as any).annotations.map(({ url_citation: { url, end_index } }: any) => [
        url,
        end_index,
      ]),
    ).to.deep.equal([
      ['https://h/first', 4],
      ['https://h/second', 4],
    ]);
  });
});
