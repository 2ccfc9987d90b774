import { expect } from 'chai';
import { type Answer, MASTER_KEY, startHost, stubUpstream, type TestHost } from '../kit/index.ts';
import { everySurface } from '../surfaces/kit.ts';
import { entry } from './guardrail-kit.ts';

const WORD = 'zanzibar';
const MAIL = 'ann@example.org';
const BAD = `${WORD} ${MAIL}`;
const SRT = `1\n00:00:00,000 --> 00:00:01,000\nso said the ${WORD.slice(0, 3)}\n`;

interface Case {
  readonly path: string;
  readonly type: string;
  readonly answer: (said: string) => string;
  readonly request: FormData | ((said: string) => object);
}

function form(format: string): FormData {
  const body = new FormData();
  body.append('file', new Blob([Buffer.from('RIFF')]), 'talk.wav');
  body.append('model', 'm');
  body.append('response_format', format);
  return body;
}

const json = 'application/json';
const CASES: Readonly<Record<string, Case>> = {
  'a transcript': {
    path: 'audio/transcriptions',
    type: json,
    answer: (said) => JSON.stringify({ text: said }),
    request: form('json'),
  },
  'a translation in plain text': {
    path: 'audio/translations',
    type: 'text/plain',
    answer: (said) => said,
    request: form('text'),
  },
  subtitles: {
    path: 'audio/transcriptions',
    type: 'text/plain',
    answer: (said) => `${SRT}\n2\n00:00:01,000 --> 00:00:02,000\n${said}\n`,
    request: form('srt'),
  },
  'a segment of a detailed transcript': {
    path: 'audio/transcriptions',
    type: json,
    answer: (said) =>
      JSON.stringify({ task: 'transcribe', language: 'english', text: 'x', segments: [{ id: 0, text: said }] }),
    request: form('verbose_json'),
  },
  'the revised prompt of an image': {
    path: 'images/generations',
    type: json,
    answer: (said) => JSON.stringify({ created: 1, data: [{ url: `https://h/${WORD}.png`, revised_prompt: said }] }),
    request: () => ({ model: 'm', prompt: 'p' }),
  },
  'a document that comes back': {
    path: 'rerank',
    type: json,
    answer: (said) => JSON.stringify({ results: [{ index: 0, relevance_score: 1, document: { text: said } }] }),
    request: (said) => ({ model: 'm', query: 'q', documents: [said], return_documents: true }),
  },
};

async function answered(
  { path, type, answer, request }: Case,
  said: string,
  name: string,
  config: object,
): Promise<Answer & { readonly status: number }> {
  const upstream = await stubUpstream((_seen, response) => {
    response.writeHead(200, { 'content-type': type }).end(answer(said));
  });
  const host: TestHost = await startHost({
    targets: [upstream.target('a', {}, everySurface)],
    plugins: [entry(name, 'after_request', config)],
  });
  if (!(request instanceof FormData)) return host.post(`/v1/${path}`, request(said));
  const reply = await fetch(`${host.url}/v1/${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${MASTER_KEY}` },
    body: request,
  });
  const text = await reply.text();
  return { status: reply.status, headers: reply.headers, text, json: () => JSON.parse(text) } as Answer;
}

describe('a guardrail after the request reads', () => {
  const GUARDS = {
    'word-filter': { blocked_words: [WORD] },
    'regex-guard': { patterns: [`(?i)${WORD}\\b`] },
    'pii-redact': {},
  };
  for (const [what, each] of Object.entries(CASES)) {
    it(what, async () => {
      for (const [name, config] of Object.entries(GUARDS)) {
        const refused = await answered(each, BAD, name, config);
        expect([refused.status, refused.json().error.code], name).to.deep.equal([502, 'response_rejected']);
        expect(refused.text).to.not.include(MAIL);
        expect((await answered(each, 'nothing of the kind', name, config)).status, name).to.equal(200);
      }
    });
  }

  it('a sentence that goes on over two subtitles', async () => {
    const [first, second] = ['tanzania', 'sansibar'];
    const cues = {
      ...CASES['subtitles']!,
      answer: () => `WEBVTT\n\n00:00.000 --> 00:01.000\nin ${first}\n\n00:01.000 --> 00:02.000\n${second} lies\n`,
    };
    expect((await answered(cues, '', 'word-filter', { blocked_words: [`${first} ${second}`] })).status).to.equal(502);
    expect((await answered(cues, '', 'word-filter', { blocked_words: [`${second} ${first}`] })).status).to.equal(200);
  });

  it('not what names the work, nor where a picture is', async () => {
    const detailed = CASES['a segment of a detailed transcript']!;
    expect(
      (await answered(detailed, 'x', 'word-filter', { blocked_words: ['english', 'transcribe'] })).status,
    ).to.equal(200);
    const image = CASES['the revised prompt of an image']!;
    expect((await answered(image, 'x', 'word-filter', { blocked_words: [WORD] })).status).to.equal(200);
  });
});
