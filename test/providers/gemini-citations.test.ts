import { expect } from 'chai';
import gemini from '../../providers/gemini/index.ts';
import { callFor, everyCut, golden, relayStream, sseBytes, translateReply } from '../kit/index.ts';

const call = callFor('gemini-2.5-flash');
const redirect = (letter: string): string =>
  `https://vertexaisearch.cloud.google.com/grounding-api-redirect/AUZIYQ-${letter}`;
const said = (text: string, more: object): object => ({
  candidates: [{ content: { parts: [{ text }] }, finishReason: 'STOP', ...more }],
});
const annotationsOf = (body: object): any[] =>
  (translateReply(gemini, call, body).choices[0]?.message['annotations'] ?? []) as any[];
const grounding = (
  groundingSupports: unknown,
  groundingChunks: unknown = [{ web: { uri: 'https://a.example', title: 'A' } }],
): object => ({ groundingMetadata: { groundingChunks, groundingSupports } });
const placesOf = (text: string, ...segments: object[]): unknown[] =>
  annotationsOf(said(text, grounding(segments.map((segment) => ({ segment, groundingChunkIndices: [0] }))))).map(
    ({ url_citation: { start_index: start, end_index: end } }) => [start, end, text.slice(start, end)],
  );

describe('gemini, sources', () => {
  const whole = translateReply(gemini, call, JSON.parse(golden('gemini/chat/grounded.json')));

  it('are annotations, each with the passage that it stands behind in the content', () => {
    const { content, annotations } = whole.choices[0]!.message as any;
    const cited = annotations.map(({ type, url_citation: { url, title, start_index: start, end_index: end } }: any) => [
      type,
      url,
      title,
      content.slice(start, end),
    ]);
    const [first, second] = ['Spanien gewann die EM 2024 – im Finale gegen England 🏆.', 'Es war der vierte Titel.'];
    expect(cited).to.deep.equal([
      ['url_citation', redirect('a'), 'uefa.com', first],
      ['url_citation', redirect('b'), 'aljazeera.com', first],
      ['url_citation', redirect('a'), 'uefa.com', second],
      ['url_citation', redirect('c'), redirect('c'), ''],
    ]);
    expect(annotations.at(-1).url_citation).to.include({ start_index: 0, end_index: 0 });
    expect(whole.usage).to.include({ prompt_tokens: 72, completion_tokens: 28, total_tokens: 100 });
  });

  it('of streams are the same, once the text is complete', () => {
    const bytes = Buffer.from(golden('gemini/chat/grounded.txt'));
    for (const cut of [...everyCut(bytes)].filter((_cut, at) => at % 8 === 0)) {
      const { reply, chunks, failure } = relayStream(gemini, call, cut);
      expect([failure, reply.choices, reply.usage]).to.deep.equal([undefined, whole.choices, whole.usage]);
      expect(chunks.filter(({ choices: [choice] }) => choice?.delta.annotations)).to.have.length(1);
    }
  });

  it('are sent once, also when they come before the end, twice, or after it', () => {
    const text = { candidates: [{ content: { parts: [{ text: 'Hello' }] } }] };
    const sources = {
      candidates: [grounding([{ segment: { endIndex: 5, text: 'Hello' }, groundingChunkIndices: [0] }])],
    };
    const stop = { candidates: [{ finishReason: 'STOP' }] };
    for (const frames of [
      [sources, text, stop],
      [text, sources, sources, stop],
      [text, stop, sources],
    ]) {
      const { reply, failure } = relayStream(gemini, call, [sseBytes(frames)]);
      expect(failure).to.equal(undefined);
      expect(reply.choices[0]).to.deep.equal({
        index: 0,
        finish_reason: 'stop',
        message: {
          role: 'assistant',
          content: 'Hello',
          annotations: [
            {
              type: 'url_citation',
              url_citation: { url: 'https://a.example', title: 'A', start_index: 0, end_index: 5 },
            },
          ],
        },
      });
    }
  });

  it('stand where the quoted text is, counted in bytes or found; 0 and 0 where it is not', () => {
    expect(
      placesOf(
        'é🙂 über',
        { startIndex: 7, endIndex: 12, text: 'über' },
        { endIndex: 6 },
        { startIndex: 0, endIndex: 3, text: 'über' },
        { startIndex: 90, endIndex: 99 },
        { text: 'nowhere' },
      ),
    ).to.deep.equal([
      [4, 8, 'über'],
      [0, 3, 'é🙂'],
      [0, 0, ''],
    ]);
    const parts = {
      candidates: [
        {
          content: { parts: [{ text: 'th', thought: true }, { text: 'né ' }, { text: 'been' }] },
          finishReason: 'STOP',
          ...grounding([{ segment: { partIndex: 2, endIndex: 4, text: 'been' }, groundingChunkIndices: [0] }]),
        },
      ],
    };
    expect(annotationsOf(parts)[0].url_citation).to.include({ start_index: 3, end_index: 7 });
  });

  it('are of every kind that has an address, recited ones too', () => {
    const chunks = [
      { maps: { uri: 'https://m.example', title: 'M' } },
      { retrievedContext: { uri: 'gs://b/x', title: 'R' } },
      { image: { sourceUri: 'https://i.example', title: 'I' } },
      { retrievedContext: { text: 'no address' } },
      null,
      7,
    ];
    const recited = {
      citationMetadata: {
        citationSources: [{ startIndex: 0, endIndex: 2, uri: 'https://c.example', license: 'mit' }, { endIndex: 2 }],
      },
    };
    expect(
      annotationsOf(said('ab', { ...grounding([], chunks), ...recited })).map(
        ({ url_citation: { url, title, end_index: end } }) => [url, title, end],
      ),
    ).to.deep.equal([
      ['https://c.example', 'https://c.example', 2],
      ['https://m.example', 'M', 0],
      ['gs://b/x', 'R', 0],
      ['https://i.example', 'I', 0],
    ]);
  });

  it('survive any shape, and are bounded', () => {
    for (const metadata of [
      null,
      7,
      {},
      { groundingChunks: 7, groundingSupports: 7 },
      {
        groundingChunks: [{ web: { uri: 7 } }],
        groundingSupports: [
          null,
          { segment: 7, groundingChunkIndices: 7 },
          { groundingChunkIndices: [null, 'x', -1, 0.5, 99, '__proto__'] },
        ],
      },
    ]) {
      expect(
        annotationsOf(said('a', { groundingMetadata: metadata, citationMetadata: metadata })),
        JSON.stringify(metadata),
      ).to.deep.equal([]);
    }
    const many = Array.from({ length: 5000 }, (_, at) => ({
      segment: { startIndex: at, endIndex: at + 1 },
      groundingChunkIndices: [0],
    }));
    expect(annotationsOf(said('x'.repeat(6000), grounding(many)))).to.have.length(1000);
  });
});
