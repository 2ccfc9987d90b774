import { expect } from 'chai';
import { eventually, forSuite, type SeenRequest } from '../kit/index.ts';
import { type Question, question, shapesOf, SURFACES_ASKED } from './questions.ts';
import { CLAUDE, GEMINI_MODEL, OPENAI_MODEL, RERANKER, type Vendors, withVendors } from './vendors.ts';

const MODELS = { openai: OPENAI_MODEL, anthropic: CLAUDE, gemini: GEMINI_MODEL, together: RERANKER } as const;
type Vendor = keyof typeof MODELS;

/** Surfaces that every vendor has; the others are those of the first. */
const CHATS: ReadonlySet<string> = new Set([
  'chat',
  'messages',
  'generate_content',
  'completions',
  'responses.translated',
]);

const vendorsOf = (surface: string): readonly Vendor[] =>
  surface === 'responses.translated'
    ? ['anthropic', 'gemini']
    : CHATS.has(surface)
      ? ['openai', 'anthropic', 'gemini']
      : [surface === 'rerank' ? 'together' : 'openai'];

const groups = (nameOf: (vendor: Vendor) => string): object => ({
  models: Object.entries(MODELS).map(([target, model]) => ({
    name: nameOf(target as Vendor),
    routes: [{ target, model }],
  })),
});

const GROUPED = (vendor: Vendor): string => `my-${vendor}`;
const TRANSLATING = { responses: { translate: 'auto' } } as const;

interface Shown {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly sent: readonly object[];
  /** What it was counted and billed as. */
  readonly figures: readonly object[];
}

/** Ids that are made for each answer. */
const plain = (text: string): string =>
  text
    .replace(/gw-[\da-f-]{36}/g, 'boundary')
    .replace(/"responseId":"\w+"/g, '"responseId":""')
    .replace(/\b(chatcmpl|cmpl|resp|msg|req|rs|fc|call|gen)[-_][\w-]{8,}/g, '$1_id');

/** What differs from request to request. */
const FLEETING = new Set([
  'date',
  'x-request-id',
  'traceparent',
  'host',
  'x-gateway-latency-ms',
  'server-timing',
  'x-forwarded-host',
  'request-id',
]);

const steady = (headers: Iterable<readonly [string, unknown]>): Readonly<Record<string, string>> =>
  Object.fromEntries(
    [...headers].filter(([name]) => !FLEETING.has(name)).map(([name, value]) => [name, plain(String(value))]),
  );

const sentOf = ({ method, url, headers, text }: SeenRequest): object => ({
  method,
  url,
  headers: steady(Object.entries(headers)),
  text: plain(text),
});

/** Figures that are there with groups alone. */
const OF_GROUPS = /^gateway_(?:group|cache)_/;

async function ask({ host, takeSeen }: Vendors, { method, path, headers, body }: Question): Promise<Shown> {
  takeSeen();
  const from = host.samples.length;
  const answer = await fetch(host.url + path, { method, headers, ...(body !== undefined && { body: body as string }) });
  const text = await answer.text();
  await eventually(() => host.samples.slice(from).some(({ name }) => name === 'gateway_requests_total'));
  return {
    status: answer.status,
    headers: steady(answer.headers),
    body: plain(text),
    sent: takeSeen().map(sentOf),
    figures: host.samples
      .slice(from)
      .filter(({ name }) => !OF_GROUPS.test(name) && !/seconds|_ms$/.test(name))
      .map(({ name, labels, value }) => ({ name, value, labels: { ...labels } })),
  };
}

describe('a group of one route', () => {
  const bare = forSuite(() => withVendors(TRANSLATING));
  const same = forSuite(() => withVendors({ ...TRANSLATING, ...groups((vendor) => MODELS[vendor]) }));
  const other = forSuite(() => withVendors({ ...TRANSLATING, ...groups(GROUPED) }));

  for (const surface of SURFACES_ASKED)
    for (const vendor of vendorsOf(surface))
      for (const isStream of shapesOf(surface)) {
        const model = MODELS[vendor];
        const { title } = question(surface, model, isStream);

        it(`answers and sends what its model does, by the name of the model: ${title}, ${vendor}`, async () => {
          const asked = question(surface, model, isStream);
          const expected = await ask(bare(), asked);
          expect(expected.status, expected.body).to.equal(200);
          expect(expected.sent).to.have.length(1);
          expect(expected.figures).to.not.be.empty;
          expect(await ask(same(), asked)).to.deep.equal(expected);
        });

        it(`differs by its name alone where it has another one: ${title}, ${vendor}`, async () => {
          const expected = await ask(bare(), question(surface, model, isStream));
          const found = await ask(other(), question(surface, GROUPED(vendor), isStream));
          if (surface === 'passthrough') {
            expect(found.status).to.equal(501);
            expect(found.body).to.contain('the model is served under another name there');
            expect(found.sent).to.deep.equal([]);
            return;
          }
          const { 'content-length': _length, ...headers } = found.headers;
          const { 'content-length': _other, ...expectedHeaders } = expected.headers;
          expect(found.sent).to.deep.equal(expected.sent);
          const figures = found.figures.map(
            (figure) => JSON.parse(JSON.stringify(figure).replaceAll(GROUPED(vendor), model)) as object,
          );
          expect({ ...found, headers, figures, body: found.body.replaceAll(GROUPED(vendor), model) }).to.deep.equal({
            ...expected,
            headers: expectedHeaders,
          });
        });
      }
});
